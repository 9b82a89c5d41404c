package export_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/export"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// TestWeightsBalanceGroups checks a corpus of two owners, one with three attempts, with verdicts on the
// turns of two attempts, one of which has no needed turn.
func TestWeightsBalanceGroups(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	p, err := corpus.NewPart(corpus.Disk{}, filepath.Join(root, "part"), corpus.DefaultLimits)
	ok(t, err)
	sft := corpus.NewShards[rows.SFT](p, corpus.Stream{Config: "sft", Profile: corpus.ProfileHFJSON, Split: corpus.SplitTrain})
	steps := corpus.NewShards[rows.Steps](p, corpus.Stream{Config: "steps", Profile: corpus.ProfileStepwise, Split: corpus.SplitTrain})
	half := 0.5
	for i, owner := range []string{"a", "a", "a", "b"} {
		id := fmt.Sprint(i)
		row := rows.SFT{Metadata: "{}", Messages: []string{`{"role":"user","content":"q"}`, `{"role":"assistant","content":"x"}`, `{"role":"user","content":"and"}`, `{"role":"assistant","content":"y"}`},
			Scalars: rows.Scalars{SessionID: "run/" + id, NSteps: 2, AgentHotkey: owner}, Origin: rows.Origin{ProblemID: id, Cluster: id}}
		if i == 1 {
			row.JudgeMultiplier = &half
		}
		ok(t, sft.Add(&row))
	}
	ok(t, steps.Add(&rows.Steps{SessionID: "run/0", Completions: []string{"x"}, Labels: []bool{false}, Origin: rows.Origin{ProblemID: "0", Cluster: "0"}}))
	ok(t, steps.Add(&rows.Steps{SessionID: "run/2", Completions: []string{"x", "y"}, Labels: []bool{false, false}, Origin: rows.Origin{ProblemID: "2", Cluster: "2"}}))
	for _, closing := range []func() error{sft.Close, steps.Close, p.Close} {
		ok(t, closing())
	}
	source := filepath.Join(root, "corpus")
	out := filepath.Join(root, "out")
	ok(t, corpus.Assemble(t.Context(), corpus.Disk{}, source, corpus.Assembly{Parts: []string{filepath.Join(root, "part")}, Manifest: corpus.Manifest{Configuration: []byte("{}")}}))
	weighted, _, _ := export.ByName("sft_weighted")
	unearned, err := export.Run(t.Context(), corpus.Disk{}, source, out+"-unearned", []export.Profile{weighted}, &export.Options{}, 1)
	ok(t, err)
	if unearned[0].Effective != 3 { // weights 1, 1 and 3, limited by nothing: the grade has no part
		t.Errorf("grades that predict nothing: effective %v", unearned[0].Effective)
	}
	ok(t, os.MkdirAll(filepath.Join(source, "reports"), 0o750))
	ok(t, os.WriteFile(filepath.Join(source, "reports", "judges.json"), []byte(`{"predicts":{"earned":true}}`), 0o600))
	counts, err := export.Run(t.Context(), corpus.Disk{}, source, out, []export.Profile{weighted}, &export.Options{}, 1)
	ok(t, err)

	// a's factor is 4/(2*3), b's 4/(2*1); all have two turns, one a grade of a half.
	a := 2. / 3
	b := 2.
	scale := 4 / (a + a/2 + a + b)
	want := map[string]float64{"run/0": a * scale, "run/1": a / 2 * scale, "run/3": b * scale}
	trains := map[string][]bool{"run/0": {false, true}, "run/1": {true, true}, "run/3": {true, true}}
	got := readRows[rows.Weighted](t, filepath.Join(out, "data/sft_weighted/train-00000-of-00001.parquet"))
	if len(got) != 3 || counts[0].Dropped["no_turn_trains"] != 1 {
		t.Fatalf("%d rows, %+v", len(got), counts[0])
	}
	for _, r := range got {
		if math.Abs(r.Weight-want[r.SessionID]) > 1e-12 || !slices.Equal(r.Train, trains[r.SessionID]) {
			t.Errorf("%s: weight %v, want %v; train %v", r.SessionID, r.Weight, want[r.SessionID], r.Train)
		}
		for i, trains := range r.Train {
			want := int64(0)
			if trains {
				want = 1
			}
			if gjson.Get(r.Messages[2*i+1], "weight").Int() != want {
				t.Errorf("%s: turn %d is %s", r.SessionID, i, r.Messages[2*i+1])
			}
		}
	}
	sum := 0.
	squares := 0.
	for _, w := range []float64{a, a / 2, a, b} {
		sum, squares = sum+w, squares+w*w
	}
	if effective := sum * sum / squares; math.Abs(counts[0].Effective-effective) > 1e-9 {
		t.Errorf("effective %v, want %v", counts[0].Effective, effective)
	}
	card, err := corpus.ReadFile(corpus.Disk{}, filepath.Join(out, "README.md"), 1<<20)
	if err != nil || !strings.Contains(string(card), "effective sample size") || !strings.Contains(string(card), "WeightedRandomSampler") {
		t.Errorf("the card does not describe the weights of rows: %v", err)
	}
}
