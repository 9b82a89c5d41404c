package reports

import (
	"fmt"

	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// minOutcome is the minimum number of solved and of failed attempts from which the prediction of
// the grade is measured.
const minOutcome = 10

// Prediction is what the grades of a build say of the outcomes of its own attempts, those that are
// no rows included.
type Prediction struct {
	// Attempts counts those with a grade and a score, Solved the successes among them.
	Attempts int `json:"attempts"`
	Solved   int `json:"solved"`
	// AUC is the probability that a solved attempt has the higher grade of the two, with its 95 %
	// interval by problem; nil if the judge saw too few of either outcome.
	AUC  *float64    `json:"auc"`
	CI95 *[2]float64 `json:"ci95"`
	// Earned reports whether the interval is above one half. Only then do the weights of rows of
	// profile sft_weighted use the grade.
	Earned bool `json:"earned"`
}

// addGraded adds an attempt with a grade and a score to the sample.
func (a *Adder) addGraded(x *block.Entry) {
	if x.Score != nil && x.Outcome.Scored() {
		a.graded = append(a.graded, stats.Graded{Cluster: x.ProblemID, Grade: *x.Score, Solved: x.Outcome.Success})
	}
}

func newPrediction(graded []stats.Graded) Prediction {
	p := Prediction{Attempts: len(graded)}
	for _, g := range graded {
		if g.Solved {
			p.Solved++
		}
	}
	if min(p.Solved, p.Attempts-p.Solved) < minOutcome {
		return p
	}
	auc, ci := stats.AUC(graded)
	p.AUC = stats.FiniteOrNil(auc)
	p.CI95 = &[2]float64{ci.Low, ci.High}
	p.Earned = ci.Low > 0.5
	return p
}

func (p *Prediction) text() string {
	if p.AUC == nil {
		return fmt.Sprintf("\nWhat the grade says of the outcome is not measured: of %d attempts with both, %d are solved, and at least %d of either outcome are needed. `sft_weighted` leaves the grade out.\n",
			p.Attempts, p.Solved, minOutcome)
	}
	use := "leaves the grade out"
	if p.Earned {
		use = "uses the grade"
	}
	return fmt.Sprintf("\nOf a solved and a failed attempt of this build, the solved one has the higher grade with probability %.3f (AUC, 95 %% interval by problem %.3f to %.3f; %d of %d attempts solved, 0.5 says nothing). `sft_weighted` therefore %s; the reward keeps the subnet's formula.\n",
		*p.AUC, p.CI95[0], p.CI95[1], p.Solved, p.Attempts, use)
}
