package corpus

import (
	"fmt"

	"github.com/trajectory-arena/arena/corpus/rows"
)

// PairSummary says of preference pairs what a reader must know before training
// on them: what they differ in and by how much in length. The zero value is
// empty; summaries of the parts of a corpus add up.
type PairSummary struct {
	Pairs    int64            `json:"pairs"`
	ByReason map[string]int64 `json:"by_reason"`
	// Margin, ChosenTokens and RejectedTokens are sums over the pairs.
	Margin         float64 `json:"margin"`
	ChosenTokens   int64   `json:"chosen_tokens"`
	RejectedTokens int64   `json:"rejected_tokens"`
}

// Add takes a pair in.
func (s *PairSummary) Add(p *rows.Pref) {
	s.Merge(&PairSummary{
		Pairs: 1, ByReason: map[string]int64{p.Reason: 1},
		Margin: p.Margin, ChosenTokens: p.ChosenTokens, RejectedTokens: p.RejectedTokens,
	})
}

// Merge takes the pairs of another summary in.
func (s *PairSummary) Merge(o *PairSummary) {
	if s.ByReason == nil {
		s.ByReason = map[string]int64{}
	}
	for reason, n := range o.ByReason {
		s.ByReason[reason] += n
	}
	s.Pairs += o.Pairs
	s.Margin += o.Margin
	s.ChosenTokens += o.ChosenTokens
	s.RejectedTokens += o.RejectedTokens
}

// LengthGap is the mean of chosen minus rejected tokens; positive where longer
// attempts are preferred. 0 without pairs.
func (s *PairSummary) LengthGap() float64 {
	return float64(s.ChosenTokens-s.RejectedTokens) / float64(max(s.Pairs, 1))
}

// Section is the card's text on the pairs.
func (s *PairSummary) Section() Section {
	n := float64(max(s.Pairs, 1))
	return Section{Heading: "Pairs", Body: fmt.Sprintf(
		"%d pairs on one problem and in one harness each (%s), mean margin %.3f. Chosen attempts have %.0f tokens on average, rejected %.0f: a gap of %+.0f, from which a trainer may learn length alone.",
		s.Pairs, Tallies(s.ByReason), s.Margin/n, float64(s.ChosenTokens)/n, float64(s.RejectedTokens)/n, s.LengthGap())}
}
