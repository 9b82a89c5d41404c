package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/judges/shop/probe"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/reports"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
)

// Run is one build of one corpus.
type Run struct {
	Config Config
	// Instruments are recorded in the manifest.
	Instruments Instruments
	// Domains are the domains among which the attempts are.
	Domains *domain.Set
	Sources Sources
	// Out is the folder of the corpus, and Work the folder of its blocks and parts.
	Out  string
	Work string
	// Version is the program's version, written into every row.
	Version string
	// Program identifies the build of the program. The rules of two builds may differ though their
	// version is the same, so a build makes the work of another one again.
	Program string
	// Harness is the system prompt and the tools of training rows. It is not used if attempts are taken
	// as they were recorded.
	Harness arena.Harness
	Judge   judges.Judge
	// StepJudge labels steps if Config.Steps is set.
	StepJudge judges.StepJudge
	Titles    outcome.Titles
	FS        corpus.FS
	// Terms are the terms of a plan, from which the run may not differ. They are nil if
	// there is no plan.
	Terms *Terms
	// Replace allows the run to replace a corpus of other days.
	Replace bool
	// Embedding starts the guard's embedding tier, nil if there is none.
	Embedding Embedding
	// Agreement is the judge's measured agreement for the card, nil if unknown.
	Agreement *agreement.Report
	// Probes are the results of probing the judge before this build. If it is empty, the
	// reports have the probes of Config.Judge.ProbeEvery.
	Probes []probe.Summary
	// License is the Hub's identifier of the license on the card, empty if there is none.
	License string
	// Progress is called for each finished unit, by several goroutines at once.
	Progress func(Event)
	// Pages renders the reports for people. It returns files of the folder reports, by
	// name.
	Pages func(*reports.Set) (map[string][]byte, error)

	// quiet replaces the constant quiet in tests, 0 if it does not.
	quiet time.Duration
	// segmentBytes replaces the constant segmentBytes in tests, 0 if it does not.
	segmentBytes int64
	// minBatch replaces the constant minBatch in tests, 0 if it does not.
	minBatch int
}

// Event reports one finished unit of a stage.
type Event struct {
	Stage string
	// Done and Total count the stage's units: inputs, then files.
	Done  int
	Total int
	// Bytes is the stored size of the unit.
	Bytes int64
	// Why is the reason for which a block was made again, empty otherwise.
	Why string
}

// Shard selects the units of a step that one process works on: those with Index =
// number modulo Count.
type Shard struct {
	Index int
	Count int
}

// Unsharded selects all units.
var Unsharded = Shard{0, 1}

func (s Shard) has(i int) bool { return i%s.Count == s.Index }

// Validate returns an error unless 0 <= Index < Count.
func (s Shard) Validate() error {
	if s.Count < 1 || s.Index < 0 || s.Index >= s.Count {
		return fmt.Errorf("shard %d/%d does not exist: the first of four is 0/4, the last 3/4", s.Index, s.Count)
	}
	return nil
}

// ErrUnscored reports that too many attempts have no answer of the judge.
var ErrUnscored = errors.New("too many attempts without a judge's answer")

// lock reserves the work folder for this build until release is called, since a second build at the
// same time would remove this one's unfinished files. Processes that run only one step on a share
// of the inputs do not lock, so that several can work at once.
func (r *Run) lock() (release func(), err error) {
	if err = r.FS.MkdirAll(r.Work); err != nil {
		return nil, err
	}
	lock, err := corpus.LockFile(filepath.Join(r.Work, lockFile))
	if err != nil {
		return nil, err
	}
	return func() { _ = lock.Unlock() }, nil // the lock ends with the process at the latest
}

// Build runs all three steps. If there are too few attempts or answers of the judge for a
// corpus, it returns an error and a summary with the funnel.
func (r *Run) Build(ctx context.Context) (*Summary, error) {
	s, err := r.open(ctx, r.Sources)
	if err != nil {
		return nil, err
	}
	defer s.close()
	release, err := r.lock()
	if err != nil {
		return nil, err
	}
	defer release()
	if err = s.checkSameDay(); err != nil {
		return nil, err
	}
	if err = s.storeHashes(); err != nil {
		return nil, err
	}
	if err = s.mapInputs(ctx, Unsharded); err != nil {
		return nil, err
	}
	if _, err = s.group(ctx, 1); err != nil {
		return nil, err
	}
	return s.writeAgain(ctx, Unsharded)
}

