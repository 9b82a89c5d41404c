package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/judges/outcome"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/traces"
)

// session is a run with its day read and its inputs known by content.
type session struct {
	*Run
	day     *Day
	protect *Protection
	// earlier is the corpus of the bank that the run was given; nil where it lies in none.
	earlier *finish.Source
	inputs  []input
	filter  *filters.Filter
	// scorer is every worker's, so that a document is read once.
	scorer *outcome.Scorer
	where  *where.Expr
	// redactor is nil where texts are published as they are; names looks at the
	// ids of calls, which are replaced in any case.
	redactor, names *redact.Redactor
	// plan is there once the group step ran in this process.
	plan *plan
	// desk is nil in a session that writes nothing.
	desk *desk
}

func (r *Run) open(ctx context.Context, src Sources) (*session, error) {
	if err := r.Config.Validate(); err != nil {
		return nil, err
	}
	if err := corpus.Replaceable(r.FS, r.Out); err != nil {
		return nil, err
	}
	day, err := OpenDay(ctx, src)
	if err != nil {
		return nil, err
	}
	o := &session{Run: r, day: day, scorer: outcome.New(&day.Catalog, r.Titles)}
	o.hashed()
	g, both := errgroup.WithContext(ctx)
	g.Go(func() error { return HashInputs(both, o.Config.Workers, o.day.Inputs) })
	g.Go(func() error { return o.prepare(both) })
	if err = g.Wait(); err == nil {
		o.identify()
		err = o.keepsTerms()
	}
	if err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

func (r *Run) begin(ctx context.Context, src Sources) (*session, error) {
	o, err := r.open(ctx, src)
	if err != nil {
		return nil, err
	}
	if o.desk, err = sitDown(ctx, r.FS, r.Work); err != nil {
		o.desk = nil
		o.close()
		return nil, err
	}
	return o, nil
}

func (s *session) prepare(ctx context.Context) (err error) {
	if s.where, err = where.ParseOptional(s.Config.Select.Where); err == nil {
		s.protect, err = s.day.protect(ctx, s.Sources, s.Config.Guard, s.decided())
	}
	if err == nil {
		err = s.keepsHeldOut()
	}
	if err == nil && s.decided() == nil {
		err = s.protect.compareMeanings(ctx, s.day.Problems, s.Embedding)
	}
	if err != nil {
		return err
	}
	s.names = redact.New(redact.Options{Hotkeys: true})
	if s.Config.Redact.Secrets {
		s.redactor = redact.New(redact.Options{Hotkeys: s.Config.Redact.Hotkeys})
	}
	s.filter, err = filters.New(s.Config.Filter)
	return err
}

// keepsHeldOut refuses a run after which something would be trained on that the
// corpus of the bank that it was given, or the one in its place, keeps out.
func (s *session) keepsHeldOut() error {
	given := s.day.heldOutDigests()
	if s.Sources.Bank != "" {
		earlier, err := finish.Open(s.FS, filepath.Dir(s.Sources.Bank))
		if err == nil && earlier.Has(filepath.Base(s.Sources.Bank)) {
			s.earlier = earlier
			_, err = earlier.Guarded(given)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return finish.Keeps(s.FS, s.Out, s.protect.State, given)
}

func (s *session) close() {
	_ = s.day.Close() // a copy that stays is no failure of the run
	if s.desk != nil {
		s.desk.leave()
	}
}

// HashInputs hashes the content of inputs whose hash is not known.
func HashInputs(ctx context.Context, workers int, inputs []traces.Input) error {
	return inorder.Each(ctx, workers, len(inputs), func(ctx context.Context, i int) error {
		if inputs[i].SHA256 != "" {
			return nil
		}
		return inputs[i].Hash(ctx)
	})
}

// identify names the inputs' blocks and puts the inputs in an order that no path
// decides.
func (s *session) identify() {
	// all beside its input that a block depends on
	parts := [][]byte{s.protect.digest(), []byte(block.Version), []byte(s.Version), []byte(s.Harness.SHA256), s.Config.encode("block"), s.protect.State.Encode()}
	for _, f := range s.day.Files {
		parts = append(parts, []byte(f.Kind), []byte(f.SHA256))
	}
	sum := finish.Digest(parts...)
	s.inputs = inputsOf(s.day.Inputs)
	for i := range s.inputs {
		in := &s.inputs[i]
		in.key.Config = sum
		in.dir = filepath.Join(s.Work, blocksFolder, in.key.Folder())
	}
}

// ErrOtherDay says that the corpus in the output's place was made of other traces.
var ErrOtherDay = errors.New("the corpus there was made of other days")

// sameDay refuses to write over a corpus that shares no file of traces with this
// run, unless the run may.
func (s *session) sameDay() error {
	there, err := corpus.ReadManifest(s.FS, s.Out)
	if err != nil || s.Replace {
		return nil //nolint:nilerr // what is no corpus is dealt with by Replaceable
	}
	read := map[string]bool{}
	for _, in := range s.day.Inputs {
		read[in.SHA256] = true
	}
	for _, in := range there.Inputs {
		if in.Kind == corpus.InputTraces && read[in.SHA256] {
			return nil
		}
	}
	return fmt.Errorf("write corpus %s: %w", s.Out, ErrOtherDay)
}

func (s *session) newMapper() *mapper {
	m := &mapper{session: s, tools: finish.ToolTexts(chat.Tools(s.Harness)), facts: rows.Facts{
		Harness: s.Harness, PipelineVersion: s.Version, Counter: rows.Bytes4{},
		IsSecret: func(id string) bool { return len(s.names.Scan(id)) > 0 },
	}}
	if s.redactor != nil {
		m.facts.Redact = func(text string) string { return s.redactor.Text(text, redact.Counts{}) }
	}
	return m
}

func (s *session) mapInputs(ctx context.Context, only Shard) error {
	known := names{}
	_ = corpus.ReadJSON(s.FS, filepath.Join(s.Work, namesFile), 1<<30, &known) // it decides nothing
	var all, mine []int
	for i := range s.inputs {
		if i == 0 || s.inputs[i].dir != s.inputs[i-1].dir {
			all = append(all, i)
		}
	}
	// the largest first, so that shards are alike and no worker is left with one alone at the end
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(s.inputs[b].bytes, s.inputs[a].bytes) })
	for n, i := range all {
		if only.has(n) {
			mine = append(mine, i)
		}
	}
	done := progress{s: s, stage: "map", total: len(mine)}
	err := inorder.Each(ctx, s.Config.Workers, len(mine), func(ctx context.Context, i int) error {
		in := s.inputs[mine[i]]
		status, err := block.State(s.FS, in.dir, in.key)
		if err != nil {
			return err
		}
		if status == block.Equal {
			done.tell(in.bytes, "")
			return nil
		}
		why := known.why(in, status)
		if err := s.makeBlock(ctx, in); err != nil {
			return err
		}
		done.tell(in.bytes, why)
		return nil
	})
	if err == nil && only == Whole {
		err = s.writeNames()
	}
	if err != nil {
		return err
	}
	return s.writeDays()
}

func (s *session) makeBlock(ctx context.Context, in input) error {
	if err := s.verify(ctx, in.files); err != nil {
		return err
	}
	made := filepath.Join(s.desk.dir, in.key.Folder())
	w, err := block.Create(s.FS, made, in.key)
	if err != nil {
		return err
	}
	m, opt := s.newMapper(), traces.Options{Limits: s.Config.Reading, RunID: s.Config.RunID}
	for i := range in.files {
		if err := m.file(ctx, in.files[i], i, opt, w); err != nil {
			w.Abort()
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return s.desk.install(ctx, made, in.dir, func() (bool, error) {
		status, err := block.State(s.FS, in.dir, in.key)
		return status == block.Equal, err
	})
}
