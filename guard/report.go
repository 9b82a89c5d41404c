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

// Report is the contamination report of one run: the drops by bank and tier, and
// the evidence for every dropped row.
type Report struct {
	Schema string       `json:"schema"`
	Rows   int          `json:"rows"`
	Banks  []BankReport `json:"banks"`
	// Ran are the tiers that ran. NotRun is the reason why a requested one did not.
	Ran []Tier `json:"tiers_run"`
	// Literal is the number of problems whose requests were compared word for word only.
	Literal int    `json:"literal_problems,omitempty"`
	NotRun  string `json:"tiers_not_run,omitempty"`
	// Unreadable is the number of rows whose request the lexical tier could not read.
	Unreadable int     `json:"beyond_lexical"`
	Threshold  float64 `json:"threshold"`
	// SameOnly reports that the guard kept near misses: Config.SameOnly.
	SameOnly  bool             `json:"same_only,omitempty"`
	Curve     []CurvePoint     `json:"threshold_curve"`
	Dropped   []DroppedRow     `json:"dropped"`
	Injection *InjectionReport `json:"injection,omitempty"`
	// FalseDrops is the estimate of harmless rows that the lexical tier drops, Honest the result of
	// checking the project's own honest requests.
	FalseDrops FalseDrops    `json:"false_drops"`
	Honest     *HonestReport `json:"honest,omitempty"`
	// NearestKept are the kept rows that are nearest to a protected request, for a person to read.
	NearestKept []KeptRow `json:"nearest_kept"`
}

// KeptRow is a row that was not dropped, with the protected request that is nearest to it.
type KeptRow struct {
	ID      string  `json:"id"`
	HeldOut string  `json:"held_out"`
	Bank    string  `json:"bank"`
	Score   float64 `json:"score"`
}

// maxNearest is the maximum number of rows that a report lists as nearest to being dropped: rows
// that the guard kept, those most similar to a protected request.
const maxNearest = 20

// BankReport counts the rows whose nearest protected problem is in one bank.
type BankReport struct {
	Bank     string `json:"bank"`
	Problems int    `json:"problems"`
	// Found is the number of rows dropped by each tier.
	Found map[Tier]int `json:"dropped_by_tier"`
	// Kept is the number of rows that were not dropped, Nearest the highest score among them and
	// NearestRow the row with this score.
	Kept       int     `json:"kept"`
	Nearest    float64 `json:"nearest_kept_score"`
	NearestRow string  `json:"nearest_kept_row"`
}

// CurvePoint is the number of rows that a threshold would drop.
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

// NewReport returns an empty report on g's banks. The report for a nil Guard has
// none.
func NewReport(g *Guard) *Report {
	r := &Report{Schema: ReportSchema, NearestKept: []KeptRow{}}
	if g == nil {
		return r
	}
	r.Ran = []Tier{TierSpec, TierExact, TierNormalised, TierNgram}
	r.Literal = slicesx.CountFunc(g.bank, func(e *Entry) bool { return e.Literal })
	if r.Literal < len(g.bank) {
		r.Ran = append(r.Ran, TierLexical)
	}
	r.Threshold = g.config.Drop
	r.SameOnly = g.config.SameOnly
	r.FalseDrops = g.falseDrops
	for _, e := range g.bank {
		r.bank(e.Bank).Problems++
	}
	for odds := -6.0; odds <= 2; odds += 0.5 {
		r.Curve = append(r.Curve, CurvePoint{Threshold: math.Round(stats.Logistic(odds)*1e4) / 1e4})
	}
	return r
}

// Protected returns the number of problems that rows were checked against.
func (r *Report) Protected() int {
	n := 0
	for _, bank := range r.Banks {
		n += bank.Problems
	}
	return n
}

// bank returns the report's entry for one bank (a named list of protected problems; several may be
// checked together). It inserts an empty entry if the report has none for this name.
func (r *Report) bank(name string) *BankReport {
	i, ok := slices.BinarySearchFunc(r.Banks, name, func(b BankReport, name string) int {
		return strings.Compare(b.Bank, name)
	})
	if !ok {
		r.Banks = slices.Insert(r.Banks, i, BankReport{
			Bank:  name,
			Found: map[Tier]int{},
		})
	}
	return &r.Banks[i]
}

// Add adds the finding of the row with this id.
func (r *Report) Add(id string, f Finding) {
	r.Rows++
	if f.Unreadable {
		r.Unreadable++
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
		r.bank(f.Bank).addKept(id, f.Score)
		r.addNearest(KeptRow{id, f.Match, f.Bank, f.Score})
	}
}

// addNearest inserts a row into the report's list of those rows that the guard kept and that are
// the most similar to a protected request, if the row is one of the first maxNearest. Of rows with
// equal scores, those with the lower ids are listed.
func (r *Report) addNearest(row KeptRow) {
	i, _ := slices.BinarySearchFunc(r.NearestKept, row, func(a, b KeptRow) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})
	if i < maxNearest {
		r.NearestKept = slices.Insert(r.NearestKept, i, row)
		r.NearestKept = r.NearestKept[:min(len(r.NearestKept), maxNearest)]
	}
}

func (b *BankReport) addKept(id string, score float64) {
	b.Kept++
	isFirst := b.NearestRow == "" || id < b.NearestRow // of equal scores
	if score > b.Nearest || score == b.Nearest && isFirst {
		b.Nearest = score
		b.NearestRow = id
	}
}

