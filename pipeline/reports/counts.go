package reports

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/traces"
)

// Counts counts the records of a run.
type Counts struct {
	Replies
	// Refused counts the records in unsupported formats, by the name of the format.
	Refused map[string]int64 `json:"refused"`
	// Domains has what the sources state of the attempts, by domain.
	Domains map[string]*Stated `json:"stated"`
	// Unread are the first records that could not be read.
	Unread []Unread `json:"unread,omitempty"`
	// NotMeasured counts the attempts that the judge would have graded if it had been measured on
	// their domain.
	NotMeasured int64 `json:"not_measured,omitempty"`
	// Drawn and NotAsked count the attempts that cannot become rows by whether they were drawn for
	// grading.
	Drawn    int64 `json:"drawn,omitempty"`
	NotAsked int64 `json:"not_asked,omitempty"`
	// Collisions counts the attempts with the ID of another attempt of other content.
	Collisions int64 `json:"collisions,omitempty"`
	// Undecided counts the attempts whose grade is withheld (judges.Ask).
	Undecided int64 `json:"thinking_undecided,omitempty"`
	// Tallies count scored attempts and successes, by problem.
	Tallies []rows.Tally `json:"tallies"`
}

// Unread is a record that could not be read: the index of its input, that of its file in the input, and
// its line.
type Unread struct {
	Input  int    `json:"input"`
	File   int    `json:"file"`
	Line   int64  `json:"line"`
	Reason string `json:"reason"`
	Detail string `json:"detail"`
}

// maxUnread is the maximum number of unreadable records that are named.
const maxUnread = 5

// NewCounts returns counts for a number of problems.
func NewCounts(problems int) Counts {
	return Counts{
		Tallies: make([]rows.Tally, problems),
		Domains: map[string]*Stated{},
		Refused: map[string]int64{},
	}
}

// AddFault adds a record of an input that could not be read.
func (c *Counts) AddFault(input int, x *block.Entry) {
	if x.Fault.Reason == string(traces.UnsupportedSchema) {
		c.Refused[x.Fault.Detail]++
	}
	if len(c.Unread) < maxUnread {
		c.Unread = append(c.Unread, Unread{input, x.File, x.SourceLine, x.Fault.Reason, x.Fault.Detail})
	}
}

// AddAttempt adds an attempt to the counts of its domain (kind of task) and of the judges' answers.
// A scored attempt also counts in the tally (attempts and successes) of its problem, whether a model
// or a program made its calls.
func (c *Counts) AddAttempt(x *block.Entry) {
	stated := Stated{Attempts: 1, Low: x.Reward, High: x.Reward}
	if x.Reward == nil {
		stated.Unstated = 1
	}
	if x.Outcome.Success {
		stated.Solved = 1
	}
	if x.Disputed {
		stated.Disputed = 1
	}
	if x.Model != nil {
		stated.Models = map[string]int64{*x.Model: 1}
	}
	c.stated(x.Domain).Merge(&stated)
	c.Count(x.Judgement.Outcome, x.StepJudgement.Outcome)
	if x.OneIn > 0 {
		c.Drawn++
	}
	if x.Judgement.Outcome == arena.JudgeNotAsked {
		c.NotAsked++
	}
	if x.Judgement.Outcome == arena.JudgeUndecided {
		c.Undecided++
	}
	if x.Problem < 0 || !x.Outcome.Scored() {
		return
	}
	tally := &c.Tallies[x.Problem]
	tally.Attempts++
	if x.Outcome.Success {
		tally.Successes++
	}
}

// stated returns the counts of a domain.
func (c *Counts) stated(domain string) *Stated {
	if c.Domains[domain] == nil {
		c.Domains[domain] = &Stated{}
	}
	return c.Domains[domain]
}

// Merge adds the counts of o to c, except the tallies.
func (c *Counts) Merge(o *Counts) {
	c.Replies.Merge(o.Replies)
	for format, n := range o.Refused {
		c.Refused[format] += n
	}
	for name, stated := range o.Domains {
		c.stated(name).Merge(stated)
	}
	c.Unread = append(c.Unread, o.Unread[:min(len(o.Unread), maxUnread-len(c.Unread))]...)
	c.NotMeasured += o.NotMeasured
	c.Drawn += o.Drawn
	c.NotAsked += o.NotAsked
	c.Undecided += o.Undecided
	c.Collisions += o.Collisions
}
