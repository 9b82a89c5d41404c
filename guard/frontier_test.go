package guard

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/trajectory-arena/arena/internal/daygen"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/internal/stats"
)

// generated are the problems of a day of this seed.
func generated(t *testing.T, seed uint64, n int) []Entry {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "day")
	if _, err := daygen.Write(t.Context(), dir, daygen.Config{Seed: seed, Problems: n, Attempts: 1, Products: 12000, Sentences: 1, Pages: 1}); err != nil {
		t.Fatal(err)
	}
	bank, err := ReadBank(filepath.Join(dir, "problems.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err = os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	return bank
}

// dropsFrom returns the highest threshold at which a text is dropped: 1 for the same request.
func dropsFrom(f Finding) float64 {
	if f.Same {
		return 1
	}
	return f.Score
}

// scoresAgainst are the thresholds at which texts of rows that ask for no problem of
// the bank are dropped.
func scoresAgainst(t *testing.T, bank, texts []Entry) []float64 {
	t.Helper()
	g := newTestGuard(t, bank)
	out := make([]float64, 0, len(texts))
	for _, e := range texts {
		out = append(out, dropsFrom(g.checkText(e.Text)))
	}
	return out
}

// aloneIn returns the scores of the first n requests of a bank, each compared with all others: 0
// where the nearest asks for the same.
func aloneIn(t *testing.T, bank []Entry, n int) []float64 {
	t.Helper()
	g := newTestGuard(t, bank)
	out := make([]float64, n)
	for i := range out {
		if f := g.index().lexical.CheckLeaveOneOut(i, func(other int) bool { return g.areRelated(i, other) }); !f.Same {
			out[i] = f.Score
		}
	}
	return out
}

func share(scores []float64, threshold float64) string {
	k := 0
	for _, s := range scores {
		if s >= threshold {
			k++
		}
	}
	w := stats.Wilson(k, len(scores))
	return fmt.Sprintf("%4d of %d, %4.1f [%.1f, %.1f]", k, len(scores), 100*float64(k)/float64(len(scores)), 100*w.Low, 100*w.High)
}

// TestFrontier prints recall against false drops at banks of 180, 750 and 7,500. It
// holds nothing, so that it runs only where its table is seen.
func TestFrontier(t *testing.T) {
	t.Parallel()
	if !longtest.Tests || !testing.Verbose() {
		t.Skip("prints a table for docs/measured in a minute: go test -tags long -v -run Frontier ./guard")
	}
	public := publicBank(t)
	bank := generated(t, 21, 7500)
	day := generated(t, 22, 400)
	var separate, shared []float64
	entries, texts := kindsBank(t)
	g := newTestGuard(t, entries)
	for _, r := range texts {
		if !r.other {
			separate = append(separate, dropsFrom(g.checkText(r.text)))
		}
	}
	g = newTestGuard(t, public)
	for _, p := range sharedPairs(t) {
		if p.english {
			shared = append(shared, dropsFrom(g.checkText(p.text)))
		}
	}
	columns := []struct {
		name   string
		scores []float64
	}{
		{"own rewordings, 750", separate}, {"shared English, 750", shared},
		{"day, 180", scoresAgainst(t, bank[:180], day)}, {"day, 750", scoresAgainst(t, bank[:750], day)}, {"day, 7500", scoresAgainst(t, bank, day)},
		{"public, 750", aloneIn(t, public, len(public))}, {"public, 7500", aloneIn(t, slices.Concat(public, bank[:6750]), len(public))},
	}
	for _, odds := range []float64{-4, -3, -2, -1, -0.5, -0.25, 0, 0.25, 0.5, 1} {
		for _, c := range columns {
			t.Logf("%5.2f %.3f %-20s %s", odds, stats.Logistic(odds), c.name, share(c.scores, stats.Logistic(odds)))
		}
	}
	for n, b := range map[int][]Entry{180: bank[:180], 750: bank[:750], 7500: bank, 751: public} {
		t.Logf("bank of %d: %+v", n, newTestGuard(t, b).falseDrops)
	}
}

// TestFalseDropsIntervalCoversTruth compares the estimate with the true value in simulated banks.
func TestFalseDropsIntervalCoversTruth(t *testing.T) {
	t.Parallel()
	banks := 250
	texts := longtest.Pick(1000, 400)
	rounds := longtest.Pick(150, 8)
	entries := generated(t, 23, longtest.Pick(3000, 1000))
	covered := 0
	for i := range rounds {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		r.Shuffle(len(entries), func(a, b int) { entries[a], entries[b] = entries[b], entries[a] })
		g, err := New(entries[:banks], Config{Drop: stats.Logistic(-5)})
		if err != nil {
			t.Fatal(err)
		}
		lost := 0
		honest := 0
		for _, e := range entries[banks : banks+texts] {
			if g.index().spec.checkRewarded(e.ItemIDs, g.bank).Drop {
				continue // it is a protected problem in other words
			}
			if f := g.checkText(e.Text); !f.Same {
				honest++
				if f.Drop {
					lost++
				}
			}
		}
		truth := float64(lost) / float64(honest)
		f := g.falseDrops
		if f.Low <= truth && truth <= f.High {
			covered++
		}
		if i < 5 {
			t.Logf("true %.3f, estimated %.3f [%.3f, %.3f]", truth, f.Share, f.Low, f.High)
		}
	}
	w := stats.Wilson(covered, rounds)
	t.Logf("%d of %d intervals cover the true share [%.3f, %.3f]", covered, rounds, w.Low, w.High)
	if w.High < 0.95 {
		t.Errorf("%d of %d intervals cover the true share, want 95 %%", covered, rounds)
	}
}
