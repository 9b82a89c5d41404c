package pipeline

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/judges/outcome"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/traces"
)

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
	if err := corpus.Replaceable(r.FS, r.Out); err != nil {
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
		facts:  corpus.Facts{Harness: o.Harness, PipelineVersion: o.Version, Counter: corpus.Bytes4{}, Secret: secret},
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
