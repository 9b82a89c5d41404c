// Package habits examines all attempts that one agent made on one day. It measures how much the
// agent's calls depend on results, and whether its text and answers are from another source.
// Each file has habits or proofs with all that they count. They are listed in list.go.
package habits

import (
	"math"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Sample contains what the second pass, over all attempts of an agent on one day, needs to know
// of one attempt. It has counts and hashes, no text, and at most a few kilobytes. The names of
// its fields are part of its version.
type Sample struct {
	_ struct{} `cbor:",toarray"`
	// Score is the log-odds of the first pass. Evidence reports whether the score can decide the
	// axis.
	Score    float64
	Open     Open
	Evidence bool
	Axis     arena.Axis
	// Silent reports whether the attempt has a log that does not decide who made the calls, so
	// that the model may have made them.
	Silent bool
	// Tallies and Marks are the attempt's part of each count. They have the order of ratioCounts
	// and modeCounts.
	Tallies []Ratio
	Marks   [][]Mark
	// Taken has hashes of the committed items that results contained, Unseen of those that
	// no result contained, together at most maxTaken. Invented counts the items in calls that
	// no earlier result contained but a reply of the model did.
	Taken    []uint64
	Unseen   []uint64
	Invented int
	// Replies are hashes of the logged replies. Begun is the time of the first reply in Unix
	// milliseconds. Dialogue is a hash of the thoughts and calls, 0 if they do not identify an
	// author.
	Replies  []uint64
	Begun    int64
	Dialogue uint64
	// Use is set only in domains whose adaptivity has the formula use_v1.
	Use Use
}

// Open is how far the undecided part of a log could raise (Rise) or lower (Fall) the log-odds
// that the model made the calls. Neither is negative.
type Open struct {
	_    struct{} `cbor:",toarray"`
	Rise float64  `json:"rise,omitempty"`
	Fall float64  `json:"fall,omitempty"`
}

// couldTurn reports whether the decision could be another one if the unreadable part of the log
// were known. score is the log-odds that the model made the calls: positive for the model, negative
// for a program. It could turn if that part can bring it to 0 or change its sign.
func (o Open) couldTurn(score float64) bool {
	return score <= 0 && score+o.Rise >= 0 || score >= 0 && score-o.Fall <= 0
}

// SampleOf returns the sample of an attempt. The other arguments are the results of the first
// pass.
func SampleOf(
	a *evidence.Attempt,
	score float64,
	open Open,
	decides bool,
	axis arena.Axis,
) Sample {
	isOpen := !decides || open.couldTurn(score)
	s := Sample{
		Score:    score,
		Open:     open,
		Evidence: decides,
		Axis:     axis,
		Silent:   isOpen && !a.ClocksDiffer && a.Log.Present && a.CallTurns > 0,
		Invented: a.InventedNamed,
		Tallies:  make([]Ratio, len(ratioCounts)),
		Marks:    make([][]Mark, len(modeCounts)),
	}
	for i, c := range ratioCounts {
		s.Tallies[i] = c.ratio(a)
	}
	for i, c := range modeCounts {
		s.Marks[i] = c.marks(a)
	}
	s.addAnswer(a)
	s.Replies, s.Begun = a.Log.ReplyHashes()
	s.Dialogue = hashDialogue(a)
	return s
}

// Ratio is a counted share: Part of Whole cases.
type Ratio struct {
	_     struct{} `cbor:",toarray"`
	Part  int
	Whole int
}

// Share returns Part / Whole, or NaN if nothing was counted.
func (r Ratio) Share() float64 {
	if r.Whole == 0 {
		return math.NaN()
	}
	return float64(r.Part) / float64(r.Whole)
}

// Interval returns the 95 % interval of the share (Wilson 1927): 0 to 1 if nothing was counted.
func (r Ratio) Interval() (lo, hi float64) {
	w := stats.Wilson(r.Part, r.Whole)
	return w.Low, w.High
}

// add counts one case in r.Whole, and in r.Part too if isPart is true.
func (r *Ratio) add(isPart bool) {
	r.Whole++
	if isPart {
		r.Part++
	}
}

// Mark is one case, such as a search, reduced to two hashes. Cases of the same Group are
// compared with each other: the share of the most frequent Value is counted. Value is 0 if the
// case has no value to compare.
type Mark struct {
	_     struct{} `cbor:",toarray"`
	Group uint64
	Value uint64
}
