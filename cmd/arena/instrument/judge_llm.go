package instrument

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/judges/batch"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/judges/prices"
)

// DefaultKeyEnv is the environment variable from which OpenAI's own clients read a key.
const DefaultKeyEnv = "OPENAI_API_KEY"

// ModelsAtOnce is the default number of requests in flight. Servers process a batch at hardly more
// than the cost of one request.
const ModelsAtOnce = 32

// LLMFlags are the flags for judging with models.
type LLMFlags struct {
	Settings     cli.Settings
	endpoint     string
	keyEnv       string
	concurrency  int
	models       []string
	Ledger       string
	prices       string
	batch        string
	budgetUSD    float64
	budgetTokens int
	// flags are the flags that only --judge llm has. There are none in arena eval.
	flags *pflag.FlagSet
	// Share and Of are the index and the number of processes that ask models at the same time, 0 if
	// there is only one. Payer is the name of the budget of this process.
	Share, Of   int
	Payer       string
	maxUnscored float64
	// usualUnscored is the default of max_unscored, which applies if neither flag nor file sets it.
	usualUnscored float64
}

// DefaultLLMFlags returns the default flags.
func DefaultLLMFlags() LLMFlags {
	return LLMFlags{
		usualUnscored: llm.Defaults().MaxUnscored,
		flags:         pflag.NewFlagSet("models", pflag.ContinueOnError),
		Settings:      cli.Settings{Page: "docs/judges-llm.md", Example: "votes=3"},
	}
}

// Add adds the flags to c.
func (f *LLMFlags) Add(c *cobra.Command) {
	flags := f.flags
	flags.StringVar(&f.endpoint, "endpoint", "", "address of the models as OpenAI clients take it, ending in /v1")
	flags.StringVar(&f.keyEnv, "api-key-env", "", "environment variable with the key (default "+DefaultKeyEnv+", if set)")
	flags.IntVar(&f.concurrency, "concurrency", ModelsAtOnce, "maximum number of requests in progress; fewer if the server refuses some")
	flags.StringArrayVar(&f.models, "model", nil, "model to ask; may be repeated")
	flags.StringVar(&f.Ledger, "ledger", "judge-ledger", "folder that keeps every exchange")
	flags.StringVar(&f.prices, "prices", "", "YAML file, model: {prompt: USD, completion: USD} per million tokens")
	flags.StringVar(&f.batch, "batch", "", "folder of batch files: the requests are written as requests-*.jsonl, and the provider's results are read from the other *.jsonl files")
	flags.Float64Var(&f.budgetUSD, "budget-usd", 0, "maximum number of dollars that this run may spend")
	flags.IntVar(&f.budgetTokens, "budget-tokens", 0, "maximum number of tokens that this run may use")
	flags.Float64Var(&f.maxUnscored, "max-unscored", f.usualUnscored, "maximum share of attempts without a score")
	cli.Group(c, "Models that judge:", func(c *cobra.Command) {
		c.Flags().AddFlagSet(flags)
	})
	cli.Reads(c, "prices")
	cli.Writes(c, "ledger", "batch")
}

// IsSet reports whether any flag on models is set. A limit on missing answers makes sense
// for every judge.
func (f *LLMFlags) IsSet() bool {
	isSet := f.Settings.File != "" || len(f.Settings.Sets) > 0
	f.flags.VisitAll(func(flag *pflag.Flag) {
		isSet = isSet || flag.Changed && flag.Name != "max-unscored"
	})
	return isSet
}

// config returns the configuration of the judge from its file and the flags, which take precedence,
// and the prices of models.
func (f *LLMFlags) config() (llm.Config, prices.Table, error) {
	cfg, err := f.baseConfig()
	if err != nil {
		return cfg, nil, err
	}
	if f.endpoint != "" {
		if f.keyEnv == "" && os.Getenv(DefaultKeyEnv) != "" {
			f.keyEnv = DefaultKeyEnv
		}
		cfg.Endpoints = []model.Endpoint{{
			Name:        "endpoint",
			BaseURL:     f.endpoint,
			KeyEnv:      f.keyEnv,
			Concurrency: f.concurrency,
		}}
	}
	if len(f.models) > 0 {
		cfg.Panel = nil
		for i, m := range f.models {
			role := llm.Fallback
			if i < cfg.Votes {
				role = llm.Primary
			}
			cfg.Panel = append(cfg.Panel, llm.Member{
				Model: m,
				Role:  role,
			})
		}
	}
	if len(cfg.Endpoints) == 0 || len(cfg.Panel) == 0 {
		return cfg, nil, cli.Misuse("no model to ask", "name one with --endpoint and --model, or a panel in a file (--judge-config; for arena judge, --config)")
	}
	if err = cfg.Validate(); err != nil {
		return cfg, nil, cli.Usage(err, "`arena judge --help` lists the flags and their defaults")
	}
	if cfg = cfg.Share(f.Share, f.Of); cfg.Validate() != nil {
		return cfg, nil, cli.Usage(fmt.Errorf("%d shards cannot share the requests that may be in flight", f.Of), "plan again with fewer --shards, or with more --concurrency")
	}
	table, err := ReadPrices(f.prices)
	return cfg, table, err
}

