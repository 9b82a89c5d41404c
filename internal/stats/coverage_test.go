package stats

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/trajectory-arena/arena/internal/longtest"
)

// simulations is the number of runs behind the tables of docs/measured/evaluation.md: go test -v
// -tags long -run Hold ./internal/stats -simulations 20000.
var simulations = flag.Int("simulations", 2000, "runs that are simulated for each row")

// design is a run to simulate: the number of problems, whose difficulties are sampled from Beta(a,
// b), and the number of samples for each.
type design struct {
	problems, samples int
	a, b              float64
}

func (d design) truth() float64 { return d.a / (d.a + d.b) }

// spreads are the parameters of difficulties that are nearly equal, mixed, and mostly either hard
// or easy.
var spreads = [][2]float64{{8, 12}, {2, 3}, {0.5, 0.5}}

func designs(problems ...int) (designList []design) {
	for _, s := range spreads {
		for _, p := range problems {
			for _, k := range []int{1, 4, 8} {
				designList = append(designList, design{p, k, s[0], s[1]})
			}
		}
	}
	return designList
}

// world simulates the runs of a design.
type world struct {
	design
	random       *rand.Rand
	difficulties distuv.Beta
}

func (d design) world() *world {
	source := rand.NewPCG(1, uint64(d.problems*100+d.samples))
	return &world{d, rand.New(source), distuv.Beta{Alpha: d.a, Beta: d.b, Src: source}}
}

// wins is how many of the samples succeed with chance p.
func (w *world) wins(p float64) (n int) {
	for range w.samples {
		if w.random.Float64() < p {
			n++
		}
	}
	return n
}

// moved returns the design with a mean that differs by up to 0.05: counts are discrete, and their
// position relative to a single true value is chance.
func (w *world) moved() design {
	d := w.design
	truth, weight := d.truth()+0.1*(w.random.Float64()-0.5), d.a+d.b
	d.a = truth * weight
	d.b = (1 - truth) * weight
	return d
}

// rates are the success rates and pass@k by problem of a run of d.
func (w *world) rates(d design) (rates, passes []float64) {
	w.difficulties.Alpha = d.a
	w.difficulties.Beta = d.b
	for range w.problems {
		n := w.wins(w.difficulties.Rand())
		pass := PassAtK(w.samples, n, w.samples)
		rates, passes = append(rates, float64(n)/float64(w.samples)), append(passes, pass)
	}
	return rates, passes
}

// pair returns two students, of whom b solves a share of a's failures that makes the true
// difference the given one.
func (w *world) pair(difference float64) Paired {
	a := make([]float64, w.problems)
	b := make([]float64, w.problems)
	share := difference / (1 - w.truth())
	for i := range a {
		p := w.difficulties.Rand()
		a[i] = float64(w.wins(p)) / float64(w.samples)
		b[i] = float64(w.wins(p+share*(1-p))) / float64(w.samples)
	}
	return NewPaired(a, b, float64(w.samples), float64(w.samples), nil)
}

// grouped samples rates at problems. The problems of a group of the given size have one difficulty,
// or, for every problem with probability 1-correlation, a difficulty of its own. b differs from a
// by group, and is equal on average.
func (w *world) grouped(size int, correlation float64) (a, b []float64, groups []int) {
	var p, q float64
	for i := range w.problems {
		if i%size == 0 || w.random.Float64() >= correlation {
			p = w.difficulties.Rand()
			q = w.difficulties.Rand()
		}
		a = append(a, float64(w.wins(p))/float64(w.samples))
		b = append(b, float64(w.wins(q))/float64(w.samples))
		groups = append(groups, i/size)
	}
	return a, b, groups
}

// TestGroupsAreTheUnit holds that intervals and tests by group are valid where the problems of a
// group are correlated, and that those by problem are not.
func TestGroupsAreTheUnit(t *testing.T) {
	if !longtest.Tests {
		t.Skip("simulations of thousands of runs: go test -tags long")
	}
	t.Parallel()
	for _, size := range []int{2, 3} {
		for _, correlation := range []float64{1, 0.7} {
			w := design{120, 4, 0.5, 0.5}.world()
			covers := 0
			ungrouped := 0
			wrong := 0
			wrongAlone := 0
			difference := 0
			for range *simulations {
				a, b, groups := w.grouped(size, correlation)
				se, n := GroupedSE(a, groups)
				if ClusteredWilson(Mean(a), se, n, w.problems*w.samples).holds(w.truth()) {
					covers++
				}
				if ClusteredWilson(Mean(a), ClusteredSE(a), w.problems, w.problems*w.samples).holds(w.truth()) {
					ungrouped++
				}
				p := NewPaired(a, b, float64(w.samples), float64(w.samples), groups)
				if p.P() <= 0.05 {
					wrong++
				}
				if p.Interval().holds(0) {
					difference++
				}
				if NewPaired(a, b, float64(w.samples), float64(w.samples), nil).P() <= 0.05 {
					wrongAlone++
				}
			}
			name := fmt.Sprintf("groups of %d, %.0f %% alike", size, 100*correlation)
			t.Logf("| %s | %.3f | %.3f | %.3f | %.3f | %.3f |", name, share(covers), share(ungrouped), share(difference), share(wrong), share(wrongAlone))
			checkRange(t, name+" rate", share(covers), 0.94, 0.96)
			checkRange(t, name+" difference", share(difference), 0.94, 0.96)
			checkRange(t, name+" type I", share(wrong), 0.03, 0.06)
			if share(ungrouped) > 0.93 || share(wrongAlone) < 0.07 {
				t.Errorf("%s: by problem the interval holds in %.3f and the test errs in %.3f: this world has no groups", name, share(ungrouped), share(wrongAlone))
			}
		}
	}
}

