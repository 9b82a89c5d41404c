// Package records compares the records of all inputs with each other: which are copies, which
// replies, dialogues and passages several attempts share, what is typical of their agents, and how
// the judge graded their runs.
package records

import (
	"context"

	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
)

// Comparison compares the records of all inputs, in rounds of a job.
type Comparison struct {
	*shuffle.Job
	Filter *filters.Filter
	// Inputs is the number of inputs.
	Inputs int
	// Entries calls visit for every entry of the inputs in a partition, with these parts of it.
	Entries func(ctx context.Context, part int, parts block.Part, visit Visit) error
	// IsRecorded reports whether attempts are taken as they were recorded: then they are compared as
	// copies only.
	IsRecorded bool
	// NeedsRuns reports whether the grades of runs are summed.
	NeedsRuns bool

	// Agents are the habits of the agents over all their attempts, by the agent's identity. Compare
	// sets them, and what follows.
	Agents map[string]*habits.Agent
	// Flags have the similarity of the passages of each agent, by which its thinking is flagged.
	Flags []frames.Flag
	// Runs are the sums of the judge's grades of the runs by run ID, nil if they are not summed.
	Runs map[string]multiplier.Quality

	// copies says, by input and entry, which records are copies of an attempt that is read elsewhere
	// too. A list may be too short: what it lacks is original.
	copies [][]Copy
	// index has the replies, dialogues and items that several attempts share.
	index habits.Index
}

// The streams of records that the rounds write.
const (
	// idStream has the trace IDs, by ID. traitStream has the replies and dialogues, by their hash.
	// sampleStream has what the filter recorded of each attempt, by agent. gradeStream has the judge's
	// grades, by run.
	idStream = iota
	traitStream
	sampleStream
	gradeStream
	// keyStream has the passages on which grades rest, by the keys by which they are compared, and
	// markStream the attempts whose passages others have, by agent.
	keyStream
	markStream
	// copyStream has the records that are copies, and sharedStream the replies and dialogues that
	// several attempts share.
	copyStream
	sharedStream
	// oddsStream has the filter's evidence on who made the calls of each attempt, by input. It is from
	// all attempts of the agent. agentStream, flagStream and runStream have the habits of the agents,
	// the similarity of their passages, and the sums of the grades of the runs.
	oddsStream
	agentStream
	flagStream
	runStream
	// habitStream has hashes of the habits of the agents of each input.
	habitStream
	// Streams is the number of the streams: later rounds of the job write further ones.
	Streams
)

// Compare runs the rounds of the comparison. Each of them reads what earlier ones wrote.
func (c *Comparison) Compare(ctx context.Context) error {
	c.copies = make([][]Copy, c.Inputs)
	c.index = habits.NewIndex()
	c.Agents = map[string]*habits.Agent{}
	for _, round := range []struct {
		name string
		work shuffle.Work
		// load reads what all workers of later rounds need.
		load func() error
	}{
		{"read", c.read, nil},
		{"copies", c.findCopies, c.loadCopies},
		{"shared", c.findShared, c.loadShared},
		{"passages", c.comparePassages, nil},
		{"habits", c.addHabits, c.loadHabits},
		{"runs", c.sumGrades, c.loadRuns},
	} {
		err := c.Round(ctx, round.name, round.work)
		if err == nil && round.load != nil {
			err = round.load()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads the stored results of the inputs in a partition, and writes what is compared between
// attempts.
func (c *Comparison) read(ctx context.Context, part int, out *shuffle.Store) error {
	var packed []byte
	return c.Entries(ctx, part, block.PartSample, func(pos Position, x *block.Entry) error {
		if x.Fault != nil {
			return nil
		}
		addID(pos, x, x.TraceID, out)
		if c.IsRecorded { // equal records are copies whatever their files name them; nothing is measured
			addID(pos, x, "record "+x.RecordSHA256, out)
			return nil
		}
		for _, t := range x.Sample.Traits(x.Agent) {
			out.Add(traitStream, int(t.Hash()%shuffle.Partitions), func(b []byte) []byte { //nolint:gosec // less than Partitions
				return t.Append(pos.Append(b))
			})
		}
		packed = x.Sample.Append(packed[:0])
		passage := x.DecidingPassage()
		if !x.HasDialogue {
			passage.Text = ""
		}
		out.Add(sampleStream, shuffle.PartitionOf(x.Agent), func(b []byte) []byte {
			return habits.AppendText(appendPassage(pos.Append(b), &passage), packed)
		})
		addKeys(pos, &passage, out)
		if c.NeedsRuns {
			addGrade(pos, x, out)
		}
		return nil
	})
}

// Partition returns the partition of an input.
func (c *Comparison) Partition(pos Position) int { return shuffle.RangeOf(pos.Input, c.Inputs) }

// Each calls visit until all records of a partition of a stream are read.
func (c *Comparison) Each(stream, part int, visit func(u *habits.Unpacker)) error {
	b, err := c.Records(stream, part)
	if err != nil {
		return err
	}
	u := habits.NewUnpacker(b)
	for u.More() {
		visit(u)
	}
	return u.Err()
}

// All calls visit until all records of a stream are read.
func (c *Comparison) All(stream int, visit func(u *habits.Unpacker)) error {
	for part := range shuffle.Partitions {
		if err := c.Each(stream, part, visit); err != nil {
			return err
		}
	}
	return nil
}