// ReadPrices reads the file of --prices. The table is empty if path is empty.
func ReadPrices(path string) (prices.Table, error) {
	if path == "" {
		return nil, nil
	}
	table, err := prices.Read(path)
	if err != nil {
		return nil, cli.Usage(err, "--prices is a YAML file, model: {prompt: USD, cached_prompt: USD, completion: USD} per million tokens")
	}
	return table, nil
}

// baseConfig returns the configuration of the judge that asks models. It starts with the defaults,
// and then applies the configuration file, single keys of the command line such as votes=3, and the
// flags that limit missing answers and cost.
func (f *LLMFlags) baseConfig() (llm.Config, error) {
	cfg := llm.Defaults()
	cfg.MaxUnscored = f.usualUnscored
	err := f.Settings.Fill(&cfg)
	if f.flags.Changed("max-unscored") {
		cfg.MaxUnscored = f.maxUnscored
	}
	if f.flags.Changed("budget-usd") {
		cfg.BudgetUSD = &f.budgetUSD
	}
	if f.flags.Changed("budget-tokens") {
		cfg.BudgetTokens = &f.budgetTokens
	}
	return cfg, err
}

// Models is an open judge that asks models, with its ledger of answers.
type Models struct {
	Config llm.Config
	Judge  *llm.Judge
	Ledger *ledger.Ledger
	Folder string
	// batch is the folder of --batch, nil for none.
	batch *batch.Folder
	words io.Writer
}

// Open opens the judge of the flags. Warnings are written to words.
func (f *LLMFlags) Open(words io.Writer) (*Models, error) {
	cfg, table, err := f.config()
	if err != nil {
		return nil, err
	}
	if f.Ledger == "" {
		return nil, cli.Misuse("--ledger is empty", "name a folder: answers that are not kept are paid for again")
	}
	l, err := ledger.Open(f.Ledger)
	if err != nil {
		return nil, cli.Failed(err, "a ledger is a folder of the *.jsonl files that arena wrote; move other files away")
	}
	var files *batch.Folder
	if f.batch != "" {
		if files, err = batch.Open(f.batch); err != nil {
			err = cli.Failed(err, "--batch is a folder of the files that arena wrote and of the results that the provider returned, as they are")
			return nil, errors.Join(err, l.Close())
		}
	}
	j, err := llm.New(cfg, l, llm.Options{
		Prices: table,
		Now:    time.Now,
		Payer:  f.Payer,
		Batch:  files,
	})
	if err != nil {
		err = cli.Usage(err, "`arena judge --help` lists what can be said about models")
		return nil, errors.Join(err, l.Close())
	}
	return &Models{cfg, j, l, f.Ledger, files, words}, nil
}

// Close closes the judge and its ledger, and warns of endpoints that refused their key.
func (m *Models) Close() error {
	for _, name := range m.Judge.Locked() {
		fmt.Fprintf(m.words, "warning: endpoint %s did not accept its key any more; other models stood in for its own from there on\n", name)
	}
	m.Judge.Close()
	return errors.Join(m.closeBatch(), m.Ledger.Close())
}

// closeBatch writes the requests that a model has not answered yet to the batch file, and prints
// the file's path and how to upload it. It does nothing if requests are sent directly.
func (m *Models) closeBatch() error {
	if m.batch == nil {
		return nil
	}
	path, requests, err := m.batch.Close()
	if err == nil && requests > 0 {
		fmt.Fprintf(m.words, "%d requests in %s: upload the file as a batch, put its result and error files into the same folder, and run the command again\n", requests, path)
	}
	return err
}

// Dollars formats a cost, which is nil if a price is unknown.
func Dollars(usd *float64) string { return text.Optional(usd, "%.6f USD", "at unknown prices") }
