package evaluate

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/environment"
	"github.com/trajectory-arena/arena/environment/reward"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/outcome"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/student"
)

// NewEnv makes `arena env`.
func NewEnv(s *cli.Streams) *cobra.Command {
	return cli.Family("env", "The shop, its tools and the subnet's rules as an environment for trainers", newEnvServe(s), newEnvReward(s))
}

type rewardFlags struct {
	preset, judge string
	titles        instrument.Embeddings
}

func (f *rewardFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.preset, "reward", reward.Presets()[0], "preset: "+strings.Join(reward.Presets(), ", ")+", or a YAML file of weights")
	f.judge = "gates"
	cli.Choice(c, &f.judge, "judge", []string{"gates", noJudge}, "reasoning judge: gates or none; a reward waits for no model")
	cli.Reads(c, "reward")
	f.titles.Flags(c, instrument.Titles)
}

func (f *rewardFlags) payer(problems []arena.Problem, products outcome.Products) (*environment.Payer, error) {
	w, err := reward.Open(f.preset)
	if err != nil {
		return nil, cli.Usage(err, "--reward takes "+strings.Join(reward.Presets(), ", ")+", or a file such as `success: 1`; docs/rewards.md has the parts")
	}
	titles, err := f.titles.Titles()
	if err != nil {
		return nil, err
	}
	p := &environment.Payer{Suite: arena.NewSuite(problems), Scorer: outcome.New(products, titles), Weights: w}
	if f.judge == noJudge {
		return p, nil
	}
	judge, _ := judges.Named(f.judge)
	p.Judge, _, err = judge.Open(nil)
	return p, err
}

type protectFlags struct {
	corpora, heldOut []string
	bank             string
	unguarded        bool
}

func (f *protectFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.corpora, "corpus", nil, "corpus whose protected problems are refused, and whose attempts are the teachers of tool_match; repeat it for more")
	c.Flags().StringVar(&f.bank, "bank", "", "the same of a bank.json alone")
	c.Flags().StringArrayVar(&f.heldOut, "held-out", nil, "problems to refuse with all their paraphrases; repeat it for more")
	c.Flags().BoolVar(&f.unguarded, "unguarded", false, "refuse nothing: every problem may be trained on")
	cli.Reads(c, "corpus", "bank", "held-out")
}

func (f *protectFlags) refused(p student.Problems) (map[string]string, error) {
	given := len(f.corpora)+len(f.heldOut) > 0 || f.bank != ""
	switch {
	case f.unguarded && given:
		return nil, cli.Usage(errors.New("--unguarded refuses nothing"), "leave it out, or leave out what is to be refused")
	case f.unguarded:
		return nil, nil
	case !given:
		return nil, cli.Usage(errors.New("nothing says which problems may not be trained on"), "name the corpus with --corpus, a --bank or --held-out file, or say --unguarded")
	}
	known, err := f.known()
	if err == nil {
		var refused map[string]string
		if refused, err = environment.Refuse(known, p); err == nil {
			return refused, nil
		}
	}
	if errors.Is(err, guard.ErrEmptyBank) {
		return nil, cli.Usage(err, "what was named protects nothing: name another, or say --unguarded")
	}
	return nil, cli.Otherwise(err, "--corpus names a corpus, --bank its bank.json; "+cli.BankForms)
}

func (f *protectFlags) known() (*finish.Known, error) {
	sources, err := f.sources()
	if err != nil {
		return nil, err
	}
	known, err := finish.Gather(sources, f.heldOut)
	if err != nil || f.bank == "" {
		return known, err
	}
	b, err := os.Open(f.bank)
	if err != nil {
		return nil, fmt.Errorf("read bank: %w", err)
	}
	defer b.Close() //nolint:errcheck // only read
	state, err := guard.ReadState(b)
	if err != nil {
		return nil, err
	}
	known.Bank, err = guard.Union(state, known.Protecting())
	return known, err
}

func (f *protectFlags) sources() (all []*finish.Source, err error) {
	for _, dir := range f.corpora {
		s, err := finish.Open(corpus.Disk{}, dir)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (f *protectFlags) teachers() (map[string][]arena.Call, error) {
	sources, err := f.sources()
	if err != nil {
		return nil, err
	}
	all := map[string][]arena.Call{}
	for _, s := range sources {
		of, err := environment.Teachers(s)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, of)
	}
	return all, nil
}
