// Package evaluate holds the commands that measure students: eval, compare,
// results and the shop they act in.
package evaluate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/corpus/bucket"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/prices"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/dialect"
	"github.com/trajectory-arena/arena/student/rollout"
)

// Flags are the flags of eval as they were given.
type Flags struct {
	Shop catalogFlags
	// Played is the run's spec as far as it depends on flags, and Asked the settings for requests
	// to the servers.
	Played student.Spec
	Asked  model.Config

	keyEnv    string
	Problems  string
	Out       string
	rescore   string
	system    string
	tools     string
	as        string
	titles    instrument.Embeddings
	Judge     instrument.JudgeChoice
	trainedOn string
	serve     string
	prices    string

	serveReady time.Duration
	gpuHourUSD float64
	coverage   float64
	// maxUnjudged is the maximum share of rollouts without a grade, 0 to 1.
	maxUnjudged float64
	retryInfra  bool
	Quiet       bool

	keep           string
	templateKwargs string
	extraBody      string
	// headers has the name of an environment variable for each header.
	headers    map[string]string
	priceTable prices.Table
	// bill is the cost of the run as text.
	bill string
}

const usualCoverage = 0.98

// NewEval returns `arena eval`.
func NewEval(s *cli.Streams) *cobra.Command {
	f := &Flags{}
	c := cli.Command("eval --endpoint URL --model M --problems F --catalog F -o RUN", "Evaluate a student on shopping problems", cli.NumArgs(0, 0),
		func(c *cobra.Command, _ []string) error {
			return Run(c.Context(), s, f)
		})
	f.addTask(c)
	f.Add(c)
	f.titles.Flags(c, instrument.Titles)
	return c
}

func (f *Flags) addTask(c *cobra.Command) {
	fl := c.Flags()
	cli.File(c, &f.Problems, "problems", "problems: JSON lines, or one JSON array")
	fl.StringVarP(&f.Out, "output", "o", "", "run folder")
	fl.StringVar(&f.rescore, "rescore", "", "score the rollouts of this run again, without the model: in its folder, or in a copy with -o")
	f.Judge.LLM = instrument.DefaultLLMFlags()
	fl.StringVar(
		&f.Judge.Name,
		"judge",
		"gates",
		"reasoning judge: "+strings.Join(judges.Names(), ", ")+" or none",
	)
	cli.File(c, &f.Judge.LLM.Settings.File, "judge-config", "YAML file with the panel of models of --judge llm, as for arena judge")
	fl.StringVar(&f.Judge.LLM.Ledger, "judge-ledger", "judge-ledger", "folder that keeps every exchange with them")
	cli.File(c, &f.trainedOn, "trained-on", trainedOnUsage)
	fl.BoolVarP(&f.Quiet, "quiet", "q", false, "no progress, no table")
	cli.Writes(c, "judge-ledger", "rescore")
	cli.Replaces(c, "output")
}

// Add adds the flags for the student's server, the sampling of its replies, and the environment of
// a rollout.
func (f *Flags) Add(c *cobra.Command) {
	cli.Group(c, "The student's server:", f.addServing)
	cli.Group(c, "How replies are sampled:", f.addSampling)
	cli.Group(c, "What a rollout is played in:", f.addSetting)
}