// Encode returns the report in the format of reports/leak.json. Rows are sorted
// by id, so that the result does not depend on the order in which they were added.
func (r *Report) Encode() []byte {
	slicesx.SortFunc(r.Dropped, func(a, b DroppedRow) int {
		return strings.Compare(a.ID+"\x00"+a.HeldOut, b.ID+"\x00"+b.HeldOut)
	})
	return encodeIndented(r)
}

// FalseDrops is a leave-one-out estimate of the harmless rows that the guard drops: each protected
// request is checked against the others, like a row that asks for none of them. It is valid for
// rows that resemble the bank's problems.
type FalseDrops struct {
	// Problems is the number of entries with a request, Held the number of them
	// that were checked against the others.
	Problems int `json:"problems"`
	Held     int `json:"held"`
	// Dropped is the number of requests that would be dropped and do not ask for
	// the same.
	Dropped int     `json:"dropped"`
	Share   float64 `json:"share"`
	// Low and High are a 95 % interval of Share.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Threshold is the lexical score from which the guard drops, Limit the share
	// of false drops that it was raised for; 0 if the threshold was configured.
	Threshold float64 `json:"threshold"`
	Limit     float64 `json:"limit,omitempty"`
}

// maxHeld is the maximum number of protected requests that are checked against the other ones to
// estimate how many harmless rows the guard drops. With 1,000 requests, the 95 % interval of a
// share of 2 % is 2.5 points wide.
const maxHeld = 1000

// DefaultMaxFalse is the share of harmless rows that may be dropped. For a bank of 7,500 requests
// of one template, this limit costs one rewording in a hundred.
const DefaultMaxFalse = 0.02

// maxDrop limits how far the guard raises its threshold, the score from 0 to 1 from which it drops
// a row, to drop fewer harmless rows. With a higher threshold, it would miss one rewording in ten.
var maxDrop = stats.Logistic(1)

// estimateFalseDrops sets g.falseDrops to the estimate of harmless rows that the guard drops.
// Unless the threshold was configured, it first raises the threshold (a lexical score, 0 to 1), to
// maxDrop at most, until the share of these rows is at most the limit MaxFalse.
func (g *Guard) estimateFalseDrops(configured bool) {
	scores, problems := g.leaveOneOutScores()
	f := FalseDrops{Problems: problems, Held: len(scores)}
	if !configured && len(scores) > 0 {
		f.Limit = g.config.MaxFalse
		slicesx.SortFunc(scores, func(a, b float64) int {
			return cmp.Compare(b, a)
		})
		allowed := int(f.Limit * float64(len(scores)))
		if allowed < len(scores) && scores[allowed] >= g.config.Drop {
			g.config.Drop = min(math.Nextafter(scores[allowed], 1), maxDrop)
		}
	}
	f.Dropped = slicesx.CountFunc(scores, func(s *float64) bool {
		return *s >= g.config.Drop
	})
	f.Threshold = g.config.Drop
	if f.Held > 0 {
		f.Share = float64(f.Dropped) / float64(f.Held)
		// The interval is that of half as many: requests are dropped in pairs, each
		// for the other.
		interval := stats.Wilson(f.Dropped/2, f.Held/2)
		f.Low = interval.Low
		f.High = interval.High
	}
	g.falseDrops = f
}

// leaveOneOutScores returns how similar harmless requests are to protected ones. It compares up
// to maxHeld protected requests, sampled by a hash, each with the requests of unrelated problems
// only, and returns the highest score, 0 to 1, of each. The score is 0 if the two ask for the same,
// since to drop such a request is no mistake. problems is the number of requests that could be
// sampled; those that are compared only word for word (Literal) are left out.
func (g *Guard) leaveOneOutScores() (scores []float64, problems int) {
	sample := slices.DeleteFunc(g.sample(0, math.MaxInt), func(i int) bool {
		return g.bank[i].Literal
	})
	for _, i := range sample[:min(len(sample), maxHeld)] {
		words, _ := g.index().of(i, "")
		f := words.CheckLeaveOneOut(i, func(j int) bool {
			return g.areRelated(i, j) || g.index().namesOtherThings(i, j)
		})
		if f.Same {
			f.Score = 0
		}
		scores = append(scores, f.Score)
	}
	return scores, len(sample)
}

// sample returns the indices of at most n entries of the bank (the list of protected problems) that
// have a request. Their order is pseudo-random and depends only on seed and the entries.
func (g *Guard) sample(seed uint64, n int) []int {
	var sample []int
	draws := map[int]float64{}
	for i, e := range g.bank {
		if normalised(e.Text) != "" {
			sample = append(sample, i)
			draws[i] = draw(seed, e.ID+"\x00"+strconv.Itoa(i))
		}
	}
	slicesx.SortFunc(sample, func(a, b int) int {
		return cmp.Or(cmp.Compare(draws[a], draws[b]), a-b)
	})
	return sample[:min(len(sample), n)]
}

// areRelated reports whether two entries of the bank (the list of protected problems), i and j, are
// one problem (the same index or specification) or share an item.
func (g *Guard) areRelated(i, j int) bool {
	a := &g.bank[i]
	b := &g.bank[j]
	if i == j || a.Spec != "" && a.Spec == b.Spec {
		return true
	}
	return slices.ContainsFunc(a.ItemIDs, func(id string) bool {
		return slices.Contains(b.ItemIDs, id)
	})
}
