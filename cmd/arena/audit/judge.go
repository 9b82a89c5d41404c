package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/traces"
)

type judgeFlags struct {
	cli.DayFlags
	choice  instrument.JudgeChoice
	dryRun  bool
	probe   int
	explain string
	labels  string
	domain  string
	steps   bool
}

// attemptsAtOnce is the number of attempts that models judge in parallel. Most of them wait for an
// answer, for a free connection or after a failure, which needs no processor core and little
// memory.
const attemptsAtOnce = 4 * instrument.ModelsAtOnce

// NewJudge returns `arena judge`.
func NewJudge(s *cli.Streams) *cobra.Command {
	f := judgeFlags{choice: instrument.JudgeChoice{LLM: instrument.DefaultLLMFlags()}}
	c := cli.Command("judge DAY…", "Judge how attempts reasoned, offline or with models", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, days []string) error {
			return f.run(c, s, days)
		})
	flags := c.Flags()
	flags.StringVar(
		&f.choice.Name,
		"judge",
		"gates",
		"the judge: "+strings.Join(judges.Names(), " or "),
	)
	f.Register(c, 0, fmt.Sprintf("attempts judged at once (default: cores for gates, %d for llm)", attemptsAtOnce))
	flags.BoolVarP(&f.Noisy.Quiet, "quiet", "q", false, "nothing on standard error")
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "print how many requests, tokens and dollars judging would cost")
	flags.IntVar(&f.probe, "probe", 0, "test the judge itself on this many attempts instead: one line per probe")
	flags.StringVar(&f.explain, "explain", "", "explain one grade: the result of each gate, with the passages; the ID is RUN/PROBLEM")
	cli.File(c, &f.labels, "labels", "with --explain: labels or judge lines; prints where they differ")
	flags.BoolVar(&f.steps, "steps", false, "grade each step instead: by its contribution to the final answer, or by --judge llm")
	flags.StringVar(&f.domain, "domain", "", domainUsage)
	f.choice.LLM.Settings.Flags(c)
	f.choice.LLM.Add(c)
	return c
}

func (f *judgeFlags) run(
	c *cobra.Command,
	s *cli.Streams,
	days []string,
) error {
	if f.probe < 1 && c.Flags().Changed("probe") {
		return cli.Usage(fmt.Errorf("--probe is %d", f.probe), "give the number of attempts to probe the judge on")
	}
	if f.steps && f.probe > 0 {
		return cli.Misuse("--probe and --steps do not go together", "probes move a score, and steps have none")
	}
	explainsMore := f.explain != "" && (f.steps || f.probe > 0 || f.dryRun)
	labelsAlone := f.labels != "" && f.explain == ""
	if explainsMore || labelsAlone {
		return cli.Misuse("--explain stands alone, and --labels with it", "leave --steps, --probe and -n out")
	}
	return f.judge(c.Context(), s, days)
}

func (f *judgeFlags) judge(
	ctx context.Context,
	s *cli.Streams,
	days []string,
) (err error) {
	if judge, _ := judges.ByFlag(f.choice.Name); judge.AsksModels {
		f.choice.Steps = f.choice.Name // models label steps too
	}
	domains, err := domain.NewSet(f.domain)
	if err != nil {
		return cli.Usage(err, "`arena list domains` lists the built-in domains")
	}
	opened, err := f.choice.Open(s.Err)
	if err != nil {
		return err
	}
	defer wrong.Close(&err, opened.Close)
	if f.dryRun && opened.Models == nil {
		return cli.Misuse("the offline judge asks no model", "add --judge llm, or leave out -n")
	}
	if f.Workers == 0 && opened.Asks {
		f.Workers = attemptsAtOnce
	}
	f.Workers = cmp.Or(f.Workers, runtime.NumCPU())
	day := &judgeDay{
		Scan: cli.Scan{
			DayFlags: &f.DayFlags,
			Name:     "judge",
			Streams:  s,
			Limits:   traces.DefaultLimits(),
		},
		flags:    f,
		domains:  domains,
		progress: f.Noisy.Progress(s),
		Judges:   opened,
	}
	defer day.progress.Done()
	switch {
	case f.dryRun:
		return day.predict(ctx, days)
	case f.explain != "":
		return day.explain(ctx, days)
	case f.probe > 0:
		return day.Write(func(w io.Writer) error {
			return day.probe(ctx, w, days, f.probe)
		})
	}
	return day.lines(ctx, days)
}

type judgeTally struct {
	attempts int
	// empty counts attempts without a dialogue, unsaid attempts whose thinking no model wrote, undecided
	// attempts whose thinking may be the client's, and notMeasured attempts of domains on which the
	// judge was not measured. None is a failure of the judge.
	empty       int
	unsaid      int
	undecided   int
	notMeasured int
	outcomes    map[arena.JudgeOutcome]int
	// doubts counts scores whose quotations are wrong.
	doubts map[arena.JudgeDoubt]int
	needs  map[arena.Need]int
	why    map[string]int
	// stopped is the limit, such as the budget, at which the requests ended, nil if there was none.
	stopped error
}

