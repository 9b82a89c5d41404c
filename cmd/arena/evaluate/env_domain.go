package evaluate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/environment"
	"github.com/trajectory-arena/arena/environment/gym"
	"github.com/trajectory-arena/arena/environment/reward"
	"github.com/trajectory-arena/arena/environment/toolserver"
	"github.com/trajectory-arena/arena/student"
)

// addDomain adds the flags for an environment in another domain than the shop.
func (f *envFlags) addDomain(c *cobra.Command) {
	c.Flags().StringVar(&f.domain, "domain", "", "domain of an environment other than the shop: a name or a file; needs --mcp")
	c.Flags().StringVar(&f.mcp, "mcp", "", "URL of the MCP server with the tools of the domain, over HTTP")
}

// shopFlags are the flags that mean nothing in another domain.
var shopFlags = []string{"catalog", "index", "rules", "judge", "harness", "search", "embeddings", "max-steps"}

// runDomain serves episodes with the tools of an MCP server. Only what is measured in every domain
// is paid.
func (f *envFlags) runDomain(c *cobra.Command, s *cli.Streams) (err error) {
	if err = f.checkDomainFlags(c); err != nil {
		return err
	}
	token, err := f.door.Token()
	if err != nil {
		return err
	}
	set, err := domain.NewSet(f.domain)
	if err != nil {
		return cli.Usage(err, "`arena list domains` has the names; `arena domain init` proposes a file")
	}
	d := set.Forced()
	weights, err := f.domainWeights(c, d)
	if err != nil {
		return err
	}
	problems, err := student.ReadRequests(f.problems)
	if err != nil {
		return cli.DefaultHint(err, "problems are JSON lines with problem_id and query")
	}
	e, err := f.newEnvironment(problems)
	if err != nil {
		return err
	}
	if e.Tools, err = toolserver.Open(c.Context(), f.mcp, d); err != nil {
		return cli.Failed(err, "--mcp is the address of a running MCP server, such as http://127.0.0.1:8000/mcp")
	}
	e.Harness = arena.Harness{Name: d.Name, Tools: e.Tools.Tools}
	e.Rewarder = &environment.Rewarder{
		Suite:   arena.NewSuite(problems.All),
		Domain:  d,
		Weights: weights,
	}
	if err = f.openRecord(e); err != nil {
		return err
	}
	if e.Record != nil {
		defer func() {
			err = errors.Join(err, e.Record.Close())
		}()
	}
	words := fmt.Sprintf(
		"%d problems (%d refused) with %d tools of domain %s, paid by %s",
		len(problems.All)-len(e.Refused),
		len(e.Refused),
		len(e.Tools.Tools),
		d.Name,
		strings.Join(weights.Measured(d), ", "),
	)
	return f.door.Serve(c.Context(), s, words, gym.Handler(e, gym.Options{
		Failures: f.failures,
		Token:    token,
	}))
}

func (f *envFlags) checkDomainFlags(c *cobra.Command) error {
	if f.domain == "" || f.mcp == "" {
		return cli.Usage(errors.New("--domain and --mcp go together"), "--domain says what the tools of the --mcp server are")
	}
	if f.domain == domain.Shop {
		return cli.Usage(errors.New("the shop has tools of its own"), "leave --domain and --mcp out")
	}
	for _, name := range shopFlags {
		if c.Flags().Changed(name) {
			return cli.Usage(fmt.Errorf("--%s is of the shop", name), "leave it out with --domain")
		}
	}
	return nil
}

// domainWeights reads the weights of the reward, by default of the preset general, of which a part
// that is not measured in the domain is left out. For other weights such a part is an error.
func (f *envFlags) domainWeights(c *cobra.Command, d *domain.Domain) (reward.Weights, error) {
	if !c.Flags().Changed("reward") {
		f.pay.preset = reward.General
	}
	w, err := reward.Open(f.pay.preset)
	if err == nil && f.pay.preset != reward.General {
		err = w.CheckDomain(d)
	}
	if err != nil {
		return nil, cli.Usage(err, "--reward general, or a file of weights; invented_ids needs tools with ids in the domain, success outcome.from: declared")
	}
	return w, nil
}
