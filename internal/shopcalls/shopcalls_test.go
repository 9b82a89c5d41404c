package shopcalls_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/shopcalls"
)

func TestAnswerIDs(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string][]string{
		`{"product_ids":"0123456789"}`:                     {"0123456789"},
		`{"product_ids":"11, 22,33 44"}`:                   {"11", "22", "33", "44"},
		`{"product_ids":["11","22,33",44,null,["55"]]}`:    {"11", "22", "33", "44", "55"},
		`{"product_ids":"[\"0123456789\"]"}`:               {"0123456789"},
		`{"product_ids":"[\\\"0123456789\\\", '11']"}`:     {"0123456789", "11"},
		`{"product_ids":12345678901234567890}`:             {"12345678901234567890"},
		`{"product_id":"11"}`:                              {"11"},
		`{"product_id":"11","other":"7","product_ids":""}`: {"11"},
		`{"product_ids":null}`:                             nil,
		`{}`:                                               nil,
		`["11"]`:                                           nil,
		``:                                                 nil,
	} {
		if diff := cmp.Diff(want, shopcalls.AnswerIDs(arena.Call{Name: shopcalls.Answer, Arguments: arena.Raw(arguments)})); diff != "" {
			t.Errorf("%s: %s", arguments, diff)
		}
	}
	if ids := shopcalls.AnswerIDs(arena.Call{Name: "view_product_information", Arguments: `{"product_ids":"11"}`}); ids != nil {
		t.Errorf("another tool recommends %q", ids)
	}
}
