package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Findings contains what the guards of the splits found in the problems themselves.
type Findings struct {
	// Problems has, by the index of the problem, the finding of the guard of its split in the text
	// of the problem. All attempts at the problem share the finding.
	Problems []guard.Finding `json:"problems"`
	// Tiers are the tiers that ran, empty unless embeddings were asked for.
	Tiers []guard.Tier `json:"tiers,omitempty"`
	// NotRun is the reason why a tier did not run, empty if all did.
	NotRun string `json:"not_run,omitempty"`
}

// Embedding starts the guard's last tier, which compares texts with the bank of g by embeddings,
// and records in report that it runs. It returns nil if the endpoint is down and the run may
// continue without the tier. The report then has the reason.
type Embedding func(ctx context.Context, g *guard.Guard, report *guard.Report) (*guard.EmbeddingTier, error)

// checkEmbeddings compares the run's problems with the protected problems by embeddings (vectors
// that a model computes from texts), after all other comparisons, and adds what is found to
// p.Problems. It does nothing if start, the function that connects to the model's endpoint, is nil.
func (p *Protection) checkEmbeddings(
	ctx context.Context,
	problems *Problems,
	start Embedding,
) error {
	if start == nil {
		return nil
	}
	for _, split := range []string{corpus.SplitEval, corpus.SplitTrain} {
		g := p.Guard(split)
		if g == nil {
			continue
		}
		report := guard.NewReport(g)
		tier, err := start(ctx, g, report)
		if err != nil {
			return err
		}
		p.Tiers = report.Ran
		p.NotRun = cmp.Or(p.NotRun, report.NotRun)
		if tier == nil {
			continue
		}
		if err := p.checkTier(ctx, problems, g, tier); err != nil {
			return err
		}
	}
	return nil
}

// checkTier compares the problems that the guard g checks with the protected problems by their
// embeddings (vectors that a model computes), and stores the findings in p.Problems. If the model's
// endpoint fails before all are compared, it sets p.NotRun to the reason.
func (p *Protection) checkTier(
	ctx context.Context,
	problems *Problems,
	g *guard.Guard,
	tier *guard.EmbeddingTier,
) error {
	var indexes []int
	var candidates []guard.Candidate
	var findings []guard.Finding
	for i, problem := range problems.All {
		if p.guardFor(i) == g {
			indexes = append(indexes, i)
			findings = append(findings, p.Problems[i])
			candidates = append(candidates, guard.Candidate{
				ID:   problems.Name(i),
				Text: problem.Query,
			})
		}
	}
	if err := tier.Check(ctx, candidates, findings); err != nil {
		return fmt.Errorf("compare problems with the bank by embeddings: %w", err)
	}
	if err := tier.Down(); err != nil {
		p.NotRun = cmp.Or(p.NotRun, "embedding: "+err.Error())
	}
	for k, i := range indexes {
		p.Problems[i] = findings[k]
	}
	return nil
}

// digest returns, as JSON, what the stored guard findings on attempts depend on: the protected
// problems, with which attempts are compared, and the guard's findings in the run's own problems,
// which also apply to the attempts at them.
func (p *Protection) digest() []byte {
	return asjson.Bytes([]any{
		p.Guard(corpus.SplitTrain).Bank(),
		p.Problems,
	})
}

// PlannedProtection is what the planning process of a build decided about the
// problems. The build's other processes adopt it: the split, the findings in the
// problems, and the quality of the guards.
type PlannedProtection struct {
	// Bank is the split in the format of bank.json.
	Bank json.RawMessage `json:"bank"`
	Findings
	finish.Measurements
}

// plannedProtection returns the protection that the run's plan records: the split of the problems
// and the guard's findings. It returns nil if the run has no plan.
func (s *session) plannedProtection() *PlannedProtection {
	if s.Terms == nil {
		return nil
	}
	return s.Terms.Protection
}

func (p *Protection) planned() *PlannedProtection {
	return &PlannedProtection{
		Bank:         p.State.Encode(),
		Findings:     p.Findings,
		Measurements: p.Measurements,
	}
}

// readState parses the planned division of the problems into pools: train, eval, held-out and
// never-touch. prior has the pools from an earlier run and from files of held-out problems. The
// error is ErrTerms if the division cannot be read, or if it assigns another pool to a problem of
// prior.
func (d *PlannedProtection) readState(prior *guard.State) (*guard.State, error) {
	state, err := guard.ReadState(bytes.NewReader(d.Bank))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTerms, err)
	}
	for _, c := range guard.Union(state, prior).Clusters {
		for _, spec := range c.Problems {
			if state.Pool(spec) != c.Pool {
				return nil, fmt.Errorf("%w: problem %s is %s, and its split has it elsewhere", ErrTerms, spec, c.Pool)
			}
		}
	}
	return state, nil
}

// adopt takes over the guard's findings from a stored plan and creates the guards from it, instead
// of computing them again. It returns ErrTerms if the plan was made for other problems: if its
// division into pools lacks a problem of the run, or if it has findings on another number of
// problems.
func (p *Protection) adopt(
	d *PlannedProtection,
	entries finish.ProtectedEntries,
	c guard.Config,
) (err error) {
	if slices.Contains(p.Pools, "") || len(d.Problems) != len(p.Pools) {
		return fmt.Errorf("%w: it was split for other problems", ErrTerms)
	}
	p.Findings = d.Findings
	p.Protection, err = d.NewProtection(entries, c)
	return err
}

