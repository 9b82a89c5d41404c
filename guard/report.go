package guard

import (
	"math"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/guard/lexical"
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
		r.Curve = append(r.Curve, CurvePoint{Threshold: math.Round(lexical.Logistic(odds)*1e4) / 1e4})
	}
	return r
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
		r.bank(f.Bank).keep(id, f.Score)
	}
}

func (b *BankReport) keep(id string, score float64) {
	b.Kept++
	if score > b.Nearest || score == b.Nearest && (b.NearestRow == "" || id < b.NearestRow) {
		b.Nearest, b.NearestRow = score, id
	}
}

// Encode returns the report as reports/leak.json holds it. Rows are ordered by
// id, so that the parts of a run may come in any order.
func (r *Report) Encode() ([]byte, error) {
	slices.SortFunc(r.Dropped, func(a, b DroppedRow) int {
		return strings.Compare(a.ID+"\x00"+a.HeldOut, b.ID+"\x00"+b.HeldOut)
	})
	return encoded("leak report", r)
}
