package stats

import (
	"fmt"
	"math"
	"testing"
)

// TestAUC compares with values by hand: of the six pairs of two solved and three
// failed attempts, four and a half are ordered.
func TestAUC(t *testing.T) {
	t.Parallel()
	attempts := []Graded{{"a", 0.9, true, 0}, {"b", 0.5, true, 0}, {"c", 0.7, false, 0}, {"d", 0.5, false, 0}, {"e", 0.3, false, 0}}
	auc, ci := AUC(attempts)
	near(t, "AUC", auc, 4.5/6)
	// The placements are 1 and 1/2 of the solved, 1/2, 3/4 and 1 of the failed.
	d := []float64{0.25 / 2, -0.25 / 2, -0.25 / 3, 0, 0.25 / 3}
	sum := 0.0
	for _, x := range d {
		sum += x * x
	}
	near(t, "low", ci.Low, 0.75-Z95*math.Sqrt(5./4*sum))
	near(t, "high", ci.High, 1)

	for name, few := range map[string][]Graded{"none": nil, "solved only": attempts[:2], "one cluster": {{"a", 0.9, true, 0}, {"a", 0.3, false, 0}}} {
		if auc, ci := AUC(few); !math.IsNaN(auc) || ci != (Interval{0, 1}) {
			t.Errorf("%s: %v %v", name, auc, ci)
		}
	}

	// Copies of an attempt in its cluster add no evidence.
	var once, often []Graded
	for i := range 40 {
		g := Graded{fmt.Sprint(i), []float64{0.3, 0.5, 0.7, 0.9}[i%4], i%3 > 0, 0}
		once = append(once, g)
		often = append(often, g, g, g)
	}
	_, a := AUC(once)
	_, b := AUC(often)
	if math.Abs((a.High-a.Low)-(b.High-b.Low)) > 1e-9 {
		t.Errorf("intervals %v and %v", a, b)
	}
}

// TestAUCWithin has two tasks, one of which is easy and has high grades for each outcome: the
// grades have no information within a task, although AUC is above .5.
func TestAUCWithin(t *testing.T) {
	t.Parallel()
	var difficulty, ordered []Graded
	for i := range 40 {
		task := []string{"easy", "hard"}[i%2]
		solved := i%20 < 14 == (i%2 == 0)
		grade := []float64{0.9, 0.3}[i%2]
		difficulty = append(difficulty, Graded{task, grade, solved, 0})
		if solved {
			grade += 0.05
		}
		ordered = append(ordered, Graded{task, grade, solved, 0})
	}
	pooledAUC, _ := AUC(difficulty)
	auc, ci, pairs := AUCWithin(difficulty)
	if pooledAUC < 0.65 || auc != 0.5 || ci.Low > 0.2 || ci.High < 0.8 || pairs != 168 {
		t.Errorf("AUC %v, within tasks %v %v of %d pairs", pooledAUC, auc, ci, pairs)
	}
	if auc, _, _ = AUCWithin(ordered); auc != 1 {
		t.Errorf("within tasks %v, want 1", auc)
	}
	// Computed by hand: task a has the pairs 1 and 0.5, task b has 0.
	auc, ci, pairs = AUCWithin([]Graded{{"a", 0.9, true, 0}, {"a", 0.5, false, 0}, {"a", 0.9, false, 0}, {"b", 0.1, true, 0}, {"b", 0.3, false, 0}, {"c", 1, true, 0}})
	near(t, "AUC within", auc, 0.5)
	if ci.Low > 0.1 || ci.High < 0.9 || pairs != 3 {
		t.Errorf("%d pairs", pairs)
	}
	if auc, ci, _ = AUCWithin(difficulty[:1]); !math.IsNaN(auc) || ci != (Interval{0, 1}) {
		t.Errorf("of one attempt: %v %v", auc, ci)
	}
}

// TestAUCWeighsSampledAttempts holds that a weight is worth as many copies of the attempt.
func TestAUCWeighsSampledAttempts(t *testing.T) {
	var sample, graded []Graded
	for i := range 60 {
		g := Graded{Cluster: fmt.Sprint(i), Grade: []float64{0.3, 0.5, 0.7, 0.9}[i%4], Solved: i%3 > 0}
		copies := 1
		if i%5 == 0 {
			copies = 8
		}
		for range copies {
			graded = append(graded, g)
		}
		g.Weight = float64(copies)
		sample = append(sample, g)
	}
	want, interval := AUC(graded)
	got, ci := AUC(sample)
	near(t, "AUC", got, want)
	near(t, "low", ci.Low, interval.Low)
	near(t, "high", ci.High, interval.High)
	for i := range sample {
		sample[i].Weight = 1
	}
	if plain, _ := AUC(sample); plain == got {
		t.Errorf("AUC %v with and without weights", plain)
	}
}
