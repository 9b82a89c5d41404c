package comparison

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withProblems writes problems into a run's folder, so that each two in a row share a product.
func withProblems(t *testing.T, folder string, n, size int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"problem_id":"p%d","query":"","category":"Shop","reward":[{"product_id":"90%04d"}]}`+"\n", i, i/size)
	}
	if err := os.WriteFile(filepath.Join(folder, "problems.jsonl"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestGroupsAreOneEvidence checks that problems which share a product count once in interval, test
// and exact test. If all problems share one, the groups are unknown and each problem counts.
func TestGroupsAreOneEvidence(t *testing.T) {
	t.Parallel()
	a := make([]string, 60)
	b := make([]string, 60)
	for i := range a {
		a[i] = "0101"
		b[i] = "0101"
	}
	for _, i := range []int{0, 1, 2, 3} {
		b[i] = "1111"
	}
	for _, c := range []struct {
		size, groups int
		p            float64
	}{{1, 60, 0.125}, {2, 30, 0.5}, {60, 60, 0.125}} {
		one := withProblems(t, folderOf(t, "a", nil, a...), 60, c.size)
		two := withProblems(t, folderOf(t, "b", nil, b...), 60, c.size)
		list, err := Compare([]string{one, two}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := list[0]
		if math.Abs(got.P-c.p) > 1e-9 || got.CI95 == nil || got.CI95[0] > 0 || got.CI95[1] <= 0 || got.Differing != 4 {
			t.Errorf("groups of %d: p %v, interval %v, %d differ", c.size, got.P, got.CI95, got.Differing)
		}
		if named := strings.Contains(got.String(), "in 30 groups"); named != (c.groups < 60) {
			t.Errorf("groups of %d: %s", c.size, got)
		}
		if part := got.PassAt["pass@2"]; part == nil || part.Problems != 60 || part.BMean <= part.AMean {
			t.Errorf("pass@2 %+v", part)
		}
	}
}
