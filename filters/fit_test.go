package filters_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// authors are the sources of labelled attempts that one hand or one program wrote.
var authors = []string{"labelled day", "simulated", "webshop", "hotpot", "fever", "tau", "toolbench", "reference", "program", "auto-gpt", "turbo", "polygpt", "whowhen-ag2", "bfcl-native"}

func judgeAuthors(t *testing.T) map[string][]judgement {
	t.Helper()
	days := map[string][]judgement{"labelled day": judgeDay(t, readDay(t, longtest.Shared(t, "data/day"))), "simulated": append(judgeDay(t, play(setOn)), judgeDay(t, play(leftOut))...)}
	for _, j := range judgeDay(t, readDay(t, longtest.Shared(t, "data/axis"))) {
		author, _, _ := strings.Cut(j.family, "-")
		days[author] = append(days[author], j)
	}
	for _, j := range judgeDay(t, readDay(t, longtest.Shared(t, "data/axis2"))) {
		days[j.family] = append(days[j.family], j)
	}
	return days
}

// TestFitComparedWithRules prints a table for docs/decisions: a logistic regression over the same
// evidence for authors outside its training set, compared with the rules. It has no limit to check,
// so that it runs only where its table is printed.
func TestFitComparedWithRules(t *testing.T) {
	if !longtest.Tests || !testing.Verbose() {
		t.Skip("prints a table of many days: go test -tags long -v -run FitComparedWithRules ./filters")
	}
	t.Parallel()
	byAuthor := judgeAuthors(t)
	f := newFilter(t)
	rows := map[string][]example{}
	for author, judged := range byAuthor {
		families := map[string]float64{}
		for _, j := range judged {
			families[j.family]++
		}
		for i := range judged {
			d := filters.Normalise(judged[i].trace)
			odds, _ := filters.Odds(f, judged[i].trace, &d)
			rows[author] = append(rows[author], example{measures(&judged[i], odds), truth(judged[i]), 1 / families[judged[i].family]})
		}
	}
	t.Logf("%-14s %18s %18s %14s %6s %6s", "author", "honest below .5", "programs above .5", "above .95", "Brier", "rules")
	for _, author := range authors {
		var others []example
		for other, rows := range rows {
			if other != author {
				others = append(others, rows...)
			}
		}
		fit := regress(others)
		var honest, programs, low, high, sure, actual int
		brier := 0.0
		rules := 0.0
		for i, x := range rows[author] {
			p := fit.probability(x.x)
			n := float64(len(rows[author]))
			claim := agenticClaim(byAuthor[author][i])
			brier += (p - x.y) * (p - x.y) / n
			rules += (claim - x.y) * (claim - x.y) / n
			if x.y == 1 {
				honest, low = honest+1, low+right1(p < 0.5, true)
			} else {
				programs, high = programs+1, high+right1(p > 0.5, true)
			}
			if p > 0.95 || p < 0.05 {
				sure, actual = sure+1, actual+right1(p > 0.5, x.y == 1)
			}
		}
		t.Logf("%-14s %18s %18s %14s %6.3f %6.3f", author, fmt.Sprintf("%d of %d", low, honest), fmt.Sprintf("%d of %d", high, programs), fmt.Sprintf("%d of %d", actual, sure), brier, rules)
	}
}

// example is one attempt: its measures, whether the model wrote the calls, and its weight. All
// families have the same total weight.
type example struct {
	x    []float64
	y, w float64
}

// measures returns the links of an attempt as shares, the odds that the other rules add, and the
// counts of its agent's day as shares, shrunk towards a half for small counts.
func measures(j *judgement, odds []float64) []float64 {
	value := map[string]float64{}
	for _, f := range j.before.Features {
		if !math.IsNaN(f.Value) {
			value[f.Name] = f.Value
		}
	}
	x := []float64{1}
	for _, link := range []string{"named", "named_loosely", "derived", "stale", "overridden", "unnamed", "undecided"} {
		x = append(x, value[link]/math.Max(value["dispatches"], 1))
	}
	for _, odds := range odds {
		x = append(x, math.Max(odds, -3))
	}
	for _, c := range habits.Counts() {
		n := c.Total(j.stats)
		x = append(x, (float64(n.Part)+1)/(float64(n.Whole)+2))
	}
	return append(x, float64(right1(j.before.Axis == arena.AxisUnknown, true)))
}

// fitted are the weights of measures that are scaled by their spread.
type fitted struct{ weights, spread []float64 }

func (f fitted) probability(x []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += f.weights[i] * x[i] / f.spread[i]
	}
	return 1 / (1 + math.Exp(-sum))
}

// regress fits by Newton's method, with a ridge of 20 families' weight.
func regress(examples []example) fitted {
	n := len(examples[0].x)
	total := 0.0
	f := fitted{make([]float64, n), make([]float64, n)}
	for _, e := range examples {
		total += e.w
		for i, v := range e.x {
			f.spread[i] += e.w * v * v
		}
	}
	for i := range f.spread {
		f.spread[i] = math.Max(math.Sqrt(f.spread[i]/total), 1e-6)
	}
	for range 12 {
		gradient := mat.NewVecDense(n, nil)
		hessian := mat.NewSymDense(n, nil)
		for i := range n {
			gradient.SetVec(i, -f.weights[i])
			hessian.SetSym(i, i, 1)
		}
		scaled := mat.NewVecDense(n, nil)
		for _, e := range examples {
			for i, v := range e.x {
				scaled.SetVec(i, v/f.spread[i])
			}
			p := f.probability(e.x)
			gradient.AddScaledVec(gradient, e.w*(e.y-p), scaled)
			hessian.SymRankOne(hessian, e.w*math.Max(p*(1-p), 1e-6), scaled)
		}
		var step mat.VecDense
		if err := step.SolveVec(hessian, gradient); err != nil {
			panic(err)
		}
		for i := range n {
			f.weights[i] += step.AtVec(i)
		}
	}
	return f
}
