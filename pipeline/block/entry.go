// Package block stores the result of the map step for one input file, or for
// several small ones: an entry for every attempt and every unreadable record, the
// drafts of the attempts that may become training rows, and a marker with the
// hashes of the inputs and the configuration that the block was made from.
package block

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/judges/probe"
)

// Entry is the stored result for one attempt, or for one record that could not
// be read. For the latter, Fault is set, and besides it only the position of the
// record.
type Entry struct {
	// Place is the entry's position, set by a Reader. It is not stored.
	Place
	Head
	Found
	// Sample is the input of the filter's second pass, over an agent's whole day.
	Sample habits.Sample
}

// Part is a set of the parts of an entry that are stored separately from its head.
// Most walks over a block need few of them, and decoding one costs more than the
// rest of the walk.
type Part uint8

// The parts of an entry. PartFound omits the verdicts and features of the
// structure, PartStructure includes them.
const (
	PartFound Part = 1 << iota
	PartSample
	PartStructure
)

// Found holds the results of the stages for an attempt.
type Found struct {
	_         struct{} `cbor:",toarray"`
	Structure arena.Structure
	// Rank is the attempt's quality as a trajectory; higher is better.
	Rank      float64
	Outcome   arena.Outcome
	Judgement arena.Judgement
	// Shifts holds how far each probe moved the judge's grade. It is empty for an attempt that was
	// not sampled for probing.
	Shifts []probe.Shift
	// StepJudgement is the answer of the step judge, with its passages, and
	// StepNeeds the counts of its verdicts.
	StepJudgement arena.Judgement
	StepNeeds     Needs
	// Leak is the guard's finding on the attempt.
	Leak guard.Finding
	Body Body
}

// Head holds the identity of an attempt and its grade.
type Head struct {
	_ struct{} `cbor:",toarray"`
	// File is the index of the attempt's file among the files of the block.
	File  int
	Fault *Fault
	// Attempt is the attempt's row of the ledger, without the columns that are
	// decided later: fate, split, rank, and those of its problem.
	rows.Attempt
	// Agent is the filter's name for the attempt's agent.
	Agent string
	// Domain is the name of the attempt's domain, and Logged reports whether a gateway kept a log
	// of the attempt.
	Domain string
	Logged bool
	// Reward is the reward that the source declares, nil if it declares none.
	Reward *float64
	// Query is the sha256 of the request; the problem has its text.
	Query string
	// Problem is the index of the attempt's problem in the day's problems, -1 if
	// the day has none for it.
	Problem int
	// Score is the judge's score, nil if it gave none, and Passage the text that
	// decided it.
	Score   *float64
	Passage string
}

// Fault is the reason why a record could not be read.
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

// Plus returns the sum of n and m.
func (n Needs) Plus(m Needs) Needs {
	return Needs{n.Needed + m.Needed, n.Waste + m.Waste, n.Unclear + m.Unclear}
}

// Draft is a training row before the write step: the rendered attempt without its
// reward, multiplier, split and origin.
type Draft struct {
	_ struct{} `cbor:",toarray"`
	rows.Scalars
	Messages []string
	// Tools are the tools that the attempt itself declared. It is empty if the row
	// has the tools of the run's harness.
	Tools    []string
	Metadata string
	Goal     string
	// Verdicts has one verdict for every message of the model, or none if the step
	// judge was not asked or gave no answer.
	Verdicts []arena.StepVerdict
}

// Size returns the size of the draft's texts in bytes. Corpora are divided into shards by this
// size, so that the division does not depend on how drafts are stored.
func (d *Draft) Size() int64 {
	n := len(d.Metadata) + len(d.Goal)
	for _, m := range d.Messages {
		n += len(m)
	}
	return int64(n)
}

// Body holds the position of the attempt's draft among the block's bodies and the
// measures of its text.
type Body struct {
	_      struct{} `cbor:",toarray"`
	Offset int64
	// Packed is the stored size in bytes, 0 if no file of a corpus will hold the draft.
	Packed int64
	// Bytes is the size of the draft's texts, 0 for an attempt that cannot become a
	// training row.
	Bytes int64
	// CRC is the checksum (CRC-32C) of the packed body.
	CRC uint32
	// Tokens is the length of the rendered text by the corpus's token counter.
	Tokens int
	// Signature is the MinHash signature of the model's output.
	Signature minhash.Packed
}
