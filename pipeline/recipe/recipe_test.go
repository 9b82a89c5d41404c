package recipe

import (
	"fmt"
	"slices"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// side makes a source of n rows with different texts.
func side(name string, n int) *source {
	s := &source{count: Count{Source: name, Dropped: map[string]int64{}}}
	for i := range n {
		written := minhash.Sign(fmt.Sprintf("%[1]s %[2]d was found in %[1]s shop %[3]d for %[1]s %[4]d pesos", name, i*7919, i*104729, i*1299709))
		completion := written.Pack()
		s.picks = append(s.picks, pick{Row: choose.Row{Key: fmt.Sprint(name, i), Request: fmt.Sprint(i % 5), Completion: &completion}, task: "product", wanted: i%2 == 0})
	}
	return s
}

// TestSharesAreCut checks for several sizes that each side has its share, that no row is repeated,
// and that every dropped row is counted.
func TestSharesAreCut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rollouts, corpus int
		share            float64
		self, others     int64
	}{
		{10, 30, 0.5, 10, 10}, {30, 10, 0.5, 10, 10}, {10, 10, 0.5, 10, 10}, {9, 100, 0.25, 9, 3}, {100, 3, 0.25, 9, 3}, {5, 0, 0.5, 0, 0},
	} {
		w := &work{recipe: Recipe{Profile: corpus.ProfileHFJSON, CorpusShare: tt.share, VoucherTimes: 1}, sources: []*source{side(sourceRollouts, tt.rollouts), side(sourceCorpus, tt.corpus)}}
		w.decide()
		for i, want := range []int64{tt.self, tt.others} {
			c := w.sources[i].count
			if c.Taken != want || c.Rows != want || c.Taken+c.Dropped[reasonShare] != c.In {
				t.Errorf("%+v: %+v, want %d taken", tt, c, want)
			}
		}
	}
}

func TestCopiesOfRolloutsAreNoRowsOfTheCorpus(t *testing.T) {
	t.Parallel()
	w := &work{recipe: Recipe{CorpusShare: 0.5, VoucherTimes: 1}, sources: []*source{side(sourceRollouts, 4), side(sourceCorpus, 4)}}
	pick := &w.sources[1].picks[0]
	elsewhere := &w.sources[1].picks[1]
	pick.Completion = w.sources[0].picks[0].Completion
	elsewhere.Completion = w.sources[0].picks[0].Completion // at another problem: no copy
	w.decide()
	if c := w.sources[1].count; c.Dropped[choose.ReasonNear] != 1 || c.Taken != 3 {
		t.Errorf("%+v", c)
	}
}

func TestVoucherRowsAreWrittenOften(t *testing.T) {
	t.Parallel()
	s := side(sourceRollouts, 3)
	s.picks[1].task = "voucher"
	w := &work{recipe: Recipe{VoucherTimes: 3}, sources: []*source{s}}
	w.decide()
	if s.count.Taken != 3 || s.count.Rows != 5 || s.picks[1].times != 3 || s.picks[0].times != 1 {
		t.Errorf("%+v", s.count)
	}
}

func TestKTOKeepsProblemsWithBothLabels(t *testing.T) {
	t.Parallel()
	s := side(sourceRollouts, 8) // problems 3 and 4 have one row each
	w := &work{recipe: Recipe{Profile: corpus.ProfileKTO, VoucherTimes: 1}, sources: []*source{s}}
	w.decide()
	if s.count.Taken != 6 || s.count.Dropped[reasonOneSided] != 2 {
		t.Errorf("%+v", s.count)
	}
}

func TestProblemsAreThoseOfTheirSource(t *testing.T) {
	t.Parallel()
	row := rows.RL{TaskType: "product", Prompt: []rows.Msg{{Role: "system", Content: "s"}, {Role: "user", Content: "a <lamp>"}}, Origin: rows.Origin{ProblemID: "p"}}
	for task, want := range map[string]string{
		"product": `{"category":"Product","problem_id":"p","query":"a \u003clamp\u003e","reward":{"product_id":"1"}}`,
		"voucher": `{"category":"Product","problem_id":"p","query":"a \u003clamp\u003e","reward":[{"product_id":"1"}]}`,
	} {
		row.TaskType = task
		row.RewardModel.Truth = `{"category":"Product","reward":[{"product_id":"1"}]}`
		if got, err := encodeProblem(&row); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", task, got, err)
		}
	}
	row.RewardModel.Truth = "{"
	if _, err := encodeProblem(&row); err == nil {
		t.Error("a broken specification was read")
	}
}

// TestRecipesAreBuildable checks that every recipe configures a valid build whose rewards are
// outcomes.
func TestRecipesAreBuildable(t *testing.T) {
	t.Parallel()
	var names []string
	for _, r := range All() {
		c := pipeline.Defaults()
		r.Configure(&c)
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
		if m := c.Multiplier.Multiplier(0.1); m != 1 {
			t.Errorf("%s: a low grade weighs %v", r.Name, m)
		}
		names = append(names, r.Name)
	}
	if want := []string{"sft", "rft", "teacher", "kto", "pref", "steps", "rewrite"}; !slices.Equal(names, want) {
		t.Errorf("recipes %v, want %v", names, want)
	}
	if _, err := Named("dpo"); err == nil {
		t.Error("an unknown recipe has a name")
	}
}
