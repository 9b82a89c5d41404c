package evaluate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/environment"
	"github.com/trajectory-arena/arena/environment/reward"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/traces"
)

// NewEnv returns `arena env`.
func NewEnv(s *cli.Streams) *cobra.Command {
	return cli.Family("env", "The shop, its tools and the subnet's rules as an environment for trainers", newEnvServe(s), newEnvReward(s))
}

type rewardFlags struct {
	preset, judge string
	domain        string
	titles        instrument.Embeddings
}

func (f *rewardFlags) add(c *cobra.Command) {
	c.Flags().StringVar(
		&f.preset,
		"reward",
		reward.Presets()[0],
		"preset: "+strings.Join(reward.Presets(), ", ")+", or a YAML file of weights",
	)
	f.judge = "gates"
	cli.Choice(c, &f.judge, "judge", []string{"gates", noJudge}, "reasoning judge: gates or none; a reward waits for no model")
	c.Flags().StringVar(&f.domain, "domain", "", "domain of the attempts if it is not the shop: a name of arena list domains, or a file")
	cli.Reads(c, "reward")
	f.titles.Flags(c, instrument.Titles)
}

func (f *rewardFlags) payer(problems []arena.Problem, products outcome.Products) (*environment.Rewarder, error) {
	w, err := reward.Open(f.preset)
	if err != nil {
		return nil, cli.Usage(
			err,
			"--reward takes "+strings.Join(reward.Presets(), ", ")+", or a file such as `success: 1`; docs/rewards.md has the parts",
		)
	}
	titles, err := f.titles.Titles()
	if err != nil {
		return nil, err
	}
	p := &environment.Rewarder{
		Suite:   arena.NewSuite(problems),
		Scorer:  outcome.New(products, titles),
		Weights: w,
	}
	if f.judge == noJudge {
		return p, nil
	}
	judge, _ := judges.ByFlag(f.judge)
	p.Judge, _, err = judge.Open(nil)
	return p, err
}

type protectFlags struct {
	corpora, heldOut []string
	bank             string
	unguarded        bool
}

func (f *protectFlags) add(c *cobra.Command) {
	cli.Files(c, &f.corpora, "corpus", "corpus whose protected problems are refused, and whose attempts are the reference for tool_match; may be repeated")
	cli.File(c, &f.bank, "bank", "the same of a bank.json alone")
	cli.Files(c, &f.heldOut, "held-out", "problems to refuse, with all their paraphrases; may be repeated")
	c.Flags().BoolVar(&f.unguarded, "unguarded", false, "protect nothing: every problem may be trained on")
}

func (f *protectFlags) refused(p student.Problems) (map[string]string, error) {
	protected := len(f.corpora)+len(f.heldOut) > 0 || f.bank != ""
	switch {
	case f.unguarded && protected:
		return nil, cli.Misuse("--unguarded refuses nothing", "leave it out, or leave out what is to be refused")
	case f.unguarded:
		return nil, nil
	case !protected:
		return nil, cli.Misuse("nothing says which problems may not be trained on", "name the corpus with --corpus, a --bank or --held-out file, or say --unguarded")
	}
	known, err := f.known()
	var refused map[string]string
	if err == nil {
		refused, err = environment.RefusedProblems(known, p)
	}
	if errors.Is(err, guard.ErrEmptyBank) {
		return nil, cli.Usage(err, "what was named protects nothing: name another, or say --unguarded")
	}
	return refused, cli.DefaultHint(err, "--corpus names a corpus, --bank its bank.json; "+cli.BankForms)
}