func (f *Flags) addSetting(c *cobra.Command) {
	f.Shop.add(c)
	fl := c.Flags()
	f.Played = student.Spec{
		Harness:    shop.Profiles()[0],
		NoCall:     rollout.Continue,
		PromptForm: rollout.Chat,
		Dialect:    dialect.Auto,
	}
	cli.Choice(
		c,
		&f.Played.Harness,
		"harness",
		shop.Profiles(),
		"system prompt and tools: "+strings.Join(shop.Profiles(), ", "),
	)
	cli.File(c, &f.as, "as", "corpus that the student was trained on: system prompt, tools and wrappings as its rows of hf-json have them, or with --dialect text those of text")
	cli.File(c, &f.system, "system", "file with another system prompt; with --prompt-form history it is sent as it is")
	cli.File(c, &f.tools, "tools", "file with other definitions of the harness's tools: a JSON array in the form of OpenAI")
	cli.Choice(
		c,
		&f.Played.NoCall,
		"no-call",
		[]rollout.NoCall{rollout.Continue, rollout.End},
		"after a reply without a call: continue, as the public loops do, or end",
	)
	cli.Choice(
		c,
		&f.Played.PromptForm,
		"prompt-form",
		[]rollout.PromptForm{rollout.Chat, rollout.History},
		"chat: a message a turn; history: one message with all that was said, as the public loops send",
	)
	fl.StringVar(&f.Played.Search, "search", "", "URL of a real search server to use instead of the catalogue's own search")
	cli.Choice(c, &f.Played.Dialect, "dialect", dialect.All(), "how calls are written: auto, native, oro, or hermes, also named text, as rows of the export profile text are")
	for _, flag := range []string{"harness", "system", "tools"} {
		c.MarkFlagsMutuallyExclusive("as", flag)
	}
	fl.IntVarP(&f.Played.Samples, "samples", "k", 1, "rollouts per problem")
	fl.IntVar(&f.Played.MaxSteps, "max-steps", 25, "maximum number of replies per rollout")
	f.coverage = usualCoverage
	cli.Share(c, &f.coverage, "min-coverage", "share of rollouts that must be scored")
}

func (f *Flags) addSampling(c *cobra.Command) {
	fl := c.Flags()
	fl.Int64Var(&f.Played.Seed, "seed", 0, "sample i is sent seed N+i")
	fl.BoolVar(&f.Played.NoSeed, "no-seed", false, "send no seed: vLLM samples faster without one, but the result cannot be repeated")
	number := func(text string) (float64, error) {
		return strconv.ParseFloat(text, 64)
	}
	cli.Number(c, &f.Played.Sampling.Temperature, "temperature", number, "sampling temperature; the server's own where not given")
	cli.Number(c, &f.Played.Sampling.TopP, "top-p", number, "nucleus sampling; the server's own where not given")
	cli.Number(c, &f.Played.Sampling.MinP, "min-p", number, "minimum probability; the server's own where not given")
	cli.Number(c, &f.Played.Sampling.TopK, "top-k", strconv.Atoi, "top-k sampling; the server's own where not given")
	cli.Number(c, &f.Played.Sampling.MaxTokens, "max-tokens", strconv.Atoi, "tokens per reply at most; the server's own where not given")
	cli.Choice(c, &f.keep, "keep", []string{"tokens"}, "tokens: keep the ids and log-probabilities of every reply in tokens.parquet, as far as the server tells them")
	fl.IntVar(&f.Played.Keep.Top, "top-logprobs", 0, "with --keep tokens, also keep the log-probabilities of this many most probable tokens at each position, 0 to 20")
	cli.Number(c, &f.Played.Sampling.PresencePenalty, "presence-penalty", number, "lowers the probability of tokens that were used; the server's own where not given")
	cli.Number(c, &f.Played.Sampling.FrequencyPenalty, "frequency-penalty", number, "the same, by how often they were used")
	cli.Number(c, &f.Played.Sampling.RepetitionPenalty, "repetition-penalty", number, "the same as a factor, for vLLM, SGLang and llama.cpp")
	fl.StringVar(&f.Played.Sampling.Effort, "reasoning-effort", "", "reasoning effort in the server's words, such as low or high")
	fl.StringVar(&f.extraBody, "extra-body", "", "JSON object whose fields are added to every request")
	fl.StringVar(&f.templateKwargs, "chat-template-kwargs", "", "JSON object for the server's chat template")
}

