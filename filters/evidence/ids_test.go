package evidence_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/shopcalls"
)

// TestIDsAreReadAsEverywhere holds that the filter reads the same product ids from a recommendation
// as the guard and the judges, in every form of its arguments.
func TestIDsAreReadAsEverywhere(t *testing.T) {
	t.Parallel()
	for _, args := range []arena.Raw{
		`{"product_ids":"[\"0123456789\"]"}`, `{"product_id":"0123456789"}`, `{"product_ids":["0123456789","0123456780, 77"]}`,
		`{"product_ids":"11 22"}`, `{"product_ids":12}`, `{"product_ids":null}`, `{}`,
	} {
		want := shopcalls.AnswerIDs(arena.Call{Name: shopcalls.Answer, Arguments: args})
		if diff := cmp.Diff(want, evidence.ReadIDs(args), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
}
