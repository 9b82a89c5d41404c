package evaluate

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/environment"
	"github.com/trajectory-arena/arena/environment/gym"
	"github.com/trajectory-arena/arena/environment/reward"
	"github.com/trajectory-arena/arena/environment/toolserver"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/student"
)

// addDomain adds the flags for a training environment whose tools are those of an MCP server.
// Without these flags the tools are those of the built-in shop.
func (f *envFlags) addDomain(c *cobra.Command) {
	c.Flags().StringVar(&f.mcp, "mcp", "", "URL of the MCP server with the tools of --domain, over HTTP")
	c.Flags().StringVar(&f.mcpKey, "mcp-key-env", "", "environment variable that holds the bearer token of the --mcp server")
	cli.File(c, &f.system, "system", "file with the system prompt of the episodes, with --domain (default: none)")
}

// shopFlags are the flags that need the built-in shop, such as --catalog. They are rejected with
// --domain, which names tasks of another kind.
var shopFlags = []string{"catalog", "index", "rules", "judge", "harness", "search", "embeddings", "max-steps"}

// runDomain runs `arena env serve` for a domain other than the built-in shop: it serves training
// episodes with the tools of an MCP server. The reward has only parts that can be measured in that
// domain.
func (f *envFlags) runDomain(c *cobra.Command, s *cli.Streams) (err error) {
	if f.pay.domain == "" || f.mcp == "" {
		return cli.Misuse("--domain and --mcp go together", "--domain says what the tools of the --mcp server are; --mcp-key-env and --system are of that server, too")
	}
	token, err := f.door.Token()
	if err != nil {
		return err
	}
	rewarder, err := f.pay.openDomain(c)
	if err != nil {
		return err
	}
	d := rewarder.Domain
	problems, err := student.ReadRequests(f.problems)
	if err != nil {
		return cli.DefaultHint(err, "problems are JSON lines with problem_id and query")
	}
	e, err := f.newEnvironment(problems)
	if err != nil {
		return err
	}
	if err = f.openTools(c.Context(), e, d); err != nil {
		return err
	}
	rewarder.Suite = arena.NewSuite(problems.All)
	e.Rewarder = rewarder
	if err = f.openRecord(e); err != nil {
		return err
	}
	defer wrong.Close(&err, e.Record.Close)
	words := fmt.Sprintf(
		"%d problems (%d refused) with %d tools of domain %s, paid by %s",
		len(problems.All)-len(e.Refused),
		len(e.Refused),
		len(e.Tools.Tools),
		d.Name,
		strings.Join(rewarder.Weights.Measured(d), ", "),
	)
	return f.door.Serve(c.Context(), s, words, gym.Handler(e, gym.Options{
		Failures: f.failures,
		Token:    token,
	}))
}

// openTools connects the environment with the MCP server of the domain, and reads the system prompt.
func (f *envFlags) openTools(ctx context.Context, e *environment.Environment, d *domain.Domain) error {
	key := os.Getenv(f.mcpKey)
	if f.mcpKey != "" && key == "" {
		return cli.Usage(fmt.Errorf("the environment variable %s is empty", f.mcpKey), "--mcp-key-env names the variable that holds the token")
	}
	tools, err := toolserver.Open(ctx, f.mcp, key, d)
	if err != nil {
		return cli.Failed(err, "--mcp is the address of a running MCP server, such as http://127.0.0.1:8000/mcp; --mcp-key-env names its token")
	}
	if f.system != "" {
		text, err := os.ReadFile(f.system)
		if err != nil {
			return cli.Failed(fmt.Errorf("read system prompt: %w", err), "--system names a text file")
		}
		tools.System = string(text)
	}
	e.Tools = tools
	e.Harness = arena.Harness{
		Name:   d.Name,
		System: tools.System,
		Tools:  tools.Tools,
	}
	return nil
}

// openDomain returns what computes rewards in the domain that --domain names, with the weights of
// the parts of a reward. By default these are those of the preset general; a part of it that cannot
// be measured in the domain is left out. If the user names other weights, a part that cannot be
// measured is an error, and so is a flag that needs the shop.
func (f *rewardFlags) openDomain(c *cobra.Command) (*environment.Rewarder, error) {
	if f.domain == domain.Shop {
		return nil, cli.Misuse("the shop has tools and rules of its own", "leave --domain out")
	}
	for _, name := range shopFlags {
		if c.Flags().Changed(name) {
			return nil, cli.Usage(fmt.Errorf("--%s is of the shop", name), "leave it out with --domain")
		}
	}
	set, err := domain.NewSet(f.domain)
	if err != nil {
		return nil, cli.Usage(err, "`arena list domains` has the names; `arena domain init` proposes a file")
	}
	d := set.Forced()
	if !c.Flags().Changed("reward") {
		f.preset = reward.General
	}
	w, err := reward.Open(f.preset)
	if err == nil && f.preset != reward.General {
		err = w.CheckDomain(d)
	}
	if err != nil {
		return nil, cli.Usage(err, "--reward general, or a file of weights; invented_ids needs tools with ids in the domain, success outcome.from: declared")
	}
	return &environment.Rewarder{Domain: d, Weights: w}, nil
}
