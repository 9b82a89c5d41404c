package evidence_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

func TestListing(t *testing.T) {
	t.Parallel()
	two := [2][]string{{"101", "102"}, {"Red mug", "Cup: blue"}}
	compact := `[{"product_id":"101","title":"Red mug","price":4.5,"sold_count":70},{"product_id":"102","title":"Cup: blue","price":6,"sold_count":8}]`
	for name, c := range map[string]struct {
		result string
		want   [2][]string
	}{
		"compact":            {compact, two},
		"passed on as text":  {strconv.Quote(compact), two},
		"other order":        {`[{"sold_count": 70, "title": "Red mug", "price": 4.5, "product_id": 101}, {"title": "Cup: blue", "sold_count": 8, "product_id": 102, "price": 6}]`, two},
		"blanks":             {"{\n\"products\" : [{\"price\" :\t4.5, \"title\"\n: \"Red mug\", \"product_id\" : \"101\", \"sold_count\" : 70}, {\"product_id\": \"102\", \"title\": \"Cup: blue\", \"price\": 6, \"sold_count\": 8}]}", two},
		"keys inside values": {`{"product_id": "7", "title": "All in its title", "note": "half price", "about": "\"product_id\": 9", "price": 2}`, [2][]string{{"7"}, {"All in its title"}}},
		"more titles":        {`{"title": "Results", "products": [{"product_id": 1, "title": "One"}]}`, [2][]string{{"1"}, {"Results"}}},
		"cut":                {`[{"product_id":"101","title":"Red`, [2][]string{{"101"}, {""}}},
		"no id":              {`[{"product_id": "", "title": "None"}, {"product_id": "5", "title": "Five"}]`, [2][]string{{"5"}, {"None"}}},
		"nothing":            {`{"error": "no results"}`, [2][]string{{}, {}}},
	} {
		got := evidence.ReadListing(arena.Raw(c.result))
		for i := range got {
			if len(got[i]) == 0 {
				got[i] = []string{}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
