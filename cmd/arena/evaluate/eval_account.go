package evaluate

import (
	"fmt"
	"strings"
	"time"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/judges/prices"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/telemetry"
)

// evalAccount is telemetry.json: what depends on clock, machine and prices, and
// so is no part of the summary.
type evalAccount struct {
	// The first fields are of the command that finished the run.
	Seconds           float64 `json:"seconds"`
	Rollouts          int     `json:"rollouts"`
	RolloutsPerSecond float64 `json:"rollouts_per_second"`
	Requests          int64   `json:"requests"`
	Retries           int64   `json:"retries"`
	Overloads         int64   `json:"overloads"`
	Limits            []int   `json:"limits"`
	Serve             string  `json:"serve,omitempty"`

	Servers   []telemetry.Identity `json:"servers"`
	GPUSource string               `json:"gpu_source,omitempty"`
	GPUs      []telemetry.Device   `json:"gpus,omitempty"`
	// Usage and Cost are of all commands that worked on the run.
	Usage telemetry.Usage `json:"usage"`
	Cost  evalCost        `json:"cost"`
}

// evalCost is what the run took. Null is what is not known: tokens that the
// server does not count, dollars without a price.
type evalCost struct {
	// SolvedProblems counts those that a sample solved.
	SolvedProblems int    `json:"solved_problems"`
	Total          amount `json:"total"`
	// PerSolved is Total / SolvedProblems; null where none is solved.
	PerSolved *amount `json:"per_solved_problem"`
	// Uncounted are the replies whose tokens, and dollars for them, are in no
	// figure: their server did not count them.
	Uncounted int `json:"uncounted_replies,omitempty"`
}

// amount is a cost in each of its currencies.
type amount struct {
	GPUSeconds       float64  `json:"gpu_seconds"`
	PromptTokens     *float64 `json:"prompt_tokens"`
	CompletionTokens *float64 `json:"completion_tokens"`
	// TokenUSD is by the table of --prices, GPUUSD by --gpu-hour-usd.
	TokenUSD *float64 `json:"token_usd"`
	GPUUSD   *float64 `json:"gpu_usd"`
}

func (w *evalWatch) account(s *evaluation.Summary, ids []telemetry.Identity) error {
	usage, err := telemetry.ReadUsage(w.file(student.TelemetrySeries))
	if err != nil {
		return err
	}
	cost := w.flags.cost(s, usage.GPUSeconds)
	c, done, seconds := w.pool.Counts(), w.rollouts(), time.Since(w.began).Seconds()
	if !w.flags.Quiet {
		fmt.Fprintln(w.streams.Err, cost)
	}
	return writeIndented(w.file(student.TelemetryFile), evalAccount{
		Seconds: seconds, Rollouts: done, RolloutsPerSecond: float64(done) / seconds, Requests: c.Requests.Load(),
		Retries: c.Retries.Load(), Overloads: c.Overloads.Load(), Limits: w.pool.Limits(), Serve: w.flags.serve,
		Servers: ids, GPUSource: w.gpus.Source, GPUs: w.gpus.Devices, Usage: usage, Cost: cost,
	})
}

func (f *Flags) cost(s *evaluation.Summary, gpuSeconds float64) evalCost {
	c := evalCost{SolvedProblems: s.SolvedProblems, Uncounted: s.Tokens.Uncounted}
	c.Total.GPUSeconds = gpuSeconds
	if t := s.Tokens; t.Prompt != nil && t.Completion != nil {
		prompt, completion := float64(*t.Prompt), float64(*t.Completion)
		c.Total.PromptTokens, c.Total.CompletionTokens = &prompt, &completion
		c.Total.TokenUSD = f.priceTable.Cost(f.model, int(*t.Prompt), int(*t.Completion))
	}
	if f.gpuHourUSD > 0 {
		usd := gpuSeconds / time.Hour.Seconds() * f.gpuHourUSD
		c.Total.GPUUSD = &usd
	}
	if c.SolvedProblems > 0 {
		c.PerSolved = c.Total.over(float64(c.SolvedProblems))
	}
	return c
}

func (a amount) over(n float64) *amount {
	a.GPUSeconds /= n
	for _, field := range []**float64{&a.PromptTokens, &a.CompletionTokens, &a.TokenUSD, &a.GPUUSD} {
		if *field != nil {
			share := **field / n
			*field = &share
		}
	}
	return &a
}

// String is the cost of a solved problem in one line.
func (c evalCost) String() string {
	if c.PerSolved == nil {
		return "cost          no problem is solved" + c.short()
	}
	words := []string{fmt.Sprintf("%.2f GPU seconds", c.PerSolved.GPUSeconds)}
	for _, part := range []struct {
		value  *float64
		format string
	}{
		{c.PerSolved.PromptTokens, "%.0f prompt tokens"}, {c.PerSolved.CompletionTokens, "%.0f completion tokens"},
		{c.PerSolved.TokenUSD, "%.6f USD of tokens"}, {c.PerSolved.GPUUSD, "%.6f USD of GPUs"},
	} {
		if part.value != nil {
			words = append(words, fmt.Sprintf(part.format, *part.value))
		}
	}
	return fmt.Sprintf("cost          %s a solved problem (%d solved)%s", strings.Join(words, ", "), c.SolvedProblems, c.short())
}

// short says what the figures lack.
func (c evalCost) short() string {
	if c.Uncounted == 0 {
		return ""
	}
	return fmt.Sprintf("; the server counted no tokens for %s, which no figure holds", cli.Counted(c.Uncounted, "reply", "replies"))
}

// readPrices reads the table of --prices; empty without it.
func (f *Flags) readPrices() error {
	if f.prices == "" {
		return nil
	}
	var err error
	if f.priceTable, err = prices.Read(f.prices); err != nil {
		return cli.Usage(err, "--prices is a YAML file, model: {prompt: USD, completion: USD} per million tokens")
	}
	return nil
}
