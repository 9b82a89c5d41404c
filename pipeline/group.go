package pipeline

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/records"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
)

// grouper runs the group step, which decides on every record whether it is kept, and selects the
// training rows. It works in rounds (shuffle.Job). The records of each round are in partitions by
// what they are about: the input or the problem. Each worker has one partition in memory.
type grouper struct {
	*records.Comparison
	session *session
	weights *weights
}

// The streams of records that the rounds after the comparison write.
const (
	// decisionStream has the decision on each record before the ranking, by input. candidateStream has
	// the attempts that may become rows, by problem. fileStream has the number of records of each
	// trace file, by input. countStream and tallyStream have other counts.
	decisionStream = records.Streams + iota
	candidateStream
	fileStream
	countStream
	tallyStream
	// rankStream has the decisions of the ranking, by input, and selectionStream the rows of each
	// problem, by problem.
	rankStream
	selectionStream
	// lineStream has the lines of the plan's file, by input, and funnelStream how many records each
	// stage dropped.
	lineStream
	funnelStream
)

// run runs all rounds of the group step. Each of them reads what earlier ones wrote.
func (g *grouper) run(ctx context.Context) error {
	err := g.Compare(ctx)
	g.weights = g.session.weights(g.Runs, g.Flags)
	if err == nil {
		err = g.Round(ctx, "decisions", g.decide)
	}
	if err == nil {
		err = g.Round(ctx, "ranks", g.rankProblems)
	}
	if err == nil {
		err = g.Round(ctx, "lines", g.makeLines)
	}
	return err
}

// eachEntryIn calls visit for every entry of the inputs in a partition, as eachEntry does.
func (s *session) eachEntryIn(ctx context.Context, part int, parts block.Part, visit records.Visit) error {
	first, end := shuffle.Range(part, len(s.inputs))
	for i := first; i < end; i++ {
		if err := s.eachEntryOf(ctx, i, parts, visit); err != nil {
			return err
		}
	}
	return nil
}

// maxSamples is the maximum size in bytes of the records that one round of the group step keeps in
// memory. It suffices for some 20,000 attempts.
const maxSamples = 16 << 20

// group runs the group step, which decides on every record, and stores the result, the plan. It
// removes the data files that were written for earlier plans, and the pieces of blocks that were not
// finished.
func (s *session) group(ctx context.Context, pieces int) (*plan, error) {
	return s.groupWithin(ctx, pieces, maxSamples)
}

// groupWithin runs the group step like group. At most limit bytes of the records of a round are in
// memory. If there are several pieces, other processes may run the step at once, and share the work.
func (s *session) groupWithin(ctx context.Context, pieces, limit int) (*plan, error) {
	key, err := s.planKey()
	if err != nil {
		return nil, err
	}
	job := &shuffle.Job{
		FS:   s.FS,
		Area: s.staging,
		Dir: filepath.Join(
			s.Work,
			groupFolder,
			finish.Digest("arena.group.v2", key, strconv.Itoa(pieces))[:16],
		),
		Pieces:  pieces,
		Workers: s.Config.Workers,
		Limit:   limit,
		IsDone:  func() bool { return s.hasPlan(key) },
	}
	if pieces == 1 || !job.IsDone() {
		err = s.runGroup(ctx, job, key)
	}
	isDone := pieces > 1 && job.IsDone()
	if isDone { // another process may have removed what this one needed
		err = s.FS.RemoveAll(job.Dir)
		if errors.Is(err, fs.ErrExist) {
			err = nil // a process that has just added a file finds the plan, and then removes the folder
		}
	}
	if err == nil {
		s.plan, err = s.readPlan()
	}
	if err == nil && isDone { // a process may have been killed before it removed it
		err = s.removeUnneeded(s.plan)
	}
	if errors.Is(err, shuffle.ErrDamaged) { // the next run makes it again
		err = errors.Join(err, s.FS.RemoveAll(job.Dir), s.removePlan(key))
	}
	return s.plan, err
}

// runGroup runs the rounds of the group step and stores the plan.
func (s *session) runGroup(ctx context.Context, job *shuffle.Job, key string) error {
	g := &grouper{session: s, Comparison: &records.Comparison{
		Job:        job,
		Filter:     s.filter,
		Inputs:     len(s.inputs),
		Entries:    s.eachEntryIn,
		IsRecorded: s.Config.Recorded,
		NeedsRuns:  s.Config.Multiplier.NeedsRuns(),
	}}
	err := g.run(ctx)
	if err == nil {
		err = job.Finish(ctx, func() error {
			return g.finish(ctx, key)
		})
	}
	return errors.Join(err, job.Close())
}