// blockState returns whether the stored results (the block) of an input can be used in this run. It
// is Unguarded if only the comparison with protected problems must be made again, and
// ConfigMismatch if all must be made again: problems or catalogue items on which the results depend
// are different in this run, or answers of the judge are missing too.
func (s *session) blockState(item input) (block.Status, error) {
	status, err := block.State(s.FS, item.dir, item.key)
	if err != nil || status != block.Equal && status != block.Unfinished {
		return status, err
	}
	f, err := s.findingsOf(item)
	if err != nil || f != nil && f.Run == s.digest {
		return status, err
	}
	isSame, err := s.hasSameSources(item)
	if err != nil || !isSame || status != block.Equal {
		return block.ConfigMismatch, err
	}
	hasDrafts, err := block.HasDrafts(s.FS, item.dir)
	if f != nil && !hasDrafts { // there is nothing to compare
		return block.Equal, err
	}
	return block.Unguarded, err
}

// findingsOf returns the guard's findings on the stored results of an input, made with the protected
// problems of this run or of another one. It returns nil if there are none.
func (s *session) findingsOf(item input) (*block.Findings, error) {
	f, err := block.ReadFindings(s.FS, item.findings)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, block.ErrDamaged):
		return nil, nil
	case err != nil:
		return nil, err
	}
	content, err := block.Content(s.FS, item.dir)
	if f.Block != content {
		return nil, err
	}
	return f, err
}

// guardAgain compares the stored drafts (rendered training rows) of an input with this run's
// protected problems, and stores what is found. It is for the case that only these problems changed
// since the drafts were made. The error is block.ErrDamaged if a draft cannot be read.
func (s *session) guardAgain(ctx context.Context, item input) error {
	m := s.newMapper()
	src, err := block.ReadSources(s.FS, item.dir)
	if err != nil {
		return err
	}
	problems, _ := s.day.Problems.find(src.Problems)
	r, err := block.Open(s.FS, item.dir)
	if err != nil {
		return err
	}
	defer r.Close()
	findings := &block.Findings{}
	n := 0
	for x, err := range r.All(block.PartFound) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if x.Body.Packed > 0 {
			f, err := m.guardDraft(r, x, problems)
			if err != nil {
				return err
			}
			findings.Add(n, f)
		}
		n++
	}
	return s.installFindings(ctx, item, findings)
}

// guardDraft returns what the guard finds in the draft (rendered training row) of x, which it compares
// with the protected problems. problems maps the index of a problem in the stored results to its
// index in this run.
func (m *mapper) guardDraft(r *block.Reader, x *block.Entry, problems []int) (f guard.Finding, err error) {
	d, err := r.DraftOf(x)
	if err != nil {
		return f, err
	}
	messages, err := chat.Decode(d.Messages)
	if err != nil {
		return f, err
	}
	return m.findLeak(x, d, messages, problems[x.Problem]), nil
}

// installFindings writes f, which protected problems the guard found in the stored results of an
// input, to the work folder.
func (s *session) installFindings(ctx context.Context, item input, f *block.Findings) (err error) {
	if f.Block, err = block.Content(s.FS, item.dir); err != nil {
		return err
	}
	f.Run = s.digest
	staged := filepath.Join(s.staging.Dir, item.key.Folder()+"."+findingsFolder)
	if err = block.WriteFindings(s.FS, staged, f); err != nil {
		return err
	}
	return s.staging.Install(ctx, staged, item.findings, func() (bool, error) {
		stored, err := s.findingsOf(item)
		return stored != nil && stored.Run == s.digest, err
	})
}

// blockReader reads a block (the stored results of an input) together with what the guard found in
// its attempts. problems maps the index of a problem in the block to its index in this run.
type blockReader struct {
	*block.Reader
	problems []int
	findings *block.Findings
}

// openBlock opens the block (stored results) of the input at index i, with the guard's findings on
// it. It returns an error if either is missing or damaged.
func (s *session) openBlock(i int) (*blockReader, error) {
	item := s.inputs[i]
	problems, err := s.problemsOf(item)
	if err != nil {
		return nil, err
	}
	r := &blockReader{problems: problems}
	if r.findings, err = block.ReadFindings(s.FS, item.findings); err != nil {
		return nil, err
	}
	r.Reader, err = block.Open(s.FS, item.dir)
	return r, err
}

// problemsOf returns the index in this run of each problem of the stored results of an input, which are
// complete. It reads them once.
func (s *session) problemsOf(item input) ([]int, error) {
	if known, ok := s.problems.Load(item.dir); ok {
		return known.([]int), nil
	}
	src, err := block.ReadSources(s.FS, item.dir)
	if errors.Is(err, block.ErrDamaged) { // the next run makes the block again
		return nil, errors.Join(err, s.FS.RemoveAll(item.dir))
	}
	if err != nil {
		return nil, err
	}
	problems, _ := s.day.Problems.find(src.Problems)
	s.problems.Store(item.dir, problems)
	return problems, nil
}

// complete sets in x, the stored results for record n, two fields that depend on this run: the
// guard's finding, and the index of the attempt's problem. If the guard drops the attempt, complete
// also removes the step judge's answer, because no file will contain the attempt's steps.
func (r *blockReader) complete(x *block.Entry, n int) {
	if x.Problem >= 0 {
		x.Problem = r.problems[x.Problem]
	}
	x.Leak = r.findings.Finding(n)
	if x.Leak.Drop {
		x.StepJudgement = arena.Judgement{}
		x.StepNeeds = block.Needs{}
	}
}
