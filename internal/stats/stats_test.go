package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s = %.12f, want %.12f", name, got, want)
	}
}

// TestPublishedValues compares results with those of statsmodels and scipy; bench/stats_check.py
// compares many more.
func TestPublishedValues(t *testing.T) {
	t.Parallel()
	if q := distuv.UnitNormal.Quantile(0.975); math.Abs(q-Z95) > 1e-15 {
		t.Errorf("Z95 is not %v", q)
	}
	w := Wilson(32, 75)
	near(t, "low", w.Low, 0.3210074201902475)
	near(t, "high", w.High, 0.5394720767072307)
	near(t, "mcnemar", McNemar(3, 12), 0.03515625)
	near(t, "mcnemar of none", McNemar(0, 0), 1)
	near(t, "mcnemar one-sided", McNemar(0, 6), 0.03125)
	// scipy 1.17: ttest_1samp(…, 0, alternative="greater") and spearmanr.
	near(t, "paired t", PairedT([]float64{0.1, 0.2, -0.05, 0.3}), 0.08136655491214675)
	near(t, "paired t of equals", PairedT([]float64{2, 2})+PairedT([]float64{-2, -2}), 1)
	rho, _ := Spearman([]float64{1, 2, 3, 4, 5, 6}, []float64{2, 1, 4, 3, 6, 6})
	near(t, "Spearman", rho, 0.8696565534786727)
	if rho, i := Spearman([]float64{1, 2, 3, 4}, []float64{9, 7, 5, 2}); rho > -0.999 || !math.IsNaN(i.Low) || !math.IsNaN(i.High) {
		t.Errorf("four pairs in one order have the correlation %g with the interval %v", rho, i)
	}
	near(t, "se", ClusteredSE([]float64{0, 1, 1, 0}), math.Sqrt(1.0/12))
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		near(t, "holm", Holm([]float64{0.01, 0.04, 0.03, 0.005})[i], want)
	}
}

// TestWilsonAtZeroAndOne checks that a bound at the end of the range is exactly 0 or 1, and that
// without observations the interval is the full range.
func TestWilsonAtZeroAndOne(t *testing.T) {
	t.Parallel()
	if w := Wilson(0, 10); w.Low != 0 || w.High >= 0.2776 || w.High <= 0.2775 {
		t.Errorf("0 of 10: %v", w)
	}
	if w := Wilson(10, 10); w.High != 1 || w.Low <= 0.7224 || w.Low >= 0.7225 {
		t.Errorf("10 of 10: %v", w)
	}
	if w := Wilson(0, 0); w != (Interval{0, 1}) {
		t.Errorf("0 of 0: %v", w)
	}
}

func TestPass(t *testing.T) {
	t.Parallel()
	passAt := PassAtK
	hat := PassHatK
	near(t, "pass@1", passAt(8, 3, 1), 3.0/8)
	near(t, "pass@4", passAt(8, 3, 4), 1-5.0/70)
	near(t, "pass@8", passAt(8, 1, 8), 1)
	near(t, "pass^1", hat(8, 3, 1), 3.0/8)
	near(t, "pass^2", hat(8, 3, 2), 3.0/28)
	near(t, "pass^4", hat(8, 3, 4), 0)
}

// TestRewardsOnAnotherScale compares rewards from 2 to 8: no bound of shares holds for them.
func TestRewardsOnAnotherScale(t *testing.T) {
	t.Parallel()
	p := NewPaired([]float64{2, 3, 4, 3, 2}, []float64{6, 6, 8, 5, 6}, 1, 1, nil)
	i := p.Interval()
	if i.Low >= p.Difference || i.High <= p.Difference || i.High <= 1 {
		t.Errorf("the difference %g has the interval %v", p.Difference, i)
	}
	if power := p.Power(0.1); !math.IsNaN(power) {
		t.Errorf("power %g", power)
	}
	if smallest := p.MDE80(); !math.IsNaN(smallest) {
		t.Errorf("smallest difference %g", smallest)
	}
}
