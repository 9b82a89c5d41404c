package gates_test

import (
	"testing"

	"github.com/trajectory-arena/arena/judges/gates"
)

func TestOwnCases(t *testing.T) {
	t.Parallel()
	cases := readCases(t, "testdata/cases.txt", readGoods(t, "testdata/world.txt"))
	exact := 0
	for _, c := range cases {
		j := gates.Judge(c.trace, c.dialogue)
		if *j.Score == c.score {
			exact++
			continue
		}
		t.Logf("%s (%s, %s): want %v, got %v: %s\n%+v", c.name, c.kind, c.language, c.score, *j.Score, j.Detail, j.Spans)
	}
	t.Logf("exact %d of %d", exact, len(cases))
}
