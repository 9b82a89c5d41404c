package guard

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// ReportSchema is the version of the contamination report.
const ReportSchema = "arena.leak.v1"

// Report is the contamination report of one run: what each bank and tier
// found, and the evidence for every row dropped.
type Report struct {
	Schema string       `json:"schema"`
	Rows   int          `json:"rows"`
	Banks  []BankReport `json:"banks"`
	// Ran are the tiers that ran, with why one that was asked for did not.
	Ran    []Tier `json:"tiers_run"`
	NotRun string `json:"tiers_not_run,omitempty"`
	// Beyond counts texts that the lexical tier could not read.
	Beyond    int              `json:"beyond_lexical"`
	Threshold float64          `json:"threshold"`
	Curve     []CurvePoint     `json:"threshold_curve"`
	Dropped   []DroppedRow     `json:"dropped"`
	Injection *InjectionReport `json:"injection,omitempty"`
	// FalseDrops is what the lexical tier costs in honest rows.
	FalseDrops FalseDrops `json:"false_drops"`
}

// BankReport counts the rows whose nearest protected problem is in one bank.
type BankReport struct {
	Bank     string `json:"bank"`
	Problems int    `json:"problems"`
	// Found is the number of rows dropped for each tier.
	Found map[Tier]int `json:"dropped_by_tier"`
	// Kept are rows under the threshold; Nearest is the highest score among them
	// and NearestRow the row that has it.
	Kept       int     `json:"kept"`
	Nearest    float64 `json:"nearest_kept_score"`
	NearestRow string  `json:"nearest_kept_row"`
}

// CurvePoint says how many rows a threshold would drop.
type CurvePoint struct {
	Threshold float64 `json:"threshold"`
	Rows      int     `json:"rows"`
}

// DroppedRow is the evidence for one dropped row.
type DroppedRow struct {
	ID       string  `json:"id"`
	HeldOut  string  `json:"held_out"`
	Bank     string  `json:"bank"`
	Tier     Tier    `json:"tier"`
	Score    float64 `json:"score"`
	Same     bool    `json:"same"`
	Evidence string  `json:"evidence"`
}

// NewReport returns an empty report on g's banks; a nil Guard has none.
func NewReport(g *Guard) *Report {
	if g == nil {
		return &Report{Schema: ReportSchema}
	}
	r := &Report{Schema: ReportSchema, Ran: []Tier{TierSpec, TierExact, TierNormalised, TierLexical}, Threshold: g.config.Drop, FalseDrops: g.falseDrops}
	for _, e := range g.bank {
		r.bank(e.Bank).Problems++
	}
	for odds := -6.0; odds <= 2; odds += 0.5 {
		r.Curve = append(r.Curve, CurvePoint{Threshold: math.Round(stats.Logistic(odds)*1e4) / 1e4})
	}
	return r
}

// Protected counts the problems that rows were held against.
func (r *Report) Protected() (n int) {
	for _, bank := range r.Banks {
		n += bank.Problems
	}
	return n
}

func (r *Report) bank(name string) *BankReport {
	i, known := slices.BinarySearchFunc(r.Banks, name, func(b BankReport, name string) int { return strings.Compare(b.Bank, name) })
	if !known {
		r.Banks = slices.Insert(r.Banks, i, BankReport{Bank: name, Found: map[Tier]int{}})
	}
	return &r.Banks[i]
}

// Add counts one finding.
func (r *Report) Add(id string, f Finding) {
	r.Rows++
	if f.Beyond {
		r.Beyond++
	}
	for i := range r.Curve {
		if f.Score >= r.Curve[i].Threshold {
			r.Curve[i].Rows++
		}
	}
	switch {
	case f.Drop:
		r.bank(f.Bank).Found[f.Tier]++
		r.Dropped = append(r.Dropped, DroppedRow{id, f.Match, f.Bank, f.Tier, f.Score, f.Same, f.Evidence})
	case f.Match != "":
		b := r.bank(f.Bank)
		b.Kept++
		if f.Score > b.Nearest || f.Score == b.Nearest && (b.NearestRow == "" || id < b.NearestRow) {
			b.Nearest, b.NearestRow = f.Score, id
		}
	}
}

// Encode returns the report as reports/leak.json holds it. Rows are ordered by
// id, so that the parts of a run may come in any order.
func (r *Report) Encode() []byte {
	slices.SortFunc(r.Dropped, func(a, b DroppedRow) int {
		return strings.Compare(a.ID+"\x00"+a.HeldOut, b.ID+"\x00"+b.HeldOut)
	})
	return encoded(r)
}

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
var maxDrop = stats.Logistic(1)

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
	f.Dropped = slicesx.CountFunc(scores, func(s *float64) bool { return *s >= g.config.Drop })
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
		f := g.index().lexical.CheckAlone(i, func(other int) bool { return g.kindred(i, other) })
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