func (t *judgeTally) count(j *judged) {
	t.attempts++
	for _, s := range j.Steps {
		t.needs[s.Need]++
	}
	switch j.Outcome {
	case arena.JudgeUnsaid:
		t.unsaid++
		return
	case arena.JudgeUndecided:
		t.undecided++
		return
	case arena.JudgeNotMeasured:
		t.notMeasured++
		return
	case arena.JudgeScored, arena.JudgeRefused, arena.JudgeUnparsed, arena.JudgeFailed, arena.JudgeNotAsked:
	}
	if !j.judgeable {
		t.empty++
		return
	}
	t.outcomes[j.Outcome]++
	if j.Outcome != arena.JudgeScored {
		t.why[j.Detail]++
	}
	if j.Doubt != "" {
		t.doubts[j.Doubt]++
	}
	t.stopped = cmp.Or(j.stopped, t.stopped)
}

func (t *judgeTally) unscored() int {
	return t.attempts - t.empty - t.unsaid - t.undecided - t.notMeasured - t.outcomes[arena.JudgeScored]
}

func (t *judgeTally) print(w io.Writer) {
	fmt.Fprintf(w, "%d attempts: %d scored, %d refused, %d unparsed, %d failed, %d without a dialogue\n", t.attempts,
		t.outcomes[arena.JudgeScored], t.outcomes[arena.JudgeRefused], t.outcomes[arena.JudgeUnparsed], t.outcomes[arena.JudgeFailed], t.empty)
	if t.unsaid > 0 {
		fmt.Fprintf(w, "%d not judged: their thinking stands in no reply of the log (%s)\n", t.unsaid, arena.JudgeUnsaid)
	}
	if t.undecided > 0 {
		fmt.Fprintf(w, "%d without a grade: their logs lack replies that would show whether a model wrote the reasons (%s)\n", t.undecided, arena.JudgeUndecided)
	}
	if t.notMeasured > 0 {
		fmt.Fprintf(w, "%d not judged: the judge was not measured on their domain (%s); --domain NAME judges them as attempts of another\n", t.notMeasured, arena.JudgeNotMeasured)
	}
	if len(t.needs) > 0 {
		fmt.Fprintf(
			w,
			"steps: %d needed, %d waste, %d unclear\n",
			t.needs[arena.StepNeeded],
			t.needs[arena.StepWaste],
			t.needs[arena.StepUnclear],
		)
	}
	for _, doubt := range slicesx.SortedKeys(t.doubts) {
		fmt.Fprintf(w, "%d scored with a doubt: %s\n", t.doubts[doubt], doubt)
	}
	for _, why := range slicesx.SortedKeys(t.why) {
		fmt.Fprintf(w, "%d without a score: %s\n", t.why[why], why)
	}
}

func (t *judgeTally) verdict(maxUnscored float64) error {
	judged := t.attempts - t.empty - t.unsaid - t.undecided
	const again = "run the same command again: only what is missing will be asked"
	switch {
	case t.attempts == 0:
		return cli.Failed(errors.New("no attempt could be read"), "`arena judge --help` says what a DAY is")
	case leavesRest(t.stopped):
		return cli.Limit(
			fmt.Errorf("%w: %d of %d attempts are judged", t.stopped, t.outcomes[arena.JudgeScored], judged),
			again,
		)
	case float64(t.unscored()) > maxUnscored*float64(judged):
		return cli.Limit(fmt.Errorf("%d of %d attempts have no score (%.1f %%): more than --max-unscored %.1f %%",
			t.unscored(), judged, 100*float64(t.unscored())/float64(judged), 100*maxUnscored), again+", or raise --max-unscored")
	}
	return nil
}

func (d *judgeDay) predict(ctx context.Context, days []string) error {
	attempts := 0
	total := d.Models.Judge.Forecast()
	if d.flags.steps {
		total = d.Models.Judge.ForecastSteps()
	}
	err := d.attempts(ctx, days, func(t *arena.Trace) error {
		attempts++
		dialogue := filters.Normalise(t)
		thinking := filters.MeasureThinking(t, &dialogue)
		if thinking.IsForeign {
			return nil // it will not be asked about
		}
		return total.Add(d.domains.Recognise(t, &dialogue, domain.Base), t, &thinking.Graded)
	})
	if err != nil {
		return err
	}
	if !d.Noisy.Quiet {
		d.Streams.Notef("%d attempts: %d requests would be sent, %d answers are held; about %d prompt and %d completion tokens, %s\n",
			attempts, total.Calls, total.Cached, total.Prompt, total.Completion, instrument.Dollars(total.USD))
	}
	return json.NewEncoder(d.Streams.Out).Encode(map[string]any{
		"attempts": attempts, "requests": total.Calls, "held": total.Cached,
		"tokens": map[string]int{"prompt": total.Prompt, "completion": total.Completion}, "cost_usd": total.USD,
	})
}

func (d *judgeDay) printBill(before ledger.Bill) {
	if d.Models == nil {
		return
	}
	after := d.Models.Ledger.Bill()
	usd := *after.USD - *before.USD
	cost := instrument.Dollars(&usd)
	if after.Unpriced > before.Unpriced {
		cost = "at unknown prices"
	}
	for _, sub := range d.Models.Judge.Substitutes() {
		d.Streams.Notef("warning: %d answers for %s came from %s, as the server names it\n", sub.Answers, sub.Asked, sub.Served)
	}
	d.Streams.Notef("%d exchanges in this run: %d prompt and %d completion tokens, %s; kept in %s\n",
		after.Exchanges-before.Exchanges, after.Prompt-before.Prompt, after.Completion-before.Completion, cost, d.Models.Folder)
}
