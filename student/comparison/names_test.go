package comparison

import (
	"slices"
	"testing"
)

func TestRunsAreToldApartByTheirPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ folders, names []string }{
		{[]string{"base", "tuned/"}, []string{"base", "tuned"}},
		{[]string{"monday/run", "tuesday/run", "other"}, []string{"monday/run", "tuesday/run", "other"}},
		{[]string{"/a/x/run", "/b/x/run", "c/y/run"}, []string{"a/x/run", "b/x/run", "y/run"}},
		{[]string{"run", "x/run", "/x/run"}, []string{"run", "x/run", "/x/run"}},
		{[]string{"run", "./run"}, []string{"run", "run"}},
		{[]string{"../run", "../../run"}, []string{"../run", "../../run"}},
	} {
		if got := apart(c.folders); !slices.Equal(got, c.names) {
			t.Errorf("%q: %q, want %q", c.folders, got, c.names)
		}
	}
}
