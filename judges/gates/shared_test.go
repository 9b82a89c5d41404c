package gates_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/judges/gates"
)

type label struct {
	Run     string `json:"eval_run_id"`
	Problem string `json:"problem_id"`
	Score   float64
	Kind    string
}

func TestAgreesWithSharedLabels(t *testing.T) {
	t.Parallel()
	dir := shared(t, "judge")
	if dir == "" {
		t.Skip("no labelled judge cases beside the repository")
	}
	labels := map[string]label{}
	for _, line := range lines(t, filepath.Join(dir, "labels.jsonl")) {
		var l label
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		labels[l.Run+"/"+l.Problem] = l
	}
	files, err := filepath.Glob(filepath.Join(dir, "traces", "run=*", "output.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	exact := 0
	var want, got []float64
	for _, file := range files {
		run := strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "run=")
		for _, line := range lines(t, file) {
			trace, d := attempt(t, line)
			l := labels[run+"/"+trace.ProblemID]
			j := gates.Judge(trace, d)
			want, got = append(want, l.Score), append(got, *j.Score)
			if *j.Score == l.Score {
				exact++
			} else {
				t.Logf("%s %s %s: want %v, got %v: %s\n%+v", run[30:], trace.ProblemID[:8], l.Kind, l.Score, *j.Score, j.Detail, j.Spans)
			}
		}
	}
	t.Logf("exact %d of %d", exact, len(want))
}
