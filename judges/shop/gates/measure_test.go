package gates_test

import (
	"testing"

	"github.com/trajectory-arena/arena/judges/shop/gates"
)

// TestMeasures checks that measures, calculations and names inside titles are compared with the results.
func TestMeasures(t *testing.T) {
	t.Parallel()
	for _, c := range readCases(t, "testdata/measures.txt", readGoods(t, "testdata/house.txt")) {
		if j := gates.Judge(c.trace, c.dialogue); *j.Score != c.score {
			t.Errorf("%s: %v, want %v: %s\n%s", c.name, *j.Score, c.score, j.Detail, thoughts(c))
		}
	}
}
