package build

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/reports"
	"github.com/trajectory-arena/arena/report"
	"github.com/trajectory-arena/arena/traces"
)

// plots draws the reports of a build.
func plots(r *reports.Set) (map[string][]byte, error) {
	b := report.Build{Funnel: r.Funnel}
	for _, a := range r.Agents.Agents {
		b.Agents = append(b.Agents, report.Agent{Name: a.Agent, Kept: a.Kept})
	}
	for _, l := range r.Judges.Levels {
		b.Levels = append(b.Levels, report.Level(l))
	}
	for _, l := range r.Lengths {
		b.Lengths = append(b.Lengths, report.Lengths(l))
	}
	return b.Plots()
}

// tell prints what a finished build made, for people.
func (f *buildFlags) tell(s *pipeline.Summary) {
	cli.Warn(f.streams.Err, s.CutFiles, s.Collisions)
	if s.Lifted != "" {
		fmt.Fprintf(f.streams.Err, "warning: %s\n", s.Lifted)
	}
	if s.Withdrawn > 0 {
		fmt.Fprintf(f.streams.Err, "warning: earlier versions train on %s that are protected now: reports/withdrawn.json names them and the versions\n", cli.Counted(s.Withdrawn, "attempt", "attempts"))
	}
	if f.noisy.Quiet {
		return
	}
	w := f.streams.Err
	choose.PrintFunnel(w, s.Funnel)
	fmt.Fprintf(w, "\n%s:", f.target.Name)
	for _, name := range slices.Sorted(maps.Keys(s.Rows)) {
		fmt.Fprintf(w, "  %s %d", name, s.Rows[name])
	}
	fmt.Fprintln(w)
	if s.Top > 0 {
		fmt.Fprintf(w, "at most %s a problem became rows; --set select.top=N allows N\n", cli.Counted(s.Top, "attempt", "attempts"))
	}
	fmt.Fprintf(w, "check it with: arena verify %s\n", f.target.Name)
}

// buildError shows where attempts were lost, where that is why there is no
// corpus.
func (f *buildFlags) buildError(s *pipeline.Summary, err error) error {
	if s != nil {
		cli.Warn(f.streams.Err, s.CutFiles, s.Collisions)
		choose.PrintFunnel(f.streams.Err, s.Funnel)
	}
	return buildError(err)
}

// buildError gives the known failures of a run their hint and exit code.
func buildError(err error) error {
	if _, told := errors.AsType[*cli.Failure](err); told {
		return err
	}
	for _, known := range []error{instrument.JudgeError(err), cli.NotProtected(err)} {
		if known != nil {
			return known
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, pipeline.ErrUnscored):
		return cli.Limit(err, "run the same command again to ask only for the missing ones, or raise --set max_unscored")
	case errors.Is(err, traces.ErrUnreadable):
		return cli.Unreadable(err)
	case errors.Is(err, pipeline.ErrTerms):
		return cli.Usage(err, "bring back what was planned, or plan again: `arena build … --plan PLAN`")
	case errors.Is(err, pipeline.ErrNetworks):
		return cli.Usage(err, "build them apart, or say --any-network")
	case errors.Is(err, pipeline.ErrNoProblems):
		return cli.Usage(err, "give --problems FILE, or put problems.jsonl into the day's folder")
	case errors.Is(err, pipeline.ErrNoCatalog):
		return cli.Usage(err, "give --catalog FILE, or put catalog.jsonl into the day's folder")
	case errors.Is(err, choose.ErrEmpty):
		return cli.Failed(err, "the funnel above says where attempts were lost; `arena filter DAY -o -` says why for each")
	case errors.Is(err, guard.ErrFewClusters):
		return cli.Failed(err, "add days, or problems by --problems")
	case errors.Is(err, pipeline.ErrOtherDay):
		return cli.Failed(err, "give another -o, or --force to replace it; a corpus of both days: name both")
	case errors.Is(err, corpus.ErrForeign):
		return cli.Failed(err, "give -o a new folder, an empty one, or that of a corpus to replace")
	case errors.Is(err, corpus.ErrStranger):
		return cli.Failed(err, cli.MoveStranger)
	case errors.Is(err, corpus.ErrBusy):
		return cli.Failed(err, "wait for it, or give another -o or --work")
	case errors.Is(err, pipeline.ErrInput):
		return cli.Failed(err, "check the file: it must be there, readable and as docs/formats.md describes it (`arena build --help` lists the flags)")
	default:
		return cli.Failed(err, "finished blocks are kept: mend the cause and run the same command again")
	}
}
