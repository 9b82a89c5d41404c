package reports

import (
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// minOutcome is the minimum number of solved attempts, and also of failed ones, from which it is
// computed how well the judge's grades predict outcomes. The sample of attempts that cannot become
// rows is included only if it has at least as many attempts.
const minOutcome = 10

// Prediction is what the grades of a build say of the outcomes of its own attempts, those that are
// no rows included: a drawn attempt counts as many times as it stands for.
type Prediction struct {
	// Attempts counts those with a grade and a score, Solved the successes among them, and Drawn
	// those among them that cannot become rows and were drawn for grading. LeftOut counts drawn
	// ones that are too few to stand for the others, so that the rest is of possible rows alone.
	Attempts int `json:"attempts"`
	Solved   int `json:"solved"`
	Drawn    int `json:"drawn,omitempty"`
	LeftOut  int `json:"drawn_left_out,omitempty"`
	// AUC is the probability that a solved attempt has the higher grade of the two, with its 95 %
	// interval by problem; nil if the judge saw too few of either outcome.
	AUC  *float64    `json:"auc"`
	CI95 *[2]float64 `json:"ci95"`
	// Earned reports whether the interval is above one half, on the attempts of every domain. Only
	// then do the weights of rows of profile sft_weighted use the grade.
	Earned bool `json:"earned"`
	// Domains has the same for the attempts of each domain, if they are of several.
	Domains []DomainPrediction `json:"domains,omitempty"`
}

// DomainPrediction is what the grades say of the outcomes of the attempts of one domain.
type DomainPrediction struct {
	Domain string `json:"domain"`
	Prediction
}

// addGraded adds an attempt to the data of its domain (kind of task) from which it is computed how
// well the judge's grades predict outcomes. It ignores an attempt without a grade or without an
// outcome.
func (a *Adder) addGraded(x *block.Entry) {
	if x.Score != nil && x.Outcome.Scored() {
		a.graded[x.Domain] = append(a.graded[x.Domain], stats.Graded{
			Cluster: x.ProblemID,
			Grade:   *x.Score,
			Solved:  x.Outcome.Success,
			Weight:  float64(max(x.OneIn, 1)),
		})
	}
}

// predict returns how well the judge's grades predict outcomes over all graded attempts and, if
// there are several domains (kinds of task), in each domain. With several domains, the field Earned
// is set only if it is set for all attempts together and for every domain.
func (a *Adder) predict() Prediction {
	var all []stats.Graded
	for _, name := range slicesx.SortedKeys(a.graded) {
		all = append(all, a.graded[name]...)
	}
	p := newPrediction(all)
	if len(a.graded) < 2 {
		return p
	}
	for _, name := range slicesx.SortedKeys(a.graded) {
		d := DomainPrediction{name, newPrediction(a.graded[name])}
		p.Domains = append(p.Domains, d)
		p.Earned = p.Earned && d.Earned
	}
	return p
}

func newPrediction(graded []stats.Graded) Prediction {
	p := Prediction{}
	isDrawn := func(g stats.Graded) bool { return g.Weight > 1 }
	drawn := slicesx.CountFunc(graded, func(g *stats.Graded) bool { return isDrawn(*g) })
	if drawn >= minOutcome {
		p.Drawn = drawn
	} else {
		p.LeftOut = drawn
		graded = slices.DeleteFunc(slices.Clone(graded), isDrawn)
	}
	p.Attempts = len(graded)
	p.Solved = slicesx.CountFunc(graded, func(g *stats.Graded) bool { return g.Solved })
	if min(p.Solved, p.Attempts-p.Solved) < minOutcome {
		return p
	}
	auc, ci := stats.AUC(graded)
	p.AUC = stats.FiniteOrNil(auc)
	p.CI95 = &[2]float64{ci.Low, ci.High}
	p.Earned = ci.Low > 0.5
	return p
}

// sampleText returns, as the end of a sentence on graded attempts, how many of them are a sample of
// those that cannot become rows, or that this sample was too small to be used. It is empty if there
// was no sample.
func (p *Prediction) sampleText() string {
	switch {
	case p.Drawn > 0:
		return fmt.Sprintf(", %d of them a sample of those that cannot become rows, weighted to represent all of these", p.Drawn)
	case p.LeftOut > 0:
		return fmt.Sprintf(", all of which can become rows: the sample of %d others is too small to represent the rest", p.LeftOut)
	}
	return ""
}

// Line returns what the grades say of the outcomes in one line, empty if no attempt has both.
func (p *Prediction) Line() string {
	switch {
	case p.Attempts == 0:
		return ""
	case p.AUC == nil:
		return fmt.Sprintf("whether grades predict outcomes was not measured (%d of %d attempts solved), so sft_weighted does not use the grade", p.Solved, p.Attempts)
	}
	use := "does not use the grade"
	if p.Earned {
		use = "uses the grade"
	}
	return fmt.Sprintf("grades predict outcomes with AUC %.3f (%.3f to %.3f; %d of %d attempts solved%s), so sft_weighted %s", *p.AUC, p.CI95[0], p.CI95[1], p.Solved, p.Attempts, p.sampleText(), use)
}

func (p *Prediction) text() string {
	if p.AUC == nil {
		return fmt.Sprintf("\nWhether the grade predicts the outcome was not measured: of %d attempts with both%s, %d are solved, and at least %d solved and as many failed ones are needed. `sft_weighted` does not use the grade.\n",
			p.Attempts, p.sampleText(), p.Solved, minOutcome)
	}
	use := "does not use the grade"
	if p.Earned {
		use = "uses the grade"
	}
	return fmt.Sprintf("\nThe probability that a solved attempt of this build has a higher grade than a failed one is %.3f (AUC, 95 %% interval by problem %.3f to %.3f; %d of %d attempts solved%s; 0.5 means no relation). `sft_weighted` therefore %s; the reward keeps the subnet's formula.\n",
		*p.AUC, p.CI95[0], p.CI95[1], p.Solved, p.Attempts, p.sampleText(), use) + p.domainsText()
}

// domainsText returns a Markdown table on how well grades predict outcomes in each domain (kind of
// task). It is empty if the attempts are of one domain only.
func (p *Prediction) domainsText() string {
	if len(p.Domains) == 0 {
		return ""
	}
	return "\n" + corpus.Table("domain | attempts: | solved: | AUC: | 95 %: | earned", p.Domains, func(d DomainPrediction) string {
		auc := "not measured"
		interval := ""
		if d.AUC != nil {
			auc = fmt.Sprintf("%.3f", *d.AUC)
			interval = fmt.Sprintf("%.3f to %.3f", d.CI95[0], d.CI95[1])
		}
		return fmt.Sprintf("%s | %d | %d | %s | %s | %v", corpus.EscapeCell(d.Domain), d.Attempts, d.Solved, auc, interval, d.Earned)
	})
}
