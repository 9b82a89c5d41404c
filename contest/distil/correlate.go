package distil

import (
	"errors"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/jsonl"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Correlation is the rank correlation between the models' KL and their scores on a benchmark.
type Correlation struct {
	Benchmark string `json:"benchmark"`
	// Spearman is -1 if every model with a lower KL has a higher score.
	Spearman contest.Figure `json:"spearman"`
}

// Score is the result of one model on one benchmark.
type Score struct {
	Model     string  `json:"model"`
	Benchmark string  `json:"benchmark"`
	Score     float64 `json:"score"`
}

// ReadScores reads benchmark results, one JSON object per line.
func ReadScores(path string) ([]Score, error) {
	var scores []Score
	err := jsonl.Each(path, func(s Score) error {
		if s.Model == "" || s.Benchmark == "" {
			return errors.New("a result is {model, benchmark, score}")
		}
		scores = append(scores, s)
		return nil
	})
	return scores, err
}

// Correlate computes the rank correlation between the models' KL in the rounds and their scores,
// for each benchmark. KLs on different prompts are not comparable. A model's KL is therefore
// divided by the king's on the same prompts, and averaged over the rounds.
func Correlate(rounds []*Round, scores []Score) []Correlation {
	kls := relativeKLs(rounds)
	byBenchmark := map[string][]Score{}
	for _, s := range scores {
		if _, ok := kls[s.Model]; ok {
			byBenchmark[s.Benchmark] = append(byBenchmark[s.Benchmark], s)
		}
	}
	var correlations []Correlation
	for _, name := range slicesx.SortedKeys(byBenchmark) {
		var x, y []float64
		for _, s := range byBenchmark[name] {
			x = append(x, stats.Mean(kls[s.Model]))
			y = append(y, s.Score)
		}
		rho, interval := stats.Spearman(x, y)
		correlations = append(correlations, Correlation{name, contest.NewFigure(rho, interval, len(x))})
	}
	return correlations
}

// relativeKLs returns, for each model, its mean KL from the teacher model divided by that of the
// king (the model to beat), once for each round in which the model is not excluded. Rounds whose
// king has no positive KL are left out.
func relativeKLs(rounds []*Round) map[string][]float64 {
	kls := map[string][]float64{}
	for _, r := range rounds {
		if len(r.Eval.Students) == 0 {
			continue
		}
		king := r.king()
		excluded := r.Eval.exclusions(r.Eval.suspects(r.ID))
		for i := range r.Eval.Students {
			if s := &r.Eval.Students[i]; excluded[s.Model] == "" && king.Mean() > 0 {
				kls[s.Model] = append(kls[s.Model], s.Mean()/king.Mean())
			}
		}
	}
	return kls
}
