package comparison

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/rollout"
)

// folderOf writes a finished run. Each problem's samples are letters: 1 solved, 0 not, x without an
// answer.
func folderOf(t *testing.T, name string, change func(*student.Spec), problems ...string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	spec := student.Spec{Schema: student.SpecSchema, Model: name, Samples: len(problems[0]), Problems: len(problems)}
	if change != nil {
		change(&spec)
	}
	var s evaluation.Summary
	var lines []byte
	for i, samples := range problems {
		for sample, letter := range samples {
			r := rollout.Result{ProblemID: fmt.Sprintf("p%d", i), Sample: sample, Category: "Shop", Score: json.RawMessage("null")}
			s.Samples++
			if letter != 'x' {
				s.Scored++
				won := letter == '1'
				r.Success = &won
			}
			b, _ := json.Marshal(r)
			lines = append(append(lines, b...), '\n')
		}
	}
	s.Coverage = float64(s.Scored) / float64(s.Samples)
	for file, v := range map[string]any{"spec.json": spec, "summary.json": &s} {
		b, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, file), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "results.jsonl"), lines, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func one(t *testing.T, o Options, folders ...string) Comparison {
	t.Helper()
	comparisons, err := Compare(folders, o)
	if err != nil {
		t.Fatal(err)
	}
	return comparisons[0]
}

// TestCompareIsPaired compares runs whose results are known problem by problem.
func TestCompareIsPaired(t *testing.T) {
	t.Parallel()
	a := folderOf(t, "a", nil, "11", "10", "00", "01", "00")
	b := folderOf(t, "b", nil, "11", "00", "11", "10", "00")
	got := one(t, Options{Contaminated: map[string]bool{"p2": true, "p4": true}}, a, b)
	// Rates of a: 1, .5, 0, .5, 0; of b: 1, 0, 1, .5, 0; differences 0, -.5, 1, 0, 0.
	se := math.Sqrt((0.01 + 0.36 + 0.81 + 0.01 + 0.01) / 20)
	want := fmt.Sprintf("%.9f %.9f %.9f %.9f 5 2 [{p2 Shop 0 1}] [{p1 Shop 0.5 0}]", 0.4, 0.5, 0.1, se)
	have := fmt.Sprintf("%.9f %.9f %.9f %.9f %d %d %v %v", got.AMean, got.BMean, got.Difference, *got.SEClustered, got.Problems, got.Differing, got.Won, got.Lost)
	if have != want || got.McNemar != nil || math.Abs(got.P-0.704) > 0.001 { // t = .1/.2449 on 4 degrees
		t.Errorf("%s, p %v, McNemar %v; want %s", have, got.P, got.McNemar, want)
	}
	clean := got.ByContamination["clean"]
	dirty := got.ByContamination["contaminated"]
	if clean.Problems != 3 || math.Abs(clean.Difference+0.5/3) > 1e-12 || dirty.Problems != 2 || dirty.Difference != 0.5 {
		t.Errorf("clean %+v, contaminated %+v", clean, dirty)
	}
	if words := got.String(); !strings.HasPrefix(words, b+" against "+a+": difference +0.1000 on 5 problems (95 %: -0.5") || !strings.Contains(words, "category Shop: "+a+" 0.4000, "+b+" 0.5000") {
		t.Error(words)
	}
	if half := one(t, Options{Margin: 0.9}, a, b).Equivalence; !half.Shown || *half.P > 0.05 {
		t.Errorf("%+v", half)
	}
}

// TestADeadServerIsNoWorseModel compares a student with itself after its server stopped half-way:
// the comparison is refused by its coverage, and where that is allowed there is no difference.
func TestADeadServerIsNoWorseModel(t *testing.T) {
	t.Parallel()
	full := folderOf(t, "base", nil, "11", "10", "00", "01")
	half := folderOf(t, "half", nil, "11", "10", "0x", "xx")
	_, err := Compare([]string{full, half}, Options{MinCoverage: 0.98})
	if !errors.Is(err, ErrCoverage) || !strings.Contains(err.Error(), half+": too little was scored: 5 of 8 rollouts, coverage 0.6250 is below 0.9800") {
		t.Error(err)
	}
	c := one(t, Options{}, full, half)
	if c.Problems != 3 || c.Difference != 0 || c.P != 1 || c.CI95 != nil || c.MDE80 != nil || c.BCoverage != 0.625 {
		t.Errorf("%+v", c)
	}
	if words := c.String(); !strings.HasPrefix(words, half+" against "+full+": no problem of 3 differs\n") || !strings.Contains(words, full+" 0.5000 (coverage 1.0000), "+half+" 0.5000 (coverage 0.6250)") {
		t.Error(words)
	}
}

// TestOneSampleHasMcNemar checks McNemar's test and the test that all comparisons have, whose
// p-value is never below that of as many coins.
func TestOneSampleHasMcNemar(t *testing.T) {
	t.Parallel()
	c := one(t, Options{}, folderOf(t, "a", nil, "0", "0", "0", "0"), folderOf(t, "b", nil, "1", "1", "1", "1"))
	if c.McNemar == nil || c.McNemar.B != 0 || c.McNemar.C != 4 || math.Abs(c.McNemar.P-0.125) > 1e-12 || math.Abs(c.P-0.125) > 1e-12 || c.CI95 != nil {
		t.Errorf("%+v", c)
	}
}

func TestOtherSettingsAreNamed(t *testing.T) {
	t.Parallel()
	hot := 1.2
	a := folderOf(t, "a", nil, "11", "10")
	for field, change := range map[string]func(*student.Spec){
		"sampling": func(s *student.Spec) { s.Sampling.Temperature = &hot }, "dialect": func(s *student.Spec) { s.Dialect = "oro" },
		"samples": func(s *student.Spec) { s.Samples = 8 }, "harness_sha256": func(s *student.Spec) { s.HarnessSHA256 = "x" },
	} {
		b := folderOf(t, "b", change, "01", "11")
		if _, err := Compare([]string{a, b}, Options{}); !errors.Is(err, ErrIncomparable) || !strings.Contains(err.Error(), field+": ") {
			t.Errorf("%s: %v", field, err)
		}
		if c := one(t, Options{Anyway: true}, a, b); len(c.Differs) != 1 || !strings.Contains(c.String(), "differs: "+field) {
			t.Errorf("%s: %v", field, c.Differs)
		}
	}
	b := folderOf(t, "b", func(s *student.Spec) { s.Seed = 7 }, "01", "11")
	servers := `{"servers":[{"endpoint":"x","sampling_defaults":"{'temperature': 0.6}"}],"cost":{"total":{"gpu_usd":2}}}`
	if err := os.WriteFile(filepath.Join(b, "telemetry.json"), []byte(servers), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Compare([]string{a, b}, Options{}); err == nil || !strings.Contains(err.Error(), "server_defaults: unknown, {'temperature': 0.6}") {
		t.Error(err)
	}
	c := one(t, Options{Anyway: true}, a, b)
	var table strings.Builder
	if err := WriteSeries(&table, []Comparison{c}); err != nil || strings.Count(table.String(), "\n") != 3 || !strings.Contains(table.String(), "2.0000 USD") {
		t.Errorf("%v\n%s", err, table.String())
	}
}
