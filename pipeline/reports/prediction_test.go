package reports

import (
	"fmt"
	"math"
	"testing"

	"github.com/trajectory-arena/arena/internal/stats"
)

// TestAGradeIsEarnedInEveryDomain holds that grades which predict outcomes in one domain and not in
// another have no weight, and that both figures are reported.
func TestAGradeIsEarnedInEveryDomain(t *testing.T) {
	t.Parallel()
	attempts := func(n int, speaks bool) (graded []stats.Graded) {
		for i := range n {
			grade := 0.5
			if speaks && i%2 == 0 {
				grade = 0.9
			}
			graded = append(graded, stats.Graded{Cluster: fmt.Sprint(i), Grade: grade, Solved: i%2 == 0})
		}
		return graded
	}
	a := NewAdder(nil)
	a.graded["shop"] = attempts(40, true)
	if p := a.predict(); !p.Earned || len(p.Domains) != 0 {
		t.Errorf("one domain: %+v", p)
	}
	a.graded["service"] = attempts(40, false)
	p := a.predict()
	if p.Earned || len(p.Domains) != 2 || p.Domains[0].Earned || !p.Domains[1].Earned || math.Abs(*p.Domains[0].AUC-0.5) > 1e-9 {
		t.Errorf("two domains: %+v", p)
	}
	a.graded["coding"] = attempts(4, true)
	if p := a.predict(); p.Domains[0].AUC != nil || p.Earned {
		t.Errorf("a domain of four attempts: %+v", p.Domains[0])
	}
}
