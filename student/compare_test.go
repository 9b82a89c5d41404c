package student

import (
	"errors"
	"fmt"
	"math"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/script"
)

// TestCompareIsPaired compares runs whose results are known problem by
// problem.
func TestCompareIsPaired(t *testing.T) {
	t.Parallel()
	plans := behaviours()
	solved := map[string]map[int64]string{ // problem, seed, whether solved in run a and b
		"one": {0: "ab", 1: "ab"}, "two": {0: "a", 1: ""}, "three": {0: "b", 1: "b"}, "four": {0: "b", 1: "a"}, "five": {0: "", 1: ""},
	}
	c, p := openShop(t), problemFile(t, []string{"one", "two", "three", "four", "five"})
	folders := map[string]string{}
	for _, name := range []string{"a", "b"} {
		web := httptest.NewServer(&script.Server{Dialect: "native", Plan: func(q string, seed int64) script.Plan {
			if strings.Contains(solved[q][seed], name) {
				return plans["solve"].plan
			}
			return plans["wrong"].plan
		}})
		defer web.Close()
		folders[name] = filepath.Join(t.TempDir(), name)
		if _, err := newRun(t, c, p, web.URL, 2, folders[name]).Play(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Compare(folders["a"], []string{folders["b"]}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := all[0]
	// Rates of a: 1, .5, 0, .5, 0; of b: 1, 0, 1, .5, 0; differences 0, -.5, 1, 0, 0.
	se := math.Sqrt((0.01 + 0.36 + 0.81 + 0.01 + 0.01) / 20)
	want := fmt.Sprintf("%.9f %.9f %.9f %.9f 1 2 %.9f %.9f", 0.4, 0.5, 0.1, se, 1.0, (1.959963984540054+0.8416212335729142)*se)
	have := fmt.Sprintf("%.9f %.9f %.9f %.9f %d %d %.9f %.9f", got.AMean, got.BMean, got.Difference, *got.SEClustered, got.McNemar.B, got.McNemar.C, got.McNemar.P, *got.MDE80)
	if have != want || got.Problems != 5 {
		t.Errorf("%s, want %s", have, want)
	}
	all, err = Compare(folders["a"], []string{folders["b"]}, false, map[string]bool{"p-three": true, "p-five": true})
	if err != nil {
		t.Fatal(err)
	}
	clean, dirty := all[0].ByContamination["clean"], all[0].ByContamination["contaminated"]
	if clean.Problems != 3 || math.Abs(clean.Difference+0.5/3) > 1e-12 || dirty.Problems != 2 || dirty.Difference != 0.5 || dirty.McNemar.C != 1 || all[0].Difference != got.Difference {
		t.Errorf("clean %+v, contaminated %+v", clean, dirty)
	}
	var flaky []string
	err = EachProblem(folders["a"], func(p *ProblemResult) error {
		if p.Flaky {
			flaky = append(flaky, fmt.Sprintf("%s %d %d %v", p.ProblemID, p.Successes, p.Samples, p.Rate))
		}
		return nil
	})
	if err != nil || fmt.Sprint(flaky) != "[p-two 1 2 0.5 p-four 1 2 0.5]" {
		t.Errorf("flaky %v, %v", flaky, err)
	}
	one := newRun(t, c, problemFile(t, []string{"one"}), "http://127.0.0.1:1", 2, folders["b"])
	one.Folder = filepath.Join(t.TempDir(), "c")
	one.Environment.MaxSteps = 1
	if _, err = one.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = Compare(folders["a"], []string{one.Folder}, false, nil)
	if !errors.Is(err, ErrIncomparable) || !strings.Contains(err.Error(), "problems") {
		t.Errorf("other problems: %v", err)
	}
	if all, err = Compare(folders["a"], []string{one.Folder}, true, nil); err != nil || all[0].Problems != 1 || all[0].SEClustered != nil {
		t.Errorf("compared anyway: %+v, %v", all, err)
	}
}
