package evaluate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/rollout"
	"github.com/trajectory-arena/arena/student/serve"
)

// evalHeap limits the size of the heap in bytes, because a server may send replies of megabytes.
const evalHeap = 160 << 20

// Run runs the rollouts that f asks for and writes the run folder.
func Run(
	ctx context.Context,
	s *cli.Streams,
	f *Flags,
) error {
	cli.LimitHeap(evalHeap)
	err := f.check()
	if err == nil {
		f.priceTable, err = instrument.ReadPrices(f.prices)
	}
	if err != nil {
		return err
	}
	problems, err := readProblems(f.Problems)
	if err != nil {
		return err
	}
	local, err := f.Shop.open(ctx)
	if err != nil {
		return err
	}
	cli.WarnIf(s.Err, outcome.Missing(problems.All, local.Catalog))
	run, err := f.prepare(problems, local)
	if err != nil {
		return errors.Join(err, local.Catalog.Close())
	}
	summary, err := f.judged(ctx, s, run)
	if err = errors.Join(err, local.Catalog.Close()); err != nil {
		return err
	}
	return f.report(s, summary)
}

func readProblems(path string) (student.Problems, error) {
	p, err := student.ReadProblems(path)
	return p, cli.DefaultHint(err, "problems are JSON lines or one JSON array, each with the reward that it is scored by")
}

func (f *Flags) judged(
	ctx context.Context,
	s *cli.Streams,
	run *student.Run,
) (summary *evaluation.Summary, err error) {
	done, err := f.openJudge(s.Err, run)
	if err != nil {
		return nil, err
	}
	if f.rescore != "" {
		if err = student.CopyRun(f.rescore, f.Out); err == nil {
			summary, err = run.Rescore(ctx)
		}
	} else {
		summary, err = f.playRollouts(ctx, s, run)
	}
	return summary, errors.Join(err, done())
}

func (f *Flags) prepare(problems student.Problems, local shop.Local) (*student.Run, error) {
	h, err := f.harnessOf()
	if err != nil {
		return nil, err
	}
	spec, err := f.spec(h, problems, local.Catalog)
	if err != nil {
		return nil, err
	}
	if f.rescore != "" {
		if spec, err = rescoreSpec(f.rescore, spec); err != nil {
			return nil, err
		}
	}
	environment := f.environment(h, spec, local)
	if spec, err = spec.Public(); err != nil {
		return nil, err
	}
	titles, err := f.titles.Titles()
	if err != nil {
		return nil, err
	}
	run := &student.Run{
		Spec: spec, Problems: problems, Environment: environment, Scorer: outcome.New(local.Catalog, titles),
		AtOnce: f.Asked.Concurrency * max(1, len(f.Asked.URLs)), RetryInfra: f.retryInfra, Folder: f.Out,
	}
	run.Contaminated, err = readTrainedOn(f.trainedOn)
	if err != nil {
		return nil, err
	}
	return run, checkTrainedOn(run.Contaminated, problems.IDs)
}

// rescoreSpec returns the spec (the recorded settings) of the finished run in folder, with what
// scores depend on replaced by the values of this command, now: the problems, the catalogue, and
// how titles are compared.
func rescoreSpec(folder string, now student.Spec) (student.Spec, error) {
	spec, err := student.ReadSpec(folder)
	if err != nil {
		return spec, cli.Failed(err, "--rescore names a run folder")
	}
	spec.ProblemsSHA256, spec.Problems, spec.CatalogXXH3, spec.Titles = now.ProblemsSHA256, now.Problems, now.CatalogXXH3, now.Titles
	return spec, nil
}

func (f *Flags) environment(
	h arena.Harness,
	spec student.Spec,
	local shop.Local,
) *rollout.Environment {
	var tools []arena.Raw
	if spec.Dialect.SendsTools() {
		tools = h.Tools
	}
	template := model.NewTemplate(
		spec.Model,
		spec.System,
		spec.Sampling,
		tools,
	).WithTokens(spec.Keep)
	if spec.NoSeed {
		template = template.WithoutSeed()
	}
	e := &rollout.Environment{
		Template: template, Dialect: spec.Dialect, NoCall: spec.NoCall, Form: spec.PromptForm,
		MaxSteps: spec.MaxSteps, HasTokens: spec.Keep.Tokens, ToolNames: toolNames(h),
		Rules: local.Rules, Server: local, Request: `{"model":` + arena.Quote(spec.Model) + "}", Has: local.Catalog.Has,
	}
	if f.Played.Search != "" {
		e.Server = shop.NewRemote(f.Played.Search, os.Getenv(shopTokenEnv))
		e.Tape = true
	}
	return e
}

