// Package arena holds the border types of the project: what one attempt of a
// shopping agent is once it has been read (Trace, Dialogue), what it was asked
// (Problem), and what the stages of a run say about it (Structure,
// Outcome, Judgement). Every other package speaks to its neighbours in these
// types and in no others; this package imports none of them.
package arena

// Record is one attempt on its way through a run. Each field has exactly one
// writer: the stage it is named after. Trace is immutable once it was read.
type Record struct {
	Trace     *Trace
	Dialogue  Dialogue
	Structure Structure
	Outcome   Outcome
	Judgement Judgement
}
