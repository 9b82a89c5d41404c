package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/judges/outcome"
	"github.com/trajectory-arena/arena/judges/probe"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/reports"
)

// Run is one build of one corpus, with all that it needs from outside.
type Run struct {
	Config  Config
	Sources Sources
	// Out is the corpus, Work the folder of blocks and parts beside it.
	Out  string
	Work string
	// Version is the program's version, written into every row.
	Version string
	Harness arena.Harness
	Judge   judges.Judge
	// StepJudge labels steps where Config.Steps asks for it.
	StepJudge judges.StepJudge
	Titles    outcome.Titles
	FS        corpus.FS
	// Terms are those of a plan, which the run refuses to differ from; nil for none.
	Terms *Terms
	// Replace allows to write over a corpus of other days.
	Replace bool
	// Embedding is the guard's embedding tier; nil for none.
	Embedding Embedding
	// Agreement is the judge's measured agreement for the card; nil if unknown.
	Agreement *agreement.Report
	// Probes is what probes of the judge showed that were run apart from this
	// build; empty to report those of Config.Judge.ProbeEvery.
	Probes []probe.Summary
	// License is the Hub's word for the terms that the card names; empty for none.
	License string
	// Progress is told what was done; it may be called by several goroutines.
	Progress func(Event)
	// Pages draws the reports for people: files of the reports folder, by name.
	Pages func(*reports.Set) (map[string][]byte, error)
}

// Event is one piece of progress.
type Event struct {
	Stage string
	// Done and Total count the stage's units: inputs, then files.
	Done, Total int
	// Bytes is the size of the unit that was done, as stored.
	Bytes int64
	// Why says why a block was made again; empty otherwise.
	Why string
}

// Shard says which of the units of a step one process takes: those whose
// number leaves Index when divided by Of.
type Shard struct{ Index, Of int }

// Whole is a step run by one process.
var Whole = Shard{0, 1}

func (s Shard) has(i int) bool { return i%s.Of == s.Index }

// Validate checks that the shard is one of those it counts.
func (s Shard) Validate() error {
	if s.Of < 1 || s.Index < 0 || s.Index >= s.Of {
		return fmt.Errorf("shard %d/%d does not exist: the first of four is 0/4, the last 3/4", s.Index, s.Of)
	}
	return nil
}

// ErrUnscored says that too many attempts have no answer of the judge.
var ErrUnscored = errors.New("too many attempts without a judge's answer")

// lock keeps the work folder for this process until release is called: two
// whole builds would take each other's unfinished blocks for leftovers. Steps
// share the folder by their shards and need no such thing.
func (r *Run) lock() (release func(), err error) {
	if err = r.FS.MkdirAll(r.Work); err != nil {
		return nil, err
	}
	lock, err := corpus.Hold(filepath.Join(r.Work, "build.lock"))
	if err != nil {
		return nil, err
	}
	return func() { _ = lock.Unlock() }, nil // a lock ends with its process at the latest
}

// Build runs all three steps. Where the attempts that are left, or the judge's
// answers, are too few for a corpus, the summary still has the funnel.
func (r *Run) Build(ctx context.Context) (*Summary, error) {
	o, err := r.begin(ctx, r.Sources)
	if err != nil {
		return nil, err
	}
	defer o.close()
	release, err := r.lock()
	if err != nil {
		return nil, err
	}
	defer release()
	if err = o.sameDay(); err != nil {
		return nil, err
	}
	if err = o.mapInputs(ctx, Whole); err != nil {
		return nil, err
	}
	if _, err = o.group(ctx); err != nil {
		return nil, err
	}
	s, err := o.write(ctx, Whole)
	if errors.Is(err, corpus.ErrPart) { // damaged parts are gone: once more
		return o.write(ctx, Whole)
	}
	return s, err
}

// Map makes the blocks of a shard of the inputs.
func (r *Run) Map(ctx context.Context, s Shard) error {
	o, err := r.begin(ctx, r.Sources)
	if err != nil {
		return err
	}
	defer o.close()
	if err = o.protect.Canary(); err != nil {
		return err
	}
	return o.mapInputs(ctx, s)
}

// Group reads every block and decides what becomes of each attempt.
func (r *Run) Group(ctx context.Context) ([]corpus.Stage, error) {
	o, err := r.begin(ctx, r.scored())
	if err != nil {
		return nil, err
	}
	defer o.close()
	if err = o.ready(ctx); err != nil {
		return nil, err
	}
	p, err := o.group(ctx)
	if err != nil {
		return nil, err
	}
	return p.Funnel, nil
}

// Write writes a shard of the corpus's files. The process that finds all of
// them written puts the corpus together; the summary is nil for the others.
func (r *Run) Write(ctx context.Context, s Shard) (*Summary, error) {
	o, err := r.begin(ctx, r.scored())
	if err != nil {
		return nil, err
	}
	defer o.close()
	return o.write(ctx, s)
}

// Forecast is what a run would do.
type Forecast struct {
	Inputs   int
	Bytes    int64
	Problems int
	Clusters map[guard.Pool]int
	// Blocks counts inputs by what would be done about their block.
	Blocks map[block.Status]int
}

// Forecast looks at the inputs without working on them.
func (r *Run) Forecast(ctx context.Context) (*Forecast, error) {
	o, err := r.open(ctx, r.Sources)
	if err != nil {
		return nil, err
	}
	defer o.close()
	f := &Forecast{Inputs: len(o.day.Inputs), Problems: len(o.day.Problems.All), Clusters: map[guard.Pool]int{}, Blocks: map[block.Status]int{}}
	for _, in := range o.inputs {
		f.Bytes += in.bytes
		s, err := block.State(o.FS, in.dir, in.key)
		if err != nil {
			return nil, err
		}
		f.Blocks[s]++
	}
	for _, c := range o.protect.State.Clusters {
		f.Clusters[c.Pool]++
	}
	return f, nil
}

// String says it for people.
func (f *Forecast) String() string {
	text := fmt.Sprintf("would read %d inputs (%.1f MB as stored) with %d problems; clusters: train %d, eval %d, never-touch %d\n",
		f.Inputs, float64(f.Bytes)/1e6, f.Problems, f.Clusters[guard.PoolTrain], f.Clusters[guard.PoolEval], f.Clusters[guard.PoolNeverTouch])
	for s := block.Missing; s <= block.Equal; s++ {
		if n := f.Blocks[s]; n > 0 {
			verb := "work on"
			if s == block.Equal {
				verb = "take as they are"
			}
			text += fmt.Sprintf("  %s %d: %s\n", verb, n, s)
		}
	}
	return text + "nothing was written\n"
}
