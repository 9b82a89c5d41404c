package agreement

import (
	"strings"
	"testing"
)

func TestLinesOfStepsRateEachStep(t *testing.T) {
	t.Parallel()
	r, err := ReadRatings(strings.NewReader(`{"eval_run_id":"r","problem_id":"p","outcome":"scored","steps":[{"step":7,"verdict":"needed"},{"step":7,"verdict":"waste"},{"step":9,"verdict":"unclear"}]}
{"eval_run_id":"r","problem_id":"q","outcome":"unparsed","steps":null}
`), "steps", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[Key]float64{{"r", "p", 1}: 1, {"r", "p", 2}: 0, {"r", "p", 3}: 0.5} {
		if got := r.Scores[key]; got == nil || *got != want {
			t.Errorf("%v: %v, want %v", key, got, want)
		}
	}
	if score, ok := r.Scores[Key{Run: "r", Problem: "q"}]; !ok || score != nil || len(r.Scores) != 4 {
		t.Errorf("an attempt without verdicts: %v of %d", score, len(r.Scores))
	}
	for name, line := range map[string]string{
		"another verdict": `{"eval_run_id":"r","problem_id":"p","steps":[{"step":1,"verdict":"useless"}]}`,
		"no list":         `{"eval_run_id":"r","problem_id":"p","steps":{"1":"needed"}}`,
		"neither":         `{"eval_run_id":"r","problem_id":"p"}`,
		"twice":           `{"eval_run_id":"r","problem_id":"p","steps":[]}` + "\n" + `{"eval_run_id":"r","problem_id":"p","steps":[]}`,
	} {
		if _, err := ReadRatings(strings.NewReader(line), name, 1<<20); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
