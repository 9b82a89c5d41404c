package contest

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/contest/yuma"
	"github.com/trajectory-arena/arena/report"
)

// yumaFlags are what a user can say to `arena contest yuma`.
type yumaFlags struct {
	outputs
	rules yuma.Rules
	set   []string
}

// consensus is one epoch, and what it would be with other weights.
type consensus struct {
	*yuma.Result
	Changed *yuma.Result `json:"changed,omitempty"`
}

// paid is a node of one epoch, as a row of the table.
type paid struct {
	Epoch string `parquet:"epoch"`
	yuma.Node
}

func newYuma(s *cli.Streams) *cobra.Command {
	f := yumaFlags{rules: yuma.DefaultRules()}
	c := &cobra.Command{
		Use:   "yuma FILE",
		Short: "Compute Yuma consensus from stake and weights",
		Long: `Compute what stake and weights become: clipped weights, consensus, rank, trust,
incentive, dividends, bonds and emission, by node and epoch.

JSON is one epoch, or a line each: {id, stake: […], weights: [[[uid, weight], …], …]}.
Bonds carry over between neighbours whose ids differ in their last number alone
(name-1, name-2). CSV and Parquet are one epoch in rows of uid, stake, target and
weight; a node without weights has one row with an empty target.

--set asks what other weights of one validator would have changed.`,
		Example: `  arena contest yuma testdata/contest/yuma/epochs.jsonl
  arena contest yuma testdata/contest/yuma/epochs.jsonl --set 2:3=1 --json --parquet nodes.parquet`,
		Args: cli.Takes(1, 1),
		RunE: func(_ *cobra.Command, paths []string) error { return f.run(s, paths[0]) },
	}
	c.Flags().Float64Var(&f.rules.Kappa, "kappa", f.rules.Kappa, "share of stake that consensus takes")
	c.Flags().Float64Var(&f.rules.BondAlpha, "bond-alpha", f.rules.BondAlpha, "share of the bonds that one epoch renews")
	c.Flags().StringArrayVar(&f.set, "set", nil, "put a validator's weights in place of its own: 3:7=1,5=0.5; again for more")
	f.flags(c, "a node of an epoch")
	return c
}

func (f *yumaFlags) run(s *cli.Streams, path string) error {
	for _, v := range []float64{f.rules.Kappa, f.rules.BondAlpha} {
		if !(v >= 0 && v <= 1) {
			return cli.Usage(fmt.Errorf("%v is no share", v), "--kappa and --bond-alpha are from 0 to 1")
		}
	}
	var changes []yuma.Change
	for _, text := range f.set {
		change, err := yuma.ParseChange(text)
		if err != nil {
			return cli.Usage(fmt.Errorf("--set: %w", err), "for example 3:7=1,5=0.5")
		}
		changes = append(changes, change)
	}
	epochs, err := yuma.Read(path)
	if err != nil {
		return cli.Failed(err, "--help says what the file holds")
	}
	results := yuma.Series(epochs, f.rules)
	all, err := f.what(epochs, results, changes)
	if err != nil {
		return err
	}
	var rows []paid
	for _, r := range results {
		for _, n := range r.Nodes {
			rows = append(rows, paid{r.ID, n})
		}
	}
	if err := table(s, f.parquet, rows); err != nil {
		return err
	}
	return f.write(s, all, func(w io.Writer) error { return printYuma(w, all) },
		func() (*report.Page, error) { return report.WeightsPage(results) })
}

// what adds what changes would have made of each epoch, before its own bonds.
func (f *yumaFlags) what(epochs []*yuma.Epoch, results []*yuma.Result, changes []yuma.Change) ([]consensus, error) {
	all := make([]consensus, len(results))
	changed := make([]*yuma.Epoch, len(epochs))
	for i, e := range epochs {
		all[i].Result = results[i]
		var err error
		if changed[i], err = e.With(changes); err != nil {
			return nil, cli.Usage(fmt.Errorf("--set: epoch %d: %w", i+1, err), "name nodes of the file")
		}
	}
	if len(changes) > 0 {
		for i, r := range yuma.Series(changed, f.rules) {
			all[i].Changed = r
		}
	}
	return all, nil
}

func printYuma(w io.Writer, all []consensus) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	const shown = 20
	for i, c := range all {
		fmt.Fprintf(t, "epoch %d %s: %d nodes, %d validators with %.2f %% of stake, consensus cuts %.2f %% of weights\n",
			i+1, cli.Printable(c.ID), len(c.Nodes), c.Validators, 100*c.StakeShare, 100*c.Clipped)
		fmt.Fprint(t, "uid\tstake\tconsensus\ttrust\tincentive\tvtrust\tdividends\temission\t")
		if c.Changed != nil {
			fmt.Fprint(t, "emission if changed\t")
		}
		fmt.Fprintln(t)
		for _, n := range c.Largest(shown) {
			fmt.Fprintf(t, "%d\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t", n.UID, n.Stake, n.Consensus, n.Trust, n.Incentive, n.ValidatorTrust, n.Dividends, n.Emission)
			if c.Changed != nil {
				fmt.Fprintf(t, "%.4f\t", c.Changed.Nodes[n.UID].Emission)
			}
			fmt.Fprintln(t)
		}
		if more := len(c.Nodes) - shown; more > 0 {
			fmt.Fprintf(t, "and %d nodes with less; --json and --parquet have all\n", more)
		}
	}
	return t.Flush()
}
