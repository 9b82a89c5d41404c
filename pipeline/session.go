package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/staging"
	"github.com/trajectory-arena/arena/traces"
)

// session is a run after its start: its problems and catalogue are read, and its trace files are
// found and hashed.
type session struct {
	*Run
	day        *Day
	protection *Protection
	// earlier is the corpus that the bank (split of an earlier run) belongs to, nil if there is
	// none.
	earlier *finish.Source
	inputs  []input
	// digest is the hash of everything but the traces that an attempt's results depend on: the
	// problems, the catalogue, the protection and the configuration. catalog is the hash of the
	// files of the catalogue.
	digest, catalog string
	filter          *filters.Filter
	// domains are the domains of the attempts by name.
	domains map[string]*runDomain
	// scorer computes outcomes. All workers share it, so that each item is read once.
	scorer *outcome.Scorer
	where  *where.Expr
	// redactor removes secrets from published texts, nil if these are unchanged. idRedactor finds
	// secrets in the IDs of calls, which are replaced in any case.
	redactor   *redact.Redactor
	idRedactor *redact.Redactor
	// plan is set by the group step if it runs in this process.
	plan *plan
	// stamps are the stamps of the trace files by path, hashedBefore the paths of those whose hash is
	// stored in the work folder.
	stamps       map[string]traces.Stamp
	hashedBefore map[string]bool
	// problems has the problems that the stored results of each input name, by folder: []int, indexes
	// in day.Problems.
	problems sync.Map
	// documents has the hashes of the items of the catalogue that was looked up, by its id: string.
	documents sync.Map
	// staging is the process's temporary folder, nil if the session writes nothing.
	staging *staging.Area
}

// openReadOnly opens a session for commands that write nothing. It checks the configuration, reads
// problems and catalogue, hashes the trace files, and divides the problems into training and
// protected ones.
func (r *Run) openReadOnly(ctx context.Context, src Sources) (*session, error) {
	if err := r.Config.Validate(); err != nil {
		return nil, err
	}
	if r.Config.Multiplier.NeedsRuns() {
		r.Config.Judge.DroppedEvery = 1 // the mean of a run is over all its attempts
	}
	for _, name := range r.Domains.Names() {
		if err := guard.CheckLexicon(&r.Domains.ByName(name).Lexicon); err != nil {
			return nil, fmt.Errorf("read domain %s: %w", name, err)
		}
	}
	if err := corpus.CheckReplaceable(r.FS, r.Out); err != nil {
		return nil, err
	}
	src.Domains = r.Domains
	src.Limits = r.Config.Reading
	src.recorded = r.Config.Recorded
	r.Sources.recorded = r.Config.Recorded
	day, err := OpenDay(ctx, src)
	if err != nil {
		return nil, err
	}
	s := &session{
		Run:    r,
		day:    day,
		scorer: outcome.New(&day.Catalog, r.Titles),
	}
	if err := s.load(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// open opens a session that may write: it has a temporary folder within the work folder.
func (r *Run) open(ctx context.Context, src Sources) (*session, error) {
	if err := r.checkWork(); err != nil {
		return nil, err
	}
	s, err := r.openReadOnly(ctx, src)
	if err != nil {
		return nil, err
	}
	area, err := staging.Open(ctx, r.FS, r.Work)
	if err != nil {
		s.close()
		return nil, err
	}
	s.staging = area
	return s, nil
}

// load hashes the trace files while it prepares the guards and filters. It then groups the files
// into inputs, each with a folder for its stored results. If the run has a plan, it returns an
// error if anything differs from what the plan was made with.
func (s *session) load(ctx context.Context) error {
	s.adoptPlannedHashes()
	g, groupCtx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return s.hashInputs(groupCtx)
	})
	g.Go(func() error { return s.prepare(groupCtx) })
	if err := g.Wait(); err != nil {
		return err
	}
	s.assignBlocks()
	return s.checkTerms()
}

func (s *session) prepare(ctx context.Context) (err error) {
	if s.filter, err = filters.New(s.Config.Filter); err != nil {
		return err
	}
	s.domains = s.newDomains(s.filter)
	for i := range s.day.Problems.All {
		p := &s.day.Problems.All[i]
		if p.Domain == "" {
			continue
		}
		p.Literal = !s.domains[p.Domain].on[domain.Rewordings]
		p.Identity = s.domains[p.Domain].Identity
		if !p.Literal {
			p.Lexicon = s.domains[p.Domain].GuardLexicon()
		}
	}
	if s.where, err = where.ParseOptional(s.Config.Select.Where); err != nil {
		return err
	}
	s.protection, err = s.day.newProtection(
		ctx,
		s.Sources,
		s.Config.Guard,
		s.plannedProtection(),
	)
	if err != nil {
		return err
	}
	if err = s.checkHeldOut(); err != nil {
		return err
	}
	if s.plannedProtection() == nil {
		if err = s.protection.checkEmbeddings(ctx, s.day.Problems, s.Embedding); err != nil {
			return err
		}
	}
	s.idRedactor = redact.New(redact.Options{Hotkeys: true})
	if s.Config.Redact.Secrets {
		s.redactor = redact.New(redact.Options{Hotkeys: s.Config.Redact.Hotkeys})
	}
	return nil
}

