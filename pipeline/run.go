package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpora"
	"github.com/trajectory-arena/arena/corpora/redact"
	"github.com/trajectory-arena/arena/corpora/where"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/judges/outcome"
	"github.com/trajectory-arena/arena/judges/probe"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/traces"
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
	Judge   Judge
	// StepJudge labels steps where Config.Steps asks for it; nil is the offline
	// rule.
	StepJudge StepJudge
	Titles    outcome.Titles
	FS        corpora.FS
	// Embedding is the guard's embedding tier; nil for none.
	Embedding Embedding
	// Agreement is the judge's measured agreement for the card; nil if unknown.
	Agreement *agreement.Report
	// Probes is what probes of the judge showed that were run apart from this
	// build; empty to report those of Config.Judge.ProbeEvery.
	Probes []probe.Summary
	// Push is the dataset on the Hub that the card names; empty for none.
	Push string
	// License is the Hub's word for the terms that the card names; empty for none.
	License string
	// Progress is told what was done; it may be called by several goroutines.
	Progress func(Event)
	// Pages draws the reports for people: files of the reports folder, by name.
	Pages func(*Reports) (map[string][]byte, error)
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

// alone keeps the work folder for this process until release is called: two
// whole builds would take each other's unfinished blocks for leftovers. Steps
// share the folder by their shards and need no such thing.
func (r *Run) alone() (release func(), err error) {
	if err = r.FS.MkdirAll(r.Work); err != nil {
		return nil, fmt.Errorf("create work folder %s: %w", r.Work, err)
	}
	lock := flock.New(filepath.Join(r.Work, "build.lock"))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	if !locked {
		return nil, fmt.Errorf("lock %s: %w", lock.Path(), corpora.ErrBusy)
	}
	return func() { _ = lock.Unlock() }, nil // a lock ends with its process at the latest
}

// Build runs all three steps. Where the attempts that are left, or the judge's
// answers, are too few for a corpus, the summary still has the funnel.
func (r *Run) Build(ctx context.Context) (*Summary, error) {
	o, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	defer o.close()
	release, err := r.alone()
	if err != nil {
		return nil, err
	}
	defer release()
	if err = o.mapInputs(ctx, Whole); err != nil {
		return nil, err
	}
	if _, err = o.group(ctx); err != nil {
		return nil, err
	}
	return o.write(ctx, Whole)
}

// Map makes the blocks of a shard of the inputs.
func (r *Run) Map(ctx context.Context, s Shard) error {
	o, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer o.close()
	return o.mapInputs(ctx, s)
}

