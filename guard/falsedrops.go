package guard

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/trajectory-arena/arena/guard/lexical"
	"github.com/trajectory-arena/arena/internal/stats"
)

// FalseDrops estimates how many honest rows the guard drops, leave one out: each
// protected request is held against the others as a row that asks for none of
// them. It speaks for rows that are like the bank's problems.
type FalseDrops struct {
	// Problems are those with a request, Held those of them that were held against
	// the others.
	Problems int `json:"problems"`
	Held     int `json:"held"`
	// Dropped are those that would be dropped and do not ask for the same.
	Dropped int     `json:"dropped"`
	Share   float64 `json:"share"`
	// Low and High are an interval at 95 %.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Threshold is the lexical score from which the guard drops, Limit the share
	// that it was raised for; 0 where the threshold was given.
	Threshold float64 `json:"threshold"`
	Limit     float64 `json:"limit,omitempty"`
}

// maxHeld bounds how many requests are held against the others: at 1,000 the
// interval of a share of 2 % is 2.4 points wide.
const maxHeld = 1000

// DefaultMaxFalse is the share of honest rows that may be lost: at a bank of 7,500
// requests of one template it costs one rewording in a hundred.
const DefaultMaxFalse = 0.02

// maxDrop is the score that no bank raises the threshold above: from there on one
// rewording in ten would be lost.
var maxDrop = lexical.Logistic(1)

// weighFalseDrops estimates the false drops and raises a threshold that was not
// given until they are below the share allowed.
func (g *Guard) weighFalseDrops(given bool) {
	scores, problems := g.aloneScores()
	f := FalseDrops{Problems: problems, Held: len(scores)}
	if !given && len(scores) > 0 {
		f.Limit = g.config.MaxFalse
		slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
		if first := int(f.Limit * float64(len(scores))); first < len(scores) && scores[first] >= g.config.Drop {
			g.config.Drop = min(math.Nextafter(scores[first], 1), maxDrop)
		}
	}
	for _, s := range scores {
		if s >= g.config.Drop {
			f.Dropped++
		}
	}
	f.Threshold = g.config.Drop
	if f.Held > 0 {
		f.Share = float64(f.Dropped) / float64(f.Held)
		// For half as many: requests are lost in pairs, each for the other.
		w := stats.Wilson(f.Dropped/2, f.Held/2)
		f.Low, f.High = w.Low, w.High
	}
	g.falseDrops = f
}

// aloneScores holds requests, chosen by hash, against all others that share no
// product with them, and returns the nearest score of each, 0 where that one asks
// for the same.
func (g *Guard) aloneScores() (scores []float64, problems int) {
	at := g.sample(0, math.MaxInt)
	for _, i := range at[:min(len(at), maxHeld)] {
		f := g.lexical.CheckAlone(i, func(other int) bool { return g.kindred(i, other) })
		if f.Same {
			f.Score = 0
		}
		scores = append(scores, f.Score)
	}
	return scores, len(at)
}

// sample are the positions of entries that have a request, in an order that a hash
// of the seed draws, n at most.
func (g *Guard) sample(seed uint64, n int) (at []int) {
	drawn := map[int]float64{}
	for i, e := range g.bank {
		if normalised(e.Text) != "" {
			at, drawn[i] = append(at, i), draw(seed, e.ID+"\x00"+strconv.Itoa(i))
		}
	}
	slices.SortFunc(at, func(a, b int) int { return cmp.Or(cmp.Compare(drawn[a], drawn[b]), a-b) })
	return at[:min(len(at), n)]
}

// kindred reports whether two entries are one problem, or ask for one product.
func (g *Guard) kindred(i, j int) bool {
	a, b := g.bank[i], g.bank[j]
	return i == j || a.Spec != "" && a.Spec == b.Spec ||
		slices.ContainsFunc(a.ProductIDs, func(id string) bool { return slices.Contains(b.ProductIDs, id) })
}
