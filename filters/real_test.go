package filters_test

import (
	"path/filepath"
	"testing"

	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestRealTraces checks that public traces of other authors are converted into the normal form
// without a fault, with a JSON object as the arguments of every call.
func TestRealTraces(t *testing.T) {
	t.Parallel()
	root := longtest.Shared(t, "data/real")
	f := newFilter(t)
	for _, dir := range []string{"atif", "tau-bench", "oro-sft", "oro-episode"} {
		attempts := readTraces(t, filepath.Join(root, dir))
		if len(attempts) == 0 {
			t.Errorf("%s: nothing was read", dir)
		}
		for _, tr := range attempts {
			d := filters.Normalise(tr)
			if len(d.Faults) > 0 {
				t.Errorf("%s %s: faults %v", dir, tr.ID, d.Faults)
			}
			seen := map[string]bool{}
			for _, turn := range d.Turns {
				for _, c := range turn.Calls {
					if seen[c.ID] || c.Name == "" || c.Arguments == "" || c.Arguments[0] != '{' {
						t.Errorf("%s %s: call %+v", dir, tr.ID, c)
					}
					seen[c.ID] = true
				}
			}
			if s, _ := f.Check(tr, &d); s.Keep {
				t.Errorf("%s %s: kept without a recommendation of the shop", dir, tr.ID)
			}
		}
	}
}
