package main

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/pipeline/reports"
)

// TestOutcomesAgainstTheSubnetByCategory gives each run the scores of its attempts as
// fetch keeps them, those of vouchers turned round: the report finds these, and no other.
func TestOutcomesAgainstTheSubnetByCategory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	day, out := filepath.Join(dir, "day"), filepath.Join(dir, "out")
	if err := os.CopyFS(day, os.DirFS(testDay)); err != nil {
		t.Fatal(err)
	}
	category, scores := map[string]string{}, map[string]map[string]float64{}
	lines(t, filepath.Join(day, "problems.jsonl"), func(p struct {
		ID       string `json:"problem_id"`
		Category string
	}) {
		category[p.ID] = strings.ToLower(p.Category)
	})
	if said, code := says("score", day, "-q", "-o", filepath.Join(dir, "scores.jsonl")); code != cli.ExitOK {
		t.Fatal(said)
	}
	lines(t, filepath.Join(dir, "scores.jsonl"), func(s struct {
		Run     string `json:"eval_run_id"`
		Problem string `json:"problem_id"`
		Success bool
	}) {
		if scores[s.Run] == nil {
			scores[s.Run] = map[string]float64{}
		}
		if s.Success != (category[s.Problem] == "voucher") {
			scores[s.Run][s.Problem] = 1
		} else {
			scores[s.Run][s.Problem] = 0
		}
	})
	for run, of := range scores {
		path := filepath.Join(day, "traces", "run="+run, "run.json")
		var meta map[string]any
		text, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(text, &meta) != nil {
			t.Fatal(err)
		}
		meta["problem_scores"] = of
		if text, err = json.Marshal(meta); err != nil || os.WriteFile(path, text, 0o600) != nil {
			t.Fatal(err)
		}
	}
	if said, code := says("build", day, "-q", "-o", out); code != cli.ExitOK {
		t.Fatal(said)
	}
	var told reports.Judges
	text, err := os.ReadFile(filepath.Join(out, "reports", "judges.json"))
	if err != nil || json.Unmarshal(text, &told) != nil {
		t.Fatal(err)
	}
	distances := map[string]float64{}
	for _, v := range told.Subnet {
		if v.Attempts < 20 || v.Agents < 2 {
			t.Errorf("%s: %d attempts of %d agents", v.Figure, v.Attempts, v.Agents)
		}
		distances[v.Figure] = math.Round(*v.Distance.Value*1e9) / 1e9
	}
	if want := map[string]float64{"score, product": 0, "score, shop": 0, "score, voucher": 1}; !maps.Equal(distances, want) {
		t.Errorf("distances %v", distances)
	}
}

// lines visits the JSON lines of a file.
func lines[T any](t *testing.T, path string, visit func(T)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		visit(v)
	}
}
