package corpora

import "fmt"

// PairSummary says of preference pairs what a reader must know before training
// on them: what they differ in and by how much in length. The zero value is
// empty.
type PairSummary struct {
	Pairs    int64
	ByReason map[string]int64
	margin   float64
	chosen   int64
	rejected int64
}

// Add takes a pair in.
func (s *PairSummary) Add(p *Pref) {
	if s.ByReason == nil {
		s.ByReason = map[string]int64{}
	}
	s.Pairs++
	s.ByReason[p.Reason]++
	s.margin += p.Margin
	s.chosen += p.ChosenTokens
	s.rejected += p.RejectedTokens
}

// LengthGap is the mean of chosen minus rejected tokens; positive where longer
// attempts are preferred. 0 without pairs.
func (s *PairSummary) LengthGap() float64 {
	return float64(s.chosen-s.rejected) / float64(max(s.Pairs, 1))
}

// Section is the card's text on the pairs.
func (s *PairSummary) Section() Section {
	n := float64(max(s.Pairs, 1))
	return Section{Heading: "Pairs", Body: fmt.Sprintf(
		"%d pairs on one problem and in one harness each (%s), mean margin %.3f. Chosen attempts have %.0f tokens on average, rejected %.0f: a gap of %+.0f, from which a trainer may learn length alone.",
		s.Pairs, Tallies(s.ByReason), s.margin/n, float64(s.chosen)/n, float64(s.rejected)/n, s.LengthGap())}
}