func (f *Flags) addServing(c *cobra.Command) {
	fl := c.Flags()
	fl.StringArrayVar(&f.Asked.URLs, "endpoint", nil, "base URL ending in /v1; may be repeated to use several servers")
	fl.StringVar(&f.Played.Model, "model", "", "model name to ask for")
	fl.StringToStringVar(&f.headers, "header", nil, "NAME=VARIABLE: send this header with the value of an environment variable; may be repeated")
	fl.StringVar(&f.keyEnv, "api-key-env", "OPENAI_API_KEY", "environment variable that holds the key")
	fl.StringVar(&f.serve, "serve", "", "command that serves the model; it is started first and stopped at the end")
	fl.DurationVar(&f.serveReady, "serve-timeout", 30*time.Minute, "time for the server of --serve to load its model")
	cli.File(c, &f.prices, "prices", "YAML file, model: {prompt: USD, completion: USD} per million tokens, for the cost of a solved problem")
	fl.Float64Var(&f.gpuHourUSD, "gpu-hour-usd", 0, "price of one GPU for an hour, for the cost of a solved problem")
	fl.IntVar(&f.Asked.Concurrency, "concurrency", 32, "maximum number of requests, and of rollouts, in progress per endpoint")
	fl.IntVar(&f.Asked.Retries, "retries", 5, "tries after the first")
	fl.BoolVar(&f.retryInfra, "retry-infra", false, "play the rollouts again that an earlier command gave up as infra")
	fl.StringArrayVar(&f.Played.OverflowWords, "overflow-words", nil, "words in the server's message when a prompt is too long, if arena does not know them; may be repeated")
	fl.DurationVar(&f.Asked.Timeout, "timeout", 10*time.Minute, "maximum time of one request; a server on a CPU may need more")
	fl.DurationVar(&f.Asked.Patience, "wait-for-server", 10*time.Minute, "how long to wait for a server that does not answer, or that limits the rate of requests")
}

// sampling checks the flags for the sampling of replies, and stores the parameters of the chat
// template and the extra fields of requests in f.Played. Parameters that the user did not set
// are left to the server.
func (f *Flags) sampling() error {
	s := &f.Played.Sampling
	if f.extraBody != "" {
		if arena.Raw(f.extraBody).Kind() != arena.Object || !json.Valid([]byte(f.extraBody)) {
			return cli.Misuse("--extra-body is no JSON object", `such as {"tool_choice": "auto"}`)
		}
		s.Extra = []byte(f.extraBody)
	}
	if err := s.Validate(); err != nil {
		return cli.Usage(err, "see `arena eval --help`")
	}
	if f.Played.Seed > 0 && int64(f.Played.Samples)-1 > math.MaxInt64-f.Played.Seed {
		return cli.Usage(
			fmt.Errorf("--seed %d leaves no seeds for %d samples", f.Played.Seed, f.Played.Samples),
			"sample i is sent seed N+i, at most 2^63-1",
		)
	}
	if f.templateKwargs != "" {
		if arena.Raw(f.templateKwargs).Kind() != arena.Object || !json.Valid([]byte(f.templateKwargs)) {
			return cli.Misuse("--chat-template-kwargs is no JSON object", `such as {"enable_thinking": false}`)
		}
		s.TemplateKwargs = []byte(f.templateKwargs)
	}
	return nil
}

func (f *Flags) check() error {
	if f.Out == "" {
		f.Out = f.rescore
	}
	missing := func(what, flag string) error {
		return cli.Usage(fmt.Errorf("no %s given", what), "name it with "+flag)
	}
	switch {
	case f.Out == "":
		return missing("run folder", "-o")
	case f.Out == "-":
		return cli.NoStream(f.Out)
	case bucket.IsURL(f.Out):
		return cli.Usage(fmt.Errorf("write %s: a run is written where it is played", f.Out), "give -o a folder")
	case f.Problems == "":
		return missing("problems", "--problems")
	case f.rescore == "" && len(f.Asked.URLs) == 0:
		return missing("endpoint", "--endpoint")
	case f.rescore == "" && f.Played.Model == "":
		return missing("model", "--model")
	case !(f.gpuHourUSD >= 0) || math.IsInf(f.gpuHourUSD, 0):
		return cli.Usage(fmt.Errorf("--gpu-hour-usd %v", f.gpuHourUSD), "dollars, 0 or more")
	case f.Played.Samples < 1 || f.Played.MaxSteps < 1 || f.Asked.Concurrency < 1:
		return cli.Misuse("-k, --max-steps and --concurrency must be 1 or more", "see `arena eval --help`")
	}
	keep := &f.Played.Keep
	keep.Tokens = f.keep != ""
	outOfRange := keep.Top < 0 || keep.Top > model.MaxTop
	if outOfRange || keep.Top > 0 && !keep.Tokens {
		return cli.Usage(fmt.Errorf("--keep %q with --top-logprobs %d", f.keep, keep.Top), "want --keep tokens, with 0 to 20 likely tokens a position")
	}
	if err := f.readHeaders(); err != nil {
		return err
	}
	return f.sampling()
}

