package distil

import (
	"errors"
	"maps"
	"slices"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/jsonl"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Correlation is how KL and a benchmark rank the same models.
type Correlation struct {
	Benchmark string `json:"benchmark"`
	// Spearman is -1 where every model of lower KL scores higher.
	Spearman contest.Figure `json:"spearman"`
}

// Score is one model's result on one benchmark.
type Score struct {
	Model     string  `json:"model"`
	Benchmark string  `json:"benchmark"`
	Score     float64 `json:"score"`
}

// ReadScores reads results, one JSON object a line.
func ReadScores(path string) (all []Score, err error) {
	err = jsonl.Each(path, func(s Score) error {
		if s.Model == "" || s.Benchmark == "" {
			return errors.New("a result is {model, benchmark, score}")
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

// Correlate ranks the models of rounds by KL and by each benchmark. KLs of
// different prompts cannot be compared, so a model's KL is its share of the
// king's on the same prompts, the mean over its rounds.
func Correlate(rounds []*Round, scores []Score) (all []Correlation) {
	kls, by := relativeKLs(rounds), map[string][]Score{}
	for _, s := range scores {
		if _, ok := kls[s.Model]; ok {
			by[s.Benchmark] = append(by[s.Benchmark], s)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		var x, y []float64
		for _, s := range by[name] {
			x, y = append(x, stats.Mean(kls[s.Model])), append(y, s.Score)
		}
		rho, i := stats.Spearman(x, y)
		all = append(all, Correlation{name, contest.FigureOf(rho, i, len(x))})
	}
	return all
}

func relativeKLs(rounds []*Round) map[string][]float64 {
	kls := map[string][]float64{}
	for _, r := range rounds {
		if len(r.Eval.Students) == 0 {
			continue
		}
		king, out := r.king(), r.Eval.out(r.Eval.suspects(r.ID))
		for i := range r.Eval.Students {
			if s := &r.Eval.Students[i]; out[s.Model] == "" && king.Mean() > 0 {
				kls[s.Model] = append(kls[s.Model], s.Mean()/king.Mean())
			}
		}
	}
	return kls
}
