package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/pipeline/reports"
)

// theirFinding is a validator's finding on an attempt, as fetch stores it.
type theirFinding struct {
	Category  string   `json:"category"`
	Score     float64  `json:"score"`
	Reasoning *float64 `json:"reasoning_score,omitempty"`
}

// TestAgreementWithTheSubnetByCategory adds findings to the attempts of each run in the form in
// which fetch stores them: the local outcome, inverted for vouchers, and the local grade, higher by
// a tenth for shops. The card and arena agreement report these differences and no others.
func TestAgreementWithTheSubnetByCategory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	day := inDir("day")
	if err := os.CopyFS(day, os.DirFS(testDay)); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"score", "judge"} {
		if output, code := runOutput(command, day, "-q", "-o", inDir(command+".jsonl")); code != cli.ExitOK {
			t.Fatal(output)
		}
	}
	plantFindings(t, day, inDir("score.jsonl"), inDir("judge.jsonl"))
	if output, code := runOutput("build", day, "-q", "-o", inDir("out")); code != cli.ExitOK {
		t.Fatal(output)
	}
	var judgesReport reports.Judges
	text, err := os.ReadFile(inDir("out/reports/judges.json"))
	if err != nil || json.Unmarshal(text, &judgesReport) != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		"score, product": 0, "score, shop": 0, "score, voucher": 1,
		"reasoning_score, product": 0, "reasoning_score, shop": 0.1, "reasoning_score, voucher": 0,
		"multiplier, product": 0, "multiplier, voucher": 0,
	}
	check := func(source string, validators []agreement.Validator) {
		for _, v := range validators {
			isCovered := v.Coverage > 0 && v.Coverage <= 1
			if v.Attempts < 5 || v.Agents < 2 || !isCovered || v.Distance.CI95 == nil {
				t.Errorf("%s, %s: %d attempts of %d agents, coverage %v, %v", source, v.Figure, v.Attempts, v.Agents, v.Coverage, v.Distance.CI95)
			}
			name := v.Figure + ", " + v.Category
			d, known := want[name]
			isWrong := *v.Distance.Value == 0
			if known {
				isWrong = math.Abs(*v.Distance.Value-d) > 1e-9
			}
			if isWrong {
				t.Errorf("%s, %s: distance %v, want %v", source, name, *v.Distance.Value, d)
			}
		}
		if len(validators) != 9 {
			t.Errorf("%s has %d figures, want 9", source, len(validators))
		}
	}
	check("the card", judgesReport.Subnet)
	var validators []agreement.Validator
	for figure, file := range map[string]string{"score": "score", "reasoning_score": "judge", "multiplier": "judge"} {
		if output, code := runOutput("agreement", inDir(file+".jsonl"), "--day", day, "--against", figure, "--json", "-o", inDir(figure+".json")); code != cli.ExitOK {
			t.Fatal(output)
		}
		var r agreement.Report
		text, err := os.ReadFile(inDir(figure + ".json"))
		if err != nil || json.Unmarshal(text, &r) != nil {
			t.Fatal(err)
		}
		validators = append(validators, r.Validator...)
	}
	check("arena agreement", validators)
}

// plantFindings writes findings into the run.json files of a day.
func plantFindings(t *testing.T, day, scores, grades string) {
	t.Helper()
	category := map[string]string{}
	planted := map[string]map[string]*theirFinding{}
	lines(t, filepath.Join(day, "problems.jsonl"), func(p struct {
		ID       string `json:"problem_id"`
		Category string
	}) {
		category[p.ID] = strings.ToLower(p.Category)
	})
	lines(t, scores, func(l struct {
		Run     string `json:"eval_run_id"`
		Problem string `json:"problem_id"`
		Success bool
	}) {
		if planted[l.Run] == nil {
			planted[l.Run] = map[string]*theirFinding{}
		}
		planted[l.Run][l.Problem] = &theirFinding{Category: category[l.Problem]}
		if l.Success != (category[l.Problem] == "voucher") {
			planted[l.Run][l.Problem].Score = 1
		}
	})
	lines(t, grades, func(l struct {
		Run     string `json:"eval_run_id"`
		Problem string `json:"problem_id"`
		Score   *float64
	}) {
		if l.Score != nil && category[l.Problem] == "shop" {
			*l.Score += 0.1
		}
		planted[l.Run][l.Problem].Reasoning = l.Score
	})
	for run, finding := range planted {
		path := filepath.Join(day, "traces", "run="+run, "run.json")
		var meta map[string]any
		text, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(text, &meta) != nil {
			t.Fatal(err)
		}
		meta["problem_scores"] = finding
		if text, err = json.Marshal(meta); err != nil || os.WriteFile(path, text, 0o600) != nil {
			t.Fatal(err)
		}
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
