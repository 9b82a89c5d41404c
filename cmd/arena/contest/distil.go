package contest

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/contest/distil"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/report"
)

type distilFlags struct {
	outputs
	scores     string
	benchmarks string
	simulate   bool
}

type replayed struct {
	*distil.Report
	Simulated []distil.Simulated     `json:"simulated,omitempty"`
	Axes      []distil.SimulatedAxes `json:"simulated_axes,omitempty"`
	// NotSimulated tells which kind of rule could not be simulated, and why.
	NotSimulated string `json:"not_simulated,omitempty"`
}

// The reasons why a kind of rule is not simulated.
const (
	noAxes  = "The composite is not simulated: no king of these files has five axes."
	noNoise = "The rules by KL are not simulated: they need two rounds with a king and an honest challenger on the same 40 prompts."
)

// challenged is a row of the Parquet table of `arena contest distil`: what the rule decides about
// one challenger (a model that competes with the king, the best model so far) in one round.
type challenged struct {
	Round   string `parquet:"round"`
	Block   int64  `parquet:"block"`
	King    string `parquet:"king"`
	Winner  string `parquet:"winner"`
	Outcome string `parquet:"outcome"`
	distil.Verdict
}

func newDistil(s *cli.Streams) *cobra.Command {
	f := distilFlags{}
	c := cli.Command("distil ROUNDS", "Replay the rounds of subnet 97, with how certain each decision is", cli.NumArgs(1, 1),
		func(_ *cobra.Command, paths []string) error {
			return f.run(s, paths[0])
		})
	cli.File(c, &f.scores, "scores", "the validator's scores after each block, JSON lines")
	cli.File(c, &f.benchmarks, "benchmarks", "results of the models elsewhere, JSON lines of {model, benchmark, score}: adds rank correlations with KL")
	c.Flags().BoolVar(&f.simulate, "simulate", false, "simulate each rule with the noise of these rounds: false dethronings, and power at 1, 3 and 5 %")
	f.flags(c, "a challenger of a round")
	cli.ReadsFiles(c)
	return c
}

// times is the number of simulated rounds for each real round of a contest. With 20 real rounds, the
// standard error of a simulated rate, for these rounds, is then at most 0.008.
const times = 200

// axesTimes is the number of simulations for each king (best model so far) of how its axes, the
// parts of its composite score, vary by chance. With 2,000 simulations the error of a simulated
// rate is at most 0.011.
const axesTimes = 2000

func (f *distilFlags) run(s *cli.Streams, path string) error {
	rounds, err := distil.ReadRounds(path)
	if err != nil {
		return cli.Failed(err, "--help says what a file of rounds holds")
	}
	var states []distil.State
	if f.scores != "" {
		if states, err = distil.ReadStates(f.scores); err != nil {
			return cli.Failed(err, "--scores has {block, scores: {uid: KL}} a line, blocks rising")
		}
	}
	r := replayed{Report: distil.ReplayAll(rounds, states)}
	if err = f.more(&r, rounds); err != nil {
		return err
	}
	if err = table(s, f.parquet, challengers(r.Report)); err != nil {
		return err
	}
	if err = f.write(s, r, report.KingsPage(r.Report, r.Simulated, r.Axes, r.NotSimulated)); err != nil {
		return err
	}
	return unexplained(r.Report)
}

func (f *distilFlags) more(r *replayed, rounds []*distil.Round) error {
	if f.benchmarks != "" {
		scores, err := distil.ReadScores(f.benchmarks)
		if err != nil {
			return cli.Failed(err, "--benchmarks has {model, benchmark, score} a line")
		}
		r.Benchmarks = distil.Correlate(rounds, scores)
	}
	if !f.simulate {
		return nil
	}
	better := []float64{0, 0.01, 0.03, 0.05}
	rules := slicesx.Map(distil.Versions, func(v distil.Version) distil.Rule {
		return v.Rule
	})
	r.Axes = distil.SimulateAxes(rounds, []float64{0, 0.03, 0.05, 0.1}, []int{16, 64, 256}, []float64{0, 0.1}, axesTimes)
	if r.Axes == nil {
		r.NotSimulated = noAxes
	}
	var err error
	r.Simulated, err = distil.Simulate(rounds, rules, []int{40, 100, 300}, better, times)
	if err != nil && r.Axes != nil {
		r.NotSimulated = noNoise
		err = nil
	}
	return cli.DefaultHint(err, "--simulate needs two rounds or more with such a pair, or kings with axes")
}

func challengers(r *distil.Report) (rows []challenged) {
	for i := range r.Rounds {
		x := &r.Rounds[i]
		for _, v := range x.Verdicts {
			rows = append(rows, challenged{x.ID, x.Block, x.King, x.Winner, x.Outcome, v})
		}
	}
	return rows
}

func unexplained(r *distil.Report) error {
	for i := range r.Rounds {
		if x := &r.Rounds[i]; x.Outcome == "unexplained" {
			return cli.Limit(fmt.Errorf("round %s: the rule gives the crown to %q, published is uid %s", x.ID, x.Winner, x.Published),
				"look at the round's verdicts with --json")
		}
	}
	return nil
}
