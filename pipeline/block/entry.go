// Package block keeps the work on one input file, or on several small ones: an entry for every attempt
// and fault read from it, the drafts of those that may become training rows,
// and a marker that says from what and by which configuration it was made.
package block

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/judges/probe"
)

// Entry is what is kept of one attempt, or of one record that could not be
// read (Fault set, all but where it stood empty).
type Entry struct {
	// Place is where a Reader found the entry; it is not stored.
	Place
	Head
	Found
	// Sample is what the filter's second pass over an agent's day needs.
	Sample habits.Sample
}

// Part is a part of an entry beside its head, stored by itself: most walks over a
// block need a few of them, and to decode one costs more than all else that a walk does.
type Part uint8

// The parts of an entry. PartFound leaves out the verdicts and features of the
// structure, PartStructure has them.
const (
	PartFound Part = 1 << iota
	PartSample
	PartStructure
)

// Found is what the stages say of an attempt.
type Found struct {
	_         struct{} `cbor:",toarray"`
	Structure arena.Structure
	// Rank is the attempt's quality as trajectory, higher is better.
	Rank      float64
	Outcome   arena.Outcome
	Judgement arena.Judgement
	// Shifts is how far each probe moved the judge; empty for an attempt that
	// was not drawn.
	Shifts []probe.Shift
	// StepJudgement is what the step judge answered, with its passages;
	// StepNeeds counts its verdicts.
	StepJudgement arena.Judgement
	StepNeeds     Needs
	// Leak is what the guard found in the attempt.
	Leak guard.Finding
	Body Body
}

// Head is who made an attempt, and its grade.
type Head struct {
	_ struct{} `cbor:",toarray"`
	// File is the position of the attempt's file among those of the block.
	File  int
	Fault *Fault
	// Attempt is its row of the ledger, but for what is decided of it later: fate,
	// split, rank, and what its problem says.
	rows.Attempt
	// Agent is the name by which the filter knows its agent.
	Agent string
	// Query is the sha256 of the request; its text is the problem's.
	Query string
	// Problem is the position of the attempt's problem in the day's problems;
	// -1 where the day has none for it.
	Problem int
	// Score is the judge's, nil where it gave none; Passage is what decided it.
	Score   *float64
	Passage string
}

// Fault is why a record could not be read.
type Fault struct {
	Reason string
	Detail string
	// Cut reports whether the file ended early.
	Cut bool
}

// Needs counts verdicts on steps.
type Needs struct {
	Needed  int `json:"needed"`
	Waste   int `json:"waste"`
	Unclear int `json:"unclear"`
}

// Add counts one verdict.
func (n *Needs) Add(v arena.Need) {
	switch v {
	case arena.StepNeeded:
		n.Needed++
	case arena.StepWaste:
		n.Waste++
	case arena.StepUnclear:
		n.Unclear++
	}
}

// Plus is the sum of both.
func (n Needs) Plus(o Needs) Needs {
	return Needs{n.Needed + o.Needed, n.Waste + o.Waste, n.Unclear + o.Unclear}
}

// Draft is a row on its way: what is known of an attempt once it was rendered.
// Tools are the harness's; reward, multiplier, split and origin are decided when
// the row is written.
type Draft struct {
	_ struct{} `cbor:",toarray"`
	rows.Scalars
	Messages []string
	// Tools are the row's own, of an attempt that brought them along; empty for the
	// harness of the run.
	Tools    []string
	Metadata string
	Goal     string
	// Verdicts are on every message of the model, where they were wanted and given.
	Verdicts []arena.StepVerdict
}

// Size is that of the texts in bytes, by which corpora are cut into shards: no
// way of storing them shows in it.
func (d *Draft) Size() int64 {
	n := len(d.Metadata) + len(d.Goal)
	for _, m := range d.Messages {
		n += len(m)
	}
	return int64(n)
}

// Body says where the attempt's draft lies in the block's bodies; Packed is 0 where no file of a
// corpus will hold it. Bytes is the size of its texts, 0 for an attempt that cannot become a training row.
type Body struct {
	_      struct{} `cbor:",toarray"`
	Offset int64
	Packed int64
	Bytes  int64
	// CRC is the checksum (CRC-32C) of the packed body.
	CRC uint32
	// Tokens is the length of the rendered text as its counter has it.
	Tokens int
	// Signature is the MinHash signature of what the model did and said.
	Signature minhash.Packed
}