func (f *protectFlags) known() (*finish.Exclusions, error) {
	sources, err := f.sources()
	if err != nil {
		return nil, err
	}
	known, err := finish.CollectExclusions(sources, f.heldOut)
	if err != nil || f.bank == "" {
		return known, err
	}
	b, err := os.ReadFile(f.bank)
	if err != nil {
		return nil, fmt.Errorf("read bank: %w", err)
	}
	state, err := guard.ReadState(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	known.Bank = guard.Union(state, known.ProtectedOnly())
	return known, nil
}

func (f *protectFlags) sources() (sources []*finish.Source, err error) {
	for _, dir := range f.corpora {
		s, err := finish.Open(corpus.Disk{}, dir)
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

func (f *protectFlags) teachers() (map[string][]arena.Call, error) {
	sources, err := f.sources()
	calls := map[string][]arena.Call{}
	for _, s := range sources {
		teachers, bad := environment.Teachers(s)
		maps.Copy(calls, teachers)
		err = errors.Join(err, bad)
	}
	return calls, err
}

type payFlags struct {
	cli.DayFlags
	shop     catalogFlags
	pay      rewardFlags
	problems string
}

func newEnvReward(s *cli.Streams) *cobra.Command {
	f := &payFlags{}
	c := cli.Command("reward DAY… --problems F --catalog F -o F", "Compute the reward of finished trajectories, as env serve does", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, days []string) error {
			if f.pay.domain != "" {
				return f.runDomain(c, s, days)
			}
			return f.run(c.Context(), s, days)
		})
	f.shop.add(c)
	f.pay.add(c)
	f.Register(c, runtime.NumCPU(), "workers")
	f.Noisy.Flags(c)
	cli.File(c, &f.problems, "problems", "problems: JSON lines, or one JSON array")
	return c
}

func (f *payFlags) run(
	ctx context.Context,
	s *cli.Streams,
	days []string,
) error {
	problems, err := readProblems(f.problems)
	if err != nil {
		return err
	}
	local, err := f.shop.open(ctx)
	if err != nil {
		return err
	}
	defer local.Catalog.Close() //nolint:errcheck // only read
	payer, err := f.pay.payer(problems.All, local.Catalog)
	if err != nil {
		return err
	}
	return f.write(ctx, s, days, payer)
}

// runDomain computes the rewards of attempts in another domain than the shop. An attempt at a problem
// that --problems does not have is paid by its own request.
func (f *payFlags) runDomain(c *cobra.Command, s *cli.Streams, days []string) error {
	payer, err := f.pay.openDomain(c)
	if err != nil {
		return err
	}
	var problems student.Problems
	if f.problems != "" {
		problems, err = student.ReadRequests(f.problems)
		if err != nil {
			return cli.DefaultHint(err, "problems are JSON lines with problem_id and query")
		}
	}
	payer.Suite = arena.NewSuite(problems.All)
	return f.write(c.Context(), s, days, payer)
}

// write computes the rewards of the attempts in days and writes them.
func (f *payFlags) write(
	ctx context.Context,
	s *cli.Streams,
	days []string,
	payer *environment.Rewarder,
) error {
	inputs, err := s.DayInputs(ctx, days)
	if err != nil {
		return err
	}
	d := cli.Scan{
		DayFlags: &f.DayFlags,
		Name:     "reward",
		Streams:  s,
		Limits:   traces.DefaultLimits(),
	}
	return d.Write(func(w io.Writer) error {
		lines, bad := cli.ScanAttempts(ctx, &d, inputs, func(ctx context.Context, t *arena.Trace) (environment.Line, error) {
			line, lost := payer.RewardTrace(ctx, t)
			return line, cli.DefaultHint(lost, "titles could not be embedded: start the endpoint, or leave --embeddings out")
		})
		if bad != nil {
			return bad
		}
		return f.lines(s, w, lines)
	})
}

func (f *payFlags) lines(
	s *cli.Streams,
	w io.Writer,
	lines []environment.Line,
) error {
	paid := 0
	solved := 0
	e := asjson.NewEncoder(w)
	for _, line := range lines {
		line.RunID, line.ProblemID, line.Error = cli.WithoutSecrets(line.RunID), cli.WithoutSecrets(line.ProblemID), cli.WithoutSecrets(line.Error)
		if err := e.Encode(line); err != nil {
			return fmt.Errorf("write rewards: %w", err)
		}
		if line.Reward != nil {
			paid++
		}
		if line.Success != nil && *line.Success {
			solved++
		}
	}
	if paid == 0 {
		return cli.Failed(errors.New("no attempt could be paid"), "DAY has attempts at the problems of --problems; where success has a weight, their outcomes are known")
	}
	if !f.Noisy.Quiet {
		s.Notef("%d attempts paid, %d of them successes\n", paid, solved)
	}
	return nil
}