// playRollouts runs the rollouts that the run folder lacks. It returns the summary of all rollouts.
func (f *Flags) playRollouts(
	ctx context.Context,
	s *cli.Streams,
	run *student.Run,
) (summary *evaluation.Summary, err error) {
	if err = f.checkSearchServer(ctx); err != nil {
		return nil, err
	}
	pool, err := model.NewPool(f.endpointConfig())
	if err != nil {
		return nil, cli.Usage(err, "an endpoint is a base URL such as http://127.0.0.1:8000/v1")
	}
	defer pool.Close()
	missing, err := run.Begin()
	if err != nil {
		return nil, err
	}
	run.Asker = pool
	run.Environment.Refused = &atomic.Int32{}
	run.Environment.Said = func(returned model.Returned) {
		s.Notef("arena: the server refuses fields of its own replies, so in what is sent back %s\n", returned)
	}
	w := newEvalWatch(s, f, run, pool)
	run.Progress = w.ended
	if missing > 0 {
		return f.playServed(ctx, w, run)
	}
	if w.servers, err = f.keepIdentities(nil); err != nil {
		return nil, err
	}
	return w.play(ctx, run)
}

func (f *Flags) playServed(
	ctx context.Context,
	w *evalWatch,
	run *student.Run,
) (summary *evaluation.Summary, err error) {
	var server *serve.Server
	if f.serve != "" {
		if server, err = f.startServer(ctx, w.streams); err != nil {
			return nil, err
		}
		defer wrong.Close(&err, server.Stop)
		run.Asker = served{w.pool, server}
	}
	ctx, cancel := untilServerEnds(ctx, server)
	defer cancel(nil)
	ids, err := f.preflight(ctx, w.streams, run, server)
	if err == nil {
		w.servers, err = f.keepIdentities(ids)
	}
	if err == nil {
		summary, err = w.play(ctx, run)
	}
	const goOn = "run the same command again: finished rollouts are kept"
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, serve.ErrEnded) {
		err = cli.Failed(fmt.Errorf("evaluate: %w", cause), goOn)
	} else if errors.Is(err, model.ErrAccount) {
		err = cli.Failed(fmt.Errorf("evaluate: the run is not finished: %w", err), "renew the key (--api-key-env names its variable) or pay the account, then "+goOn)
	} else if errors.Is(err, model.ErrUnreachable) {
		err = cli.Failed(fmt.Errorf("evaluate: the run is not finished: %w", err), "start the server again, then "+goOn)
	}
	return summary, err
}

func (f *Flags) report(s *cli.Streams, m *evaluation.Summary) error {
	if !f.Quiet {
		fmt.Fprint(s.Err, student.Table(m))
		if f.bill != "" {
			fmt.Fprintln(s.Err, f.bill)
		}
		s.Notef("pages         arena view %s\nlog           inspect view --log-dir %s\n", f.Out, f.Out)
	}
	if m.NoRate != "" {
		return cli.Limit(errors.New(m.NoRate), "mend the server and begin the run in another folder; summary.json names the forms of calls that nobody parsed")
	}
	if m.Coverage < f.coverage {
		mend := "mend the server"
		if m.Infra["timeout"] > 0 {
			mend = "a slow server wants a longer --timeout or a smaller --concurrency; mend it"
		}
		return cli.Limit(fmt.Errorf(
			"only %d of %d rollouts were scored: coverage %.4f is below %.4f",
			m.Scored,
			m.Samples,
			m.Coverage,
			f.coverage,
		),
			"summary.json counts the reasons under infra; "+mend+" and run the same command with --retry-infra, or lower --min-coverage")
	}
	return f.unjudged(m)
}
