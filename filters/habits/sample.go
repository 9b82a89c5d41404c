// Package habits measures one agent's day: how far its calls depend on what came
// back, and whether its words and answers came from elsewhere. A file holds
// habits, or proofs, with all that they count.
package habits

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Sample is what the second pass needs to know of one attempt: counts and
// hashes, no text, at most a few kilobytes.
type Sample struct {
	_ struct{} `cbor:",toarray"`
	// Score is the log-odds of the first pass; Evidence whether it decides.
	Score    float64
	Evidence bool
	Axis     arena.Axis
	// Silent reports whether the attempt has a log in which nothing decides.
	Silent bool
	// Tallies and Marks are what the attempt adds to each count, in the order in
	// which the counts are declared.
	Tallies []Ratio
	Marks   [][]Mark
	// Taken are hashes of the recommended products that results held, Unseen of
	// those that none did; at most maxTaken of each. Invented counts products that
	// replies named although no result held them.
	Taken    []uint64
	Unseen   []uint64
	Invented int
	// Replies are hashes of the log's replies by id, Begun when the first of them came,
	// in Unix milliseconds. Dialogue is a hash of the thoughts and calls.
	Replies  []uint64
	Begun    int64
	Dialogue uint64
}

// SampleOf is what the second pass needs of an attempt, whose first pass ended so.
func SampleOf(a *evidence.Attempt, score float64, decides bool, axis arena.Axis) Sample {
	s := Sample{
		Score: score, Evidence: decides, Axis: axis, Silent: !decides && !a.ClocksApart && a.Log.Present && a.CallTurns > 0, Invented: a.InventedNamed,
		Tallies: make([]Ratio, len(tallies)), Marks: make([][]Mark, len(marks)),
	}
	for i := range tallies {
		s.Tallies[i] = tallies[i].tally(a)
	}
	for i := range marks {
		s.Marks[i] = marks[i].marks(a)
	}
	s.answer(a)
	s.Replies, s.Begun = a.Log.Inferences()
	s.Dialogue = dialogue(a)
	return s
}

// Ratio is a counted share with its interval.
type Ratio struct {
	_           struct{} `cbor:",toarray"`
	Part, Whole int
}

// Share is NaN where nothing was counted.
func (t Ratio) Share() float64 { return evidence.Share(t.Part, t.Whole) }

// Interval is the 95 % interval of the share (Wilson 1927); 0 to 1 where nothing
// was counted.
func (t Ratio) Interval() (lo, hi float64) {
	w := stats.Wilson(t.Part, t.Whole)
	return w.Low, w.High
}

func (t *Ratio) add(part bool) {
	t.Whole++
	t.Part += int(evidence.Flag(part))
}

// Mark is one way of doing a thing, among those that can be compared with it.
// Without a value it is of no kind.
type Mark struct {
	_            struct{} `cbor:",toarray"`
	Group, Value uint64
}
