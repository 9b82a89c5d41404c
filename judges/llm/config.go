package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/model"
)

// Role says when a member of the panel is asked.
type Role string

// A primary votes; a fallback is asked where a primary gave no answer.
const (
	Primary  Role = "primary"
	Fallback Role = "fallback"
)

// Member is one model of the panel, on one endpoint.
type Member struct {
	Model string `yaml:"model"`
	// Endpoint is the name of one of Config's; empty where there is only one.
	Endpoint string `yaml:"endpoint,omitempty"`
	Role     Role   `yaml:"role"`
}

// Aggregate says how votes become one score.
type Aggregate string

// The ways to join votes. An even median and a majority's tie go to the lower
// score, so that the result is always one on offer and never flatters.
const (
	Median   Aggregate = "median"
	Majority Aggregate = "majority"
)

// Config is everything an LLM judge can be told. The zero value is not usable;
// start from Defaults.
type Config struct {
	Endpoints []model.Endpoint `yaml:"endpoints"`
	// Panel is asked in this order.
	Panel []Member `yaml:"panel"`
	// Votes is how many answers make a judgement: one of each primary in turn,
	// samples of the same model where there are fewer primaries than votes.
	Votes     int       `yaml:"votes"`
	Aggregate Aggregate `yaml:"aggregate"`
	// SelfConsistency is how many samples of one model make one vote, by
	// majority; 1 asks once, at temperature 0.
	SelfConsistency int `yaml:"self_consistency"`
	// SampleTemperature is used wherever one model is asked more than once.
	SampleTemperature float64 `yaml:"sample_temperature"`
	// Prompt is the path of a template to use instead of the embedded one.
	Prompt string `yaml:"prompt,omitempty"`
	// StepPrompt is the same for verdicts on steps.
	StepPrompt string `yaml:"step_prompt,omitempty"`
	// MaxTokens bounds one completion, thinking included.
	MaxTokens int `yaml:"max_tokens"`

	// Tries is how many requests one answer may cost, over all models.
	Tries int `yaml:"tries"`
	// RequestTimeout bounds one request, AttemptDeadline all of one attempt's,
	// RunDeadline the judge's whole life.
	RequestTimeout  time.Duration `yaml:"request_timeout"`
	AttemptDeadline time.Duration `yaml:"attempt_deadline"`
	RunDeadline     time.Duration `yaml:"run_deadline"`
	// Backoff is the mean wait after the first failure; it doubles up to
	// BackoffCap.
	Backoff    time.Duration `yaml:"backoff"`
	BackoffCap time.Duration `yaml:"backoff_cap"`
	// BudgetUSD and BudgetTokens are what one run may spend; nil is no bound.
	BudgetUSD    *float64 `yaml:"budget_usd,omitempty"`
	BudgetTokens *int     `yaml:"budget_tokens,omitempty"`
	// MaxUnscored is the share of attempts that may stay without an answer.
	MaxUnscored float64 `yaml:"max_unscored"`
}

// Defaults are the subnet's own figures where it has any: temperature 0, 3,072
// tokens, 90 seconds, 8 tries, back-off up to 10 seconds. The deadline of an
// attempt leaves room for 8 requests that take all their time and their
// back-off; the one of a run is a day, since the next day brings the next run.
func Defaults() Config {
	return Config{
		Votes: 1, Aggregate: Median, SelfConsistency: 1, SampleTemperature: 0.7,
		MaxTokens: 3072, Tries: 8,
		RequestTimeout: 90 * time.Second, AttemptDeadline: 15 * time.Minute, RunDeadline: 24 * time.Hour,
		Backoff: 250 * time.Millisecond, BackoffCap: 10 * time.Second,
		MaxUnscored: 0.02,
	}
}

type checks []error

func (c *checks) that(ok bool, format string, args ...any) {
	if !ok {
		*c = append(*c, fmt.Errorf(format, args...))
	}
}