// readHeaders reads the values of the headers from the environment. The run's spec gets only
// their names. A variable that is not set is an error.
func (f *Flags) readHeaders() error {
	f.Asked.Headers = map[string]string{}
	for _, name := range slicesx.SortedKeys(f.headers) {
		value := os.Getenv(f.headers[name])
		if value == "" {
			return cli.Usage(fmt.Errorf("--header %s: environment variable %s is not set", name, f.headers[name]), "name a variable that holds the header's value")
		}
		f.Asked.Headers[name] = value
		f.Asked.Secrets = append(f.Asked.Secrets, value)
		f.Played.Headers = append(f.Played.Headers, name)
	}
	return nil
}

func (f *Flags) endpointConfig() model.Config {
	c := f.Asked
	tokens := 0
	if n := f.Played.Sampling.MaxTokens; n != nil {
		tokens = *n
	}
	c.OverflowWords = f.Played.OverflowWords
	c.Key, c.LongestPause, c.Now = os.Getenv(f.keyEnv), time.Minute, time.Now
	c.MaxReply, c.Patience = f.Played.Keep.MaxReply(tokens), max(c.Patience, time.Nanosecond)
	return c
}

func (f *Flags) harnessOf() (arena.Harness, error) {
	if f.as != "" {
		return f.harnessOfRows()
	}
	h, err := shop.Profile(f.Played.Harness)
	if err != nil {
		return h, err
	}
	if f.tools != "" {
		if h.Tools, err = readTools(f.tools); err != nil {
			return h, cli.Failed(err, `--tools names a JSON array of {"type": "function", "function": {"name", "description", "parameters"}}`)
		}
	}
	if f.system != "" {
		text, err := os.ReadFile(f.system)
		if err != nil {
			return h, cli.Failed(fmt.Errorf("read system prompt: %w", err), "--system names a text file")
		}
		h.System = string(text)
	}
	if f.system == "" || f.Played.PromptForm == rollout.Chat {
		h.System = f.Played.Dialect.System(h)
	}
	h.SHA256 = shop.HarnessSHA256(h.System, h.Tools)
	return h, nil
}

func readTools(path string) (tools []arena.Raw, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read tools: %w", err)
	}
	known, _ := shop.ToolNames(shop.Profiles()[0]) // it is one of them
	list := gjson.ParseBytes(text)
	if !gjson.ValidBytes(text) || !list.IsArray() || len(list.Array()) == 0 {
		return nil, fmt.Errorf("read tools: %s is no JSON array", path)
	}
	for _, tool := range list.Array() {
		if name := tool.Get("function.name").String(); !slices.Contains(known, name) {
			return nil, fmt.Errorf("read tools: %s defines %q, which the environment does not have: it has %s", path, name, strings.Join(known, ", "))
		}
		tools = append(tools, arena.Raw(tool.Get("@ugly").Raw))
	}
	return tools, nil
}

func toolNames(h arena.Harness) []string {
	return slicesx.Map(h.Tools, func(tool arena.Raw) string {
		return gjson.Get(string(tool), "function.name").String()
	})
}

func (f *Flags) spec(
	h arena.Harness,
	p student.Problems,
	catalog *shop.Catalog,
) (student.Spec, error) {
	s := f.Played
	if catalog.Len() == 0 {
		return s, cli.Failed(fmt.Errorf("read catalogue %s: no product", f.Shop.Catalog), "no student could find anything in it")
	}
	titles := f.titles.TitlesInstrument()
	s.Titles = strings.Join(strings.Fields(string(titles.Source)+" "+titles.Model+" "+titles.Prefix), " ")
	s.Schema, s.HarnessSHA256, s.System = student.SpecSchema, h.SHA256, h.System
	s.Problems = len(p.All)
	s.ProblemsSHA256 = p.SHA256
	s.CatalogXXH3 = catalog.Checksum()
	s.Search, s.Rules, s.Scorer = cmp.Or(s.Search, "local"), f.Shop.rules, student.ScorerVersion
	return s, nil
}
