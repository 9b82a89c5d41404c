// Package block stores the results of processing one input file, or several small ones, in a
// folder called a block. A block has an entry for every attempt and every unreadable record, the
// drafts of the attempts that may become training rows, and a marker with the hashes of the
// inputs and the configuration.
package block

import (
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/judges/shop/probe"
)

// Entry is the stored result for one attempt, or for one record that could not be read. For an
// unreadable record, only Fault and the position are set.
type Entry struct {
	// Place is the position of the entry, which a Reader sets. It is not stored.
	Place
	Head
	Found
	// Sample is the input of the filter's second pass, which examines all attempts of an agent
	// on one day.
	Sample habits.Sample
	// Leak is the guard's finding on the attempt, from the block's Findings. It is not stored with
	// the entry.
	Leak guard.Finding
}

// Part is a set of those parts of an entry that are stored separately from its head. Most
// readers need few parts, and decoding a part is expensive.
type Part uint8

// The parts of an entry. PartFound omits the verdicts and features of the attempt's structure,
// PartStructure includes them.
const (
	PartFound Part = 1 << iota
	PartSample
	PartStructure
)

// Found is the set of results of all stages for an attempt.
type Found struct {
	_         struct{} `cbor:",toarray"`
	Structure arena.Structure
	// Rank is the quality of the attempt as a trajectory. Higher is better.
	Rank      float64
	Outcome   arena.Outcome
	Judgement arena.Judgement
	// Shifts has the change of the judge's grade by each probe. It is empty for an attempt that
	// was not sampled for probing.
	Shifts []probe.Shift
	// StepJudgement is the answer of the step judge with the cited passages. StepNeeds counts
	// its verdicts.
	StepJudgement arena.Judgement
	StepNeeds     Needs
	Body          Body
}

// Head is the identity of an attempt and its grade.
type Head struct {
	_ struct{} `cbor:",toarray"`
	// File is the index of the attempt's file among the input files of the block.
	File  int
	Fault *Fault
	// Attempt is the attempt's row of the table attempts, without the columns that are decided
	// later: fate, split, rank, and those of its problem.
	rows.Attempt
	// Agent is the identity of the attempt's agent, as filters.AgentOf returns it.
	Agent string
	// Domain is the name of the attempt's domain. Logged reports whether a gateway logged the
	// attempt.
	Domain string
	Logged bool
	// Reward is the reward that the source declares, nil if it declares none.
	Reward *float64
	// Disputed reports whether another field of the source says the opposite of the reward.
	Disputed bool
	// Query is the SHA-256 of the customer's request. The text of the request is in the problem.
	Query string
	// Problem is the index of the attempt's problem, -1 if it is unknown: among the Sources of the
	// block as it is stored, and among all problems of the run for later steps.
	Problem int
	// Score is the judge's score, nil if there is none. Passage is the text that decided the
	// score.
	Score   *float64
	Passage string
	// Withheld is the score of what logged replies contain of an attempt, if its score is withheld
	// (judges.Ask).
	Withheld *float64
	// Origin is who wrote the attempt's thinking.
	Origin arena.Origin
	// OneIn is the number of attempts that the attempt was drawn from for grading, since it cannot
	// become a row: its grade stands for as many. It is 0 for all other attempts.
	OneIn int
}

// DecidingPassage returns the passage that decided the attempt's grade, with what identifies its
// problem: the request is a hash, empty if there is none.
func (h *Head) DecidingPassage() frames.Passage {
	p := frames.Passage{Agent: h.Agent, Problem: h.ProblemID, Request: h.Query, Text: h.Passage}
	if h.Query == digest.SHA256(nil) {
		p.Request = ""
	}
	if h.RunDate != nil {
		p.Day = time.UnixMilli(*h.RunDate).UTC().Format(time.DateOnly)
	}
	return p
}

// Fault is the reason why a record could not be read.
type Fault struct {
	Reason string
	Detail string
	// Cut reports whether the file ended before the end of the record.
	Cut bool
}

// Needs has the number of verdicts on steps, by verdict.
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

// Draft is a training row before it is written: the rendered attempt without its reward,
// multiplier, split and origin.
type Draft struct {
	_ struct{} `cbor:",toarray"`
	rows.Scalars
	Messages []string
	// Tools are the tools of the attempt's source. It is empty if the row gets the tools of the
	// configured harness.
	Tools    []string
	Metadata string
	Goal     string
	// Verdicts has one verdict for every message of the model. It is empty if the step judge was
	// not asked or did not answer.
	Verdicts []arena.StepVerdict
}

// Size returns the size of the draft's texts in bytes. Corpora are divided into shards by this
// size, which does not depend on how drafts are stored.
func (d *Draft) Size() int64 {
	n := len(d.Metadata) + len(d.Goal)
	for _, m := range d.Messages {
		n += len(m)
	}
	return int64(n)
}

// Body is the position of an attempt's draft in the file of drafts, with properties of its text.
type Body struct {
	_      struct{} `cbor:",toarray"`
	Offset int64
	// Packed is the stored size in bytes, 0 if there is no draft.
	Packed int64
	// Bytes is the size of the draft's texts, 0 if there is no draft.
	Bytes int64
	// CRC is the checksum (CRC-32C) of the stored draft.
	CRC uint32
	// Tokens is the length of the rendered text, by the token counter of the corpus.
	Tokens int
	// Signature is the MinHash signature of the texts that the model wrote.
	Signature minhash.Packed
}