// TestSelectedBestIsCovered checks that the interval of the best of five equal students contains
// the true value.
func TestSelectedBestIsCovered(t *testing.T) {
	if !longtest.Tests {
		t.Skip("simulations of thousands of runs: go test -tags long")
	}
	t.Parallel()
	const students = 5
	w := design{75, 4, 2, 3}.world()
	covers := 0
	naive := 0
	for range *simulations {
		best := -1.0
		bestSE := 0.0
		for range students {
			rates, _ := w.rates(w.design)
			if mean := Mean(rates); mean > best {
				best = mean
				bestSE = ClusteredSE(rates)
			}
		}
		n := w.problems * w.samples
		if SelectedWilson(best, bestSE, w.problems, n, students).holds(w.truth()) {
			covers++
		}
		if ClusteredWilson(best, bestSE, w.problems, n).holds(w.truth()) {
			naive++
		}
	}
	t.Logf("best of %d: %.3f, without the selection %.3f", students, share(covers), share(naive))
	checkRange(t, "best of five", share(covers), 0.95, 1)
}

// passTruth is the true mean of pass@k.
func (d design) passTruth() float64 {
	lose := 1.0 // E[(1-p)^k] of a Beta
	for i := range d.samples {
		lose *= (d.b + float64(i)) / (d.a + d.b + float64(i))
	}
	return 1 - lose
}

func (i Interval) holds(truth float64) bool { return i.Low <= truth && truth <= i.High }

// checkRange reports a share outside the range that simulation error explains.
func checkRange(t *testing.T, name string, share, low, high float64) {
	t.Helper()
	allowed := 3 * math.Sqrt(0.05*0.95/float64(*simulations))
	if share < low-allowed || share > high+allowed {
		t.Errorf("%s: %.4f, want %.3f to %.3f", name, share, low, high)
	}
}

func TestIntervalsCoverTrueValue(t *testing.T) {
	if !longtest.Tests {
		t.Skip("simulations of thousands of runs: go test -tags long")
	}
	t.Parallel()
	for _, d := range append(designs(75, 250), designs(8, 15, 25)...) {
		w := d.world()
		mean := 0
		pass := 0
		for range *simulations {
			is := w.moved()
			rates, passes := w.rates(is)
			if ClusteredWilson(Mean(rates), ClusteredSE(rates), d.problems, d.problems*d.samples).holds(is.truth()) {
				mean++
			}
			if ClusteredWilson(Mean(passes), ClusteredSE(passes), d.problems, d.problems*d.samples).holds(is.passTruth()) {
				pass++
			}
		}
		name := fmt.Sprint(d)
		low := 0.94
		high := 0.96
		if d.problems < 75 {
			low = 0.93
			high = 1
		}
		rate := share(mean)
		passed := share(pass)
		t.Logf("| %d | %d | Beta(%v, %v) | %.3f | %.3f |", d.problems, d.samples, d.a, d.b, rate, passed)
		checkRange(t, name+" rate", rate, low, high)
		checkRange(t, name+" pass@k", passed, low, high)
	}
}

func TestComparisonsKeepSignificanceLevel(t *testing.T) {
	if !longtest.Tests {
		t.Skip("simulations of thousands of runs: go test -tags long")
	}
	t.Parallel()
	for _, d := range designs(75, 250) {
		w := d.world()
		covers := 0
		wrong := 0
		detected := 0
		for range *simulations {
			null := w.pair(0)
			if null.Interval().holds(0) {
				covers++
			}
			if null.P() <= 0.05 {
				wrong++
			}
			if w.pair(null.MDE80()).P() <= 0.05 {
				detected++
			}
		}
		t.Logf("| %d | %d | Beta(%v, %v) | %.3f | %.3f | %.3f |", d.problems, d.samples, d.a, d.b, share(covers), share(wrong), share(detected))
		checkRange(t, fmt.Sprint(d)+" difference", share(covers), 0.94, 0.96)
		checkRange(t, fmt.Sprint(d)+" type I", share(wrong), 0.035, 0.06)
		checkRange(t, fmt.Sprint(d)+" power", share(detected), 0.77, 0.83)
	}
}

func share(n int) float64 { return float64(n) / float64(*simulations) }
