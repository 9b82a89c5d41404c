package contest

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/contest/yuma"
	"github.com/trajectory-arena/arena/report"
)

type yumaFlags struct {
	outputs
	rules  yuma.Rules
	subnet string
	set    []string
}

type consensus struct {
	*yuma.Result
	Changed *yuma.Result `json:"changed,omitempty"`
}

// paid is a row of the Parquet table of `arena contest yuma`: the incentive (pay for mining),
// dividends (pay for validating) and other results of one node of the subnet in one epoch.
type paid struct {
	Epoch string `parquet:"epoch"`
	yuma.Node
}

func newYuma(s *cli.Streams) *cobra.Command {
	f := yumaFlags{rules: yuma.DefaultRules()}
	c := cli.Command("yuma FILE", "Compute Yuma consensus from stake and weights", cli.NumArgs(1, 1),
		func(c *cobra.Command, paths []string) error {
			if err := f.readSubnet(c); err != nil {
				return err
			}
			return f.run(s, paths[0])
		})
	cli.File(c, &f.subnet, "subnet", "the subnet's hyperparameters as the chain gives them, one JSON object: kappa, bonds_moving_avg, bonds_penalty, liquid_alpha_enabled, alpha_low, alpha_high, alpha_sigmoid_steepness, yuma_version")
	c.Flags().BoolVar(&f.rules.Yuma3, "yuma3", false, "compute bonds and dividends by Yuma 3, as on subnets with Yuma3On")
	c.Flags().BoolVar(&f.rules.LiquidAlpha, "liquid-alpha", false, "renew each bond by its own share, as the chain does with Yuma 3 only")
	cli.Share(c, &f.rules.Kappa, "kappa", "share of stake that consensus takes")
	cli.Share(c, &f.rules.BondAlpha, "bond-alpha", "share of the bonds that one epoch renews")
	c.Flags().StringArrayVar(&f.set, "set", nil, "replace a validator's weights, such as 3:7=1,5=0.5; may be repeated")
	f.flags(c, "a node of an epoch")
	cli.ReadsFiles(c)
	return c
}

// readSubnet replaces the parameters of the payment rule Yuma by those in the file of --subnet, the
// subnet's parameters as the chain stores them. It returns an error if another flag sets such a
// parameter too.
func (f *yumaFlags) readSubnet(c *cobra.Command) error {
	if f.subnet == "" {
		return nil
	}
	for _, name := range []string{"yuma3", "liquid-alpha", "kappa", "bond-alpha"} {
		if c.Flags().Changed(name) {
			return cli.Usage(fmt.Errorf("--subnet and --%s both set a rule", name), "give one of them")
		}
	}
	text, err := os.ReadFile(f.subnet)
	if err == nil {
		f.rules, err = yuma.ParseRules(text)
	}
	return cli.DefaultHint(err, "--subnet has the hyperparameters in the chain's units")
}

func (f *yumaFlags) run(s *cli.Streams, path string) error {
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
	changed, err := f.replacements(epochs, changes)
	if err != nil {
		return err
	}
	outcomes := make([]consensus, len(results))
	var rows []paid
	for i, r := range results {
		if outcomes[i].Result = r; changed != nil {
			outcomes[i].Changed = changed[i]
		}
		for _, n := range r.Nodes {
			rows = append(rows, paid{r.ID, n})
		}
	}
	if err := table(s, f.parquet, rows); err != nil {
		return err
	}
	return f.write(s, outcomes, report.WeightsPage(results, changed))
}

// replacements computes what each epoch would have paid if nodes had set the weights that --set
// gives them. It uses the payment rule Yuma. It returns nil if --set is not set.
func (f *yumaFlags) replacements(epochs []*yuma.Epoch, changes []yuma.Change) ([]*yuma.Result, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	changed := make([]*yuma.Epoch, len(epochs))
	for i, e := range epochs {
		var err error
		if changed[i], err = e.WithChanges(changes); err != nil {
			return nil, cli.Usage(fmt.Errorf("--set: epoch %d: %w", i+1, err), "name nodes of the file")
		}
	}
	return yuma.Series(changed, f.rules), nil
}