// writeAgain writes the part of the corpus that this process is to write (shard). If files that a
// process has written turn out to be damaged, they are removed, and writeAgain writes all that are
// missing, of whatever shard, because their processes may have ended.
func (s *session) writeAgain(ctx context.Context, shard Shard) (*Summary, error) {
	summary, err := s.write(ctx, shard)
	if errors.Is(err, corpus.ErrDamagedPart) {
		return s.write(ctx, Unsharded)
	}
	if errors.Is(err, shuffle.ErrDamaged) { // the next group step makes the plan again
		key, keyErr := s.planKey()
		err = errors.Join(err, keyErr, s.removePlan(key))
	}
	return summary, err
}

// ErrOtherDay reports that the corpus to be replaced was made from other traces.
var ErrOtherDay = errors.New("the corpus there was made of other days")

// ErrOtherKind reports that the corpus to be replaced was built and not imported, or imported and not
// built.
var ErrOtherKind = errors.New("the corpus there was made by another command")

// checkSameDay returns ErrOtherKind if a build would replace an import or an import a build, and
// ErrOtherDay if the output folder has a corpus that was made from other
// traces, none of which this run has. The option Replace allows to overwrite it.
func (s *session) checkSameDay() error {
	old, err := corpus.ReadManifest(s.FS, s.Out)
	if err != nil || s.Replace {
		return nil //nolint:nilerr // corpus.CheckReplaceable has checked a folder without a manifest
	}
	if gjson.GetBytes(old.Configuration, "recorded").Bool() != s.Config.Recorded {
		return fmt.Errorf("write corpus %s: %w", s.Out, ErrOtherKind)
	}
	inputs := map[string]bool{}
	for _, in := range s.day.Inputs {
		inputs[in.SHA256] = true
	}
	for _, in := range old.Inputs {
		if in.Kind == corpus.InputTraces && inputs[in.SHA256] {
			return nil
		}
	}
	return fmt.Errorf("write corpus %s: %w", s.Out, ErrOtherDay)
}

// Map writes the blocks of a shard of the inputs.
func (r *Run) Map(ctx context.Context, shard Shard) error {
	s, err := r.open(ctx, r.Sources)
	if err != nil {
		return err
	}
	defer s.close()
	if err = s.protection.Canary(); err != nil {
		return err
	}
	return s.mapInputs(ctx, shard)
}

// Group reads every block and decides on each attempt. With several pieces, several processes that
// run it at once share the work; all of them must give the same number.
func (r *Run) Group(ctx context.Context, pieces int) ([]corpus.Stage, error) {
	s, err := r.open(ctx, r.sourcesWithoutCatalog())
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err = s.checkBlocks(ctx); err != nil {
		return nil, err
	}
	p, err := s.group(ctx, min(max(pieces, 1), shuffle.Partitions))
	if err != nil {
		return nil, err
	}
	return p.Funnel, nil
}

// Write writes a shard of the corpus's files. The process that finds all files written
// assembles the corpus. The summary is nil for the others.
func (r *Run) Write(ctx context.Context, shard Shard) (*Summary, error) {
	s, err := r.open(ctx, r.sourcesWithoutCatalog())
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.writeAgain(ctx, shard)
}

// Forecast describes what a run would do.
type Forecast struct {
	Inputs   int
	Bytes    int64
	Problems int
	Clusters map[guard.Pool]int
	// Blocks counts inputs by the state of their block.
	Blocks map[block.Status]int
}

// Forecast returns what the run would do. It reads no traces.
func (r *Run) Forecast(ctx context.Context) (*Forecast, error) {
	s, err := r.openReadOnly(ctx, r.Sources)
	if err != nil {
		return nil, err
	}
	defer s.close()
	f := &Forecast{
		Inputs:   len(s.day.Inputs),
		Problems: len(s.day.Problems.All),
		Clusters: map[guard.Pool]int{},
		Blocks:   map[block.Status]int{},
	}
	for _, in := range s.inputs {
		f.Bytes += in.bytes
		status, err := s.blockState(in)
		if err != nil {
			return nil, err
		}
		f.Blocks[status]++
	}
	for _, c := range s.protection.State.Clusters {
		f.Clusters[c.Pool]++
	}
	return f, nil
}

// String returns the forecast as text for people.
func (f *Forecast) String() string {
	text := fmt.Sprintf("would read %d inputs (%.1f MB as stored) with %d problems; clusters: train %d, eval %d, never-touch %d\n",
		f.Inputs, float64(f.Bytes)/1e6, f.Problems,
		f.Clusters[guard.PoolTrain], f.Clusters[guard.PoolEval], f.Clusters[guard.PoolNeverTouch])
	for s := block.Missing; s <= block.Equal; s++ {
		n := f.Blocks[s]
		if n == 0 {
			continue
		}
		verb := "work on"
		if s == block.Equal {
			verb = "take as they are"
		}
		text += fmt.Sprintf("  %s %d: %s\n", verb, n, s)
	}
	return text + "nothing was written\n"
}