// checkHeldOut returns an error unless this run keeps all problems out of training that earlier
// corpora keep out: the corpus whose bank (record of protected problems) this run continues, and
// the one that it replaces. It sets s.earlier to the former.
func (s *session) checkHeldOut() error {
	digests := s.day.heldOutDigests()
	if s.Sources.Bank != "" {
		if err := s.openEarlier(digests); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return finish.CheckStillExcluded(s.FS, s.Out, s.protection.State, digests)
}

func (s *session) openEarlier(digests []string) error {
	dir, name := filepath.Split(s.Sources.Bank)
	earlier, err := finish.Open(s.FS, filepath.Clean(dir))
	if err != nil || !earlier.Has(name) {
		return err
	}
	s.earlier = earlier
	_, err = earlier.ProtectedBank(digests)
	return err
}

func (s *session) close() {
	_ = s.day.Close() // a temporary file that stays does not fail the run
	if s.staging != nil {
		s.staging.Close()
	}
}

// assignBlocks groups the trace files into inputs, and sets for each the key and the path of its
// stored results (its block) and the path of the guard's findings on them. It also sets s.digest,
// the hash of all that results depend on except traces, and s.catalog, the hash of the catalogue's
// files.
func (s *session) assignBlocks() {
	config := s.blockDigest()
	parts := [][]byte{
		[]byte(config),
		s.Config.encode("guard"),
		s.protection.digest(),
		s.protection.State.Encode(),
	}
	var catalog []string
	latest := map[string]string{}
	for _, f := range s.day.Files {
		if latest[f.Kind] == f.SHA256 {
			continue // a further day with a copy of the file adds nothing to it
		}
		latest[f.Kind] = f.SHA256
		parts = append(parts, []byte(f.Kind), []byte(f.SHA256))
		if f.Kind == kindCatalog {
			catalog = append(catalog, f.SHA256)
		}
	}
	s.digest = finish.Digest(parts...)
	s.catalog = finish.Digest(catalog...)
	s.inputs = newInputs(s.day.Inputs)
	for i := range s.inputs {
		in := &s.inputs[i]
		in.key.Config = config
		in.dir = filepath.Join(s.Work, blocksFolder, in.key.Folder())
		in.findings = filepath.Join(s.Work, findingsFolder, in.key.Folder())
	}
}

// blockDigest returns the hash of everything that a block depends on besides its input and its sources.
func (s *session) blockDigest() string {
	config := finish.Digest(
		[]byte(block.Version+s.Version+" "+s.Program),
		[]byte(s.Harness.SHA256),
		s.Config.encode("block"),
		s.Instruments.JSON(),
		[]byte(s.Domains.SHA256()),
		asjson.Bytes([]bool{s.Instruments.JudgeChosen, s.Instruments.StepsChosen}),
		[]byte(s.fallbackDomain()),
		s.day.halves.Digest(),
	)
	if s.asksModelForSteps() { // only about attempts that the guard keeps
		config = finish.Digest([]byte(config), s.Config.encode("guard"), s.protection.digest(), s.protection.State.Encode())
	}
	return config
}

// mapInputs runs the map step, which processes every attempt by itself, on a shard of the inputs.
// It skips an input whose results (the block) are already stored and still valid. Of results that
// were made for other protected problems, only the comparison with these is repeated.
func (s *session) mapInputs(ctx context.Context, shard Shard) error {
	known := inputNames{}
	_ = corpus.ReadJSON(
		s.FS,
		filepath.Join(s.Work, namesFile),
		1<<30,
		&known,
	) // only for messages
	inputs := s.shardInputs(shard)
	todo := int64(0)
	for _, in := range inputs {
		if !block.HasKey(s.FS, in.dir, in.key) {
			todo += in.bytes
		}
	}
	done := progress{session: s, stage: "map", total: len(inputs)}
	err := inorder.Each(ctx, s.Config.Workers, len(inputs), func(ctx context.Context, i int) error {
		in := inputs[i]
		status, err := s.blockState(in)
		if err != nil {
			return err
		}
		if status == block.Equal {
			done.report(in.bytes, "")
			return nil
		}
		reason := known.reason(in, status)
		if err := s.updateBlock(ctx, in, status, s.workersFor(in, todo)); err != nil {
			return err
		}
		done.report(in.bytes, reason)
		return nil
	})
	if err != nil {
		return err
	}
	if shard == Unsharded {
		if err := s.writeNames(); err != nil {
			return err
		}
	}
	return s.writeDays()
}

// shardInputs returns the inputs that one process works on (its shard), each content only once. The
// largest inputs are first, so that shards are of similar size and no worker begins a large input
// at the end.
func (s *session) shardInputs(shard Shard) []input {
	var distinct []input
	for i, in := range s.inputs {
		if i == 0 || in.dir != s.inputs[i-1].dir {
			distinct = append(distinct, in)
		}
	}
	slicesx.SortByKey(distinct, func(x input) int64 {
		return -x.bytes
	})
	var out []input
	for n, in := range distinct {
		if shard.has(n) {
			out = append(out, in)
		}
	}
	return out
}

// workersFor returns the number of workers that process an input at once, at least 1: their share is
// that of the input among the todo bytes of all inputs without results. So one long file does not
// leave all workers but one without work.
func (s *session) workersFor(in input, todo int64) int {
	share := float64(in.bytes) / float64(max(todo, in.bytes, 1))
	return max(1, int(math.Round(share*float64(s.Config.Workers))))
}