// Validate names everything that cannot be used, all at once.
func (c Config) Validate() error {
	var check checks
	c.checkPanel(&check)
	check.that(c.Votes >= 1, "votes is %d: want at least 1", c.Votes)
	check.that(c.Aggregate == Median || c.Aggregate == Majority, "aggregate is %q: want median or majority", c.Aggregate)
	check.that(c.SelfConsistency >= 1, "self_consistency is %d: want at least 1", c.SelfConsistency)
	check.that(c.SampleTemperature > 0 && c.SampleTemperature <= 2, "sample_temperature is %v: want more than 0 and at most 2", c.SampleTemperature)
	check.that(c.MaxTokens >= 1, "max_tokens is %d: want at least 1", c.MaxTokens)
	check.that(c.Tries >= 1, "tries is %d: want at least 1", c.Tries)
	check.that(c.RequestTimeout > 0, "request_timeout is %v: want more than 0", c.RequestTimeout)
	check.that(c.AttemptDeadline > 0, "attempt_deadline is %v: want more than 0", c.AttemptDeadline)
	check.that(c.RunDeadline > 0, "run_deadline is %v: want more than 0", c.RunDeadline)
	check.that(c.Backoff > 0 && c.BackoffCap >= c.Backoff, "backoff is %v, backoff_cap %v: want more than 0, and the cap no less", c.Backoff, c.BackoffCap)
	check.that(c.BudgetUSD == nil || *c.BudgetUSD >= 0 && !math.IsInf(*c.BudgetUSD, 0), "budget_usd: want 0 or more")
	check.that(c.BudgetTokens == nil || *c.BudgetTokens >= 0, "budget_tokens: want 0 or more")
	check.that(c.MaxUnscored >= 0 && c.MaxUnscored <= 1, "max_unscored is %v: want 0 to 1", c.MaxUnscored)
	return errors.Join(check...)
}

func (c Config) checkPanel(check *checks) {
	known := map[string]bool{}
	for _, e := range c.Endpoints {
		*check = append(*check, e.Validate())
		check.that(!known[e.Name], "endpoint %q is named twice", e.Name)
		known[e.Name] = true
	}
	check.that(len(c.Endpoints) > 0, "endpoints is empty: want at least one")
	asked := map[Member]bool{}
	for i, m := range c.Panel {
		once := Member{Model: m.Model, Endpoint: m.Endpoint}
		check.that(!asked[once], "panel[%d] (%s) is on the panel twice: use self_consistency to ask it more often", i, m.Model)
		asked[once] = true
		check.that(m.Model != "", "panel[%d]: model is empty", i)
		check.that(known[m.Endpoint] || m.Endpoint == "" && len(c.Endpoints) <= 1, "panel[%d] (%s): no endpoint is named %q", i, m.Model, m.Endpoint)
		check.that(m.Role == Primary || m.Role == Fallback, "panel[%d] (%s): role is %q: want primary or fallback", i, m.Model, m.Role)
	}
	votes := slices.ContainsFunc(c.Panel, func(m Member) bool { return m.Role == Primary })
	check.that(votes, "panel has no primary: want at least one model that votes")
}

// hash is the hex sha256 of whatever a judgement depends on: a judge with the
// same hash gives the same answers from the same ledger. Addresses, limits,
// deadlines and budgets are not in it.
func (c Config) hash(p prompt) (string, error) {
	type member struct {
		Member
		ExtraBody map[string]any
		PlainText bool
	}
	var panel []member
	for _, m := range c.Panel {
		e := c.endpoint(m)
		m.Endpoint = ""
		panel = append(panel, member{m, e.ExtraBody, e.PlainText})
	}
	b, err := json.Marshal([]any{p.sha256, panel, c.Votes, c.Aggregate, c.SelfConsistency, c.SampleTemperature, c.MaxTokens})
	if err != nil {
		return "", fmt.Errorf("hash judge: %w", err)
	}
	return digest.SHA256(b), nil
}

func (c Config) endpoint(m Member) model.Endpoint {
	for _, e := range c.Endpoints {
		if e.Name == m.Endpoint || m.Endpoint == "" {
			return e
		}
	}
	return model.Endpoint{}
}