// Group reads every block and decides what becomes of each attempt.
func (r *Run) Group(ctx context.Context) ([]corpora.Stage, error) {
	o, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	defer o.close()
	if err = o.ready(); err != nil {
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
	o, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	defer o.close()
	return o.write(ctx, s)
}

// opened is a run with its day read and its inputs known by content.
type opened struct {
	*Run
	day     *Day
	protect *Protection
	inputs  []input
	filter  *filters.Filter
	// scorer is every worker's, so that a document is read once.
	scorer *outcome.Scorer
	where  *where.Expr
	// redactor is nil where texts are published as they are; names looks at the
	// ids of calls, which are replaced in any case.
	redactor, names *redact.Redactor
	// plan and learned are there once the group step ran in this process.
	plan    *plan
	learned *grouping
}

// input is one file with the block made of it.
type input struct {
	traces.Input
	key block.Key
	dir string
}

func (r *Run) open(ctx context.Context) (*opened, error) {
	if err := r.Config.Validate(); err != nil {
		return nil, err
	}
	if err := corpora.Replaceable(r.FS, r.Out); err != nil {
		return nil, err
	}
	day, err := OpenDay(ctx, r.Sources)
	if err != nil {
		return nil, err
	}
	o := &opened{Run: r, day: day, scorer: outcome.New(&day.Catalog, r.Titles)}
	g, both := errgroup.WithContext(ctx)
	g.Go(func() error { return hashInputs(both, o.Config.Workers, o.day.Inputs) })
	g.Go(func() error { return o.prepare(both) })
	if err = g.Wait(); err == nil {
		err = o.identify()
	}
	if err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

// prepare makes what looks at attempts and rows.
func (o *opened) prepare(ctx context.Context) (err error) {
	if o.where, err = where.ParseOptional(o.Config.Select.Where); err == nil {
		o.protect, err = o.day.protect(ctx, o.Sources, o.Config.Guard)
	}
	if err == nil {
		err = o.protect.compareMeanings(ctx, o.day.Problems, o.Embedding)
	}
	if err == nil {
		o.filter, err = filters.New(o.Config.Filter)
	}
	if err == nil {
		o.names, err = redact.New(redact.Options{Hotkeys: true})
	}
	if err == nil && o.Config.Redact.Secrets {
		o.redactor, err = redact.New(redact.Options{Hotkeys: o.Config.Redact.Hotkeys})
	}
	return err
}

func (o *opened) close() { _ = o.day.Close() } // a copy that stays is no failure of the run

// hashInputs hashes the content of inputs whose hash is not known.
func hashInputs(ctx context.Context, workers int, inputs []traces.Input) error {
	return each(ctx, workers, len(inputs), none, func(ctx context.Context, _ struct{}, i int) error {
		if inputs[i].SHA256 != "" {
			return nil
		}
		return inputs[i].Hash(ctx)
	})
}

// identify names the inputs' blocks and puts the inputs in an order that no path
// decides.
func (o *opened) identify() error {
	config, err := o.blockConfig()
	if err != nil {
		return err
	}
	for _, in := range o.day.Inputs {
		key := block.Key{Input: in.SHA256, Meta: metaOf(&in), Config: config}
		o.inputs = append(o.inputs, input{Input: in, key: key, dir: filepath.Join(o.Work, blocksFolder, key.Folder())})
	}
	slices.SortStableFunc(o.inputs, func(a, b input) int {
		return cmp.Or(cmp.Compare(a.key.Input, b.key.Input), cmp.Compare(a.key.Meta, b.key.Meta))
	})
	return nil
}

// metaOf names what an input says of its attempts beside their records.
func metaOf(in *traces.Input) string {
	run, problem := in.PathIDs()
	if run == "" && problem == "" {
		return in.MetaSHA256
	}
	return digest([]byte(in.MetaSHA256), []byte(run), []byte(problem))
}

func none() (struct{}, error) { return struct{}{}, nil }

// blockConfig is the hash of everything beside its input that a block depends
// on.
func (o *opened) blockConfig() (string, error) {
	config, err := o.Config.blockJSON()
	if err != nil {
		return "", err
	}
	bank, err := o.protect.State.Encode()
	if err != nil {
		return "", err
	}
	found, err := o.protect.digest()
	if err != nil {
		return "", err
	}
	parts := [][]byte{found, []byte(block.Version), []byte(o.Version), []byte(o.Harness.SHA256), config, bank}
	for _, f := range o.day.Files {
		parts = append(parts, []byte(f.Kind), []byte(f.SHA256))
	}
	return digest(parts...), nil
}

func (o *opened) newMapper() (*mapper, error) {
	secret := func(id string) bool { return len(o.names.Scan(id)) > 0 }
	m := &mapper{
		day: o.day, protect: o.protect, filter: o.filter, scorer: o.scorer, judge: o.Judge,
		facts:  corpora.Facts{Harness: o.Harness, PipelineVersion: o.Version, Counter: corpora.Bytes4{}, Secret: secret},
		signer: minhash.NewSigner(), stepJudge: o.stepJudge(), probeEvery: o.Config.Judge.ProbeEvery, sparing: o.Config.Judge.Sparing,
	}
	if o.redactor != nil {
		m.facts.Publish = published(o.redactor)
	}
	return m, nil
}

// published is what becomes of a text on its way through a redactor.
func published(r *redact.Redactor) func(string) string {
	return func(text string) string { return r.Text(text, redact.Counts{}) }
}

// mapInputs makes every block of the shard that is not there already.
func (o *opened) mapInputs(ctx context.Context, s Shard) error {
	if err := s.Validate(); err != nil {
		return err
	}
	known := o.readNames()
	var mine []int
	for i := range o.inputs {
		if s.has(i) && (i == 0 || o.inputs[i].dir != o.inputs[i-1].dir) {
			mine = append(mine, i)
		}
	}
	// the largest first, so that no worker is left with one alone at the end
	slices.SortStableFunc(mine, func(a, b int) int { return cmp.Compare(o.inputs[b].Bytes, o.inputs[a].Bytes) })
	done := progress{o: o, stage: "map", total: len(mine)}
	err := each(ctx, o.Config.Workers, len(mine), o.newMapper, func(ctx context.Context, m *mapper, i int) error {
		in := o.inputs[mine[i]]
		status, err := block.State(o.FS, in.dir, in.key)
		if err != nil {
			return err
		}
		if status == block.Equal {
			done.tell(in.Bytes, "")
			return nil
		}
		why := known.why(in, status)
		if err := o.makeBlock(ctx, m, in); err != nil {
			return err
		}
		done.tell(in.Bytes, why)
		return nil
	})
	if err != nil {
		return err
	}
	return o.writeNames(s)
}

func (o *opened) makeBlock(ctx context.Context, m *mapper, in input) error {
	w, err := block.Create(o.FS, in.dir, in.key)
	if err != nil {
		return err
	}
	opt := traces.Options{Limits: o.Config.Reading, RunID: o.Config.RunID}
	if _, err := m.file(ctx, in.Input, opt, w); err != nil {
		w.Abort()
		return err
	}
	return w.Close()
}
