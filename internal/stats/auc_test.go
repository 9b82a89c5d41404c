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
	attempts := []Graded{{"a", 0.9, true}, {"b", 0.5, true}, {"c", 0.7, false}, {"d", 0.5, false}, {"e", 0.3, false}}
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

	for name, few := range map[string][]Graded{"none": nil, "solved only": attempts[:2], "one cluster": {{"a", 0.9, true}, {"a", 0.3, false}}} {
		if auc, ci := AUC(few); !math.IsNaN(auc) || ci != (Interval{0, 1}) {
			t.Errorf("%s: %v %v", name, auc, ci)
		}
	}

	// Copies of an attempt in its cluster add no evidence.
	var once, often []Graded
	for i := range 40 {
		g := Graded{fmt.Sprint(i), []float64{0.3, 0.5, 0.7, 0.9}[i%4], i%3 > 0}
		once = append(once, g)
		often = append(often, g, g, g)
	}
	_, a := AUC(once)
	_, b := AUC(often)
	if math.Abs((a.High-a.Low)-(b.High-b.Low)) > 1e-9 {
		t.Errorf("intervals %v and %v", a, b)
	}
}
