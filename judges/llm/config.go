package llm

import (
	"encoding/json"
	"math"
	"time"

	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Role decides when a member of the panel is asked.
type Role string

// A primary model votes. A fallback model is asked if a primary gave no answer.
const (
	Primary  Role = "primary"
	Fallback Role = "fallback"
)

// Member is one model of the panel, on one endpoint.
type Member struct {
	Model string `yaml:"model"`
	// Endpoint is the name of one of Config's; empty if there is only one.
	Endpoint string `yaml:"endpoint,omitempty"`
	Role     Role   `yaml:"role"`
}

// Aggregate is the way to join votes into one score.
type Aggregate string

// The ways to join votes. An even median and a tie of a majority go to the lower
// score, so that the result is always a possible score and never flatters.
const (
	Median   Aggregate = "median"
	Majority Aggregate = "majority"
)

// Config is the configuration of an LLM judge. The zero value is not usable; start
// from Defaults.
type Config struct {
	Endpoints []model.Endpoint `yaml:"endpoints"`
	// Panel is asked in this order.
	Panel []Member `yaml:"panel"`
	// Votes is the number of answers that are joined into a judgement: one of each primary in turn,
	// and further samples of the same models if there are fewer primaries.
	Votes     int       `yaml:"votes"`
	Aggregate Aggregate `yaml:"aggregate"`
	// SelfConsistency is the number of samples of one model that are joined by majority into one
	// vote; 1 asks once, at temperature 0.
	SelfConsistency int `yaml:"self_consistency"`
	// SampleTemperature is used wherever one model is asked more than once.
	SampleTemperature float64 `yaml:"sample_temperature"`
	// Prompt is the path of a template to use instead of the embedded one.
	Prompt string `yaml:"prompt,omitempty"`
	// StepPrompt is the same for verdicts on steps.
	StepPrompt string `yaml:"step_prompt,omitempty"`
	// MaxTokens is the maximum length of a completion, including thinking.
	MaxTokens int `yaml:"max_tokens"`

	// Tries is the maximum number of requests for one answer, over all models.
	Tries int `yaml:"tries"`
	// RequestTimeout limits one request, AttemptDeadline all requests of an attempt,
	// RunDeadline those of the judge.
	RequestTimeout  time.Duration `yaml:"request_timeout"`
	AttemptDeadline time.Duration `yaml:"attempt_deadline"`
	RunDeadline     time.Duration `yaml:"run_deadline"`
	// Backoff is the mean wait after the first failure; it doubles up to
	// BackoffCap.
	Backoff    time.Duration `yaml:"backoff"`
	BackoffCap time.Duration `yaml:"backoff_cap"`
	// BudgetUSD and BudgetTokens limit what one run spends; nil is no limit.
	BudgetUSD    *float64 `yaml:"budget_usd,omitempty"`
	BudgetTokens *int     `yaml:"budget_tokens,omitempty"`
	// MaxUnscored is the maximum share of attempts without an answer.
	MaxUnscored float64 `yaml:"max_unscored"`
}

// Defaults returns the subnet's own figures where it has any: temperature 0, 3,072
// tokens, 90 seconds, 8 tries, back-off up to 10 seconds. The deadline of an attempt
// is enough for 8 requests that use all their time and their back-off; that of a run
// is a day, since the next day begins the next run.
func Defaults() Config {
	return Config{
		Votes: 1, Aggregate: Median, SelfConsistency: 1, SampleTemperature: 0.7,
		MaxTokens: 3072, Tries: 8,
		RequestTimeout: 90 * time.Second, AttemptDeadline: 15 * time.Minute, RunDeadline: 24 * time.Hour,
		Backoff: 250 * time.Millisecond, BackoffCap: 10 * time.Second,
		MaxUnscored: 0.02,
	}
}

// Validate returns an error that lists every unusable value.
func (c Config) Validate() error {
	var bad wrong.List
	c.checkPanel(&bad)
	bad.Unless(c.Votes >= 1, "votes is %d: want at least 1", c.Votes)
	bad.Unless(c.Aggregate == Median || c.Aggregate == Majority, "aggregate is %q: want median or majority", c.Aggregate)
	bad.Unless(c.SelfConsistency >= 1, "self_consistency is %d: want at least 1", c.SelfConsistency)
	bad.Unless(c.SampleTemperature > 0 && c.SampleTemperature <= 2, "sample_temperature is %v: want more than 0 and at most 2", c.SampleTemperature)
	bad.Unless(c.MaxTokens >= 1, "max_tokens is %d: want at least 1", c.MaxTokens)
	bad.Unless(c.Tries >= 1, "tries is %d: want at least 1", c.Tries)
	bad.Unless(c.RequestTimeout > 0, "request_timeout is %v: want more than 0", c.RequestTimeout)
	bad.Unless(c.AttemptDeadline > 0, "attempt_deadline is %v: want more than 0", c.AttemptDeadline)
	bad.Unless(c.RunDeadline > 0, "run_deadline is %v: want more than 0", c.RunDeadline)
	bad.Unless(c.Backoff > 0 && c.BackoffCap >= c.Backoff,
		"backoff is %v, backoff_cap %v: want more than 0, and the cap no less", c.Backoff, c.BackoffCap)
	bad.Unless(c.BudgetUSD == nil || isBudget(*c.BudgetUSD), "budget_usd: want 0 or more")
	bad.Unless(c.BudgetTokens == nil || *c.BudgetTokens >= 0, "budget_tokens: want 0 or more")
	bad.Unless(c.MaxUnscored >= 0 && c.MaxUnscored <= 1, "max_unscored is %v: want 0 to 1", c.MaxUnscored)
	return bad.Err()
}

func isBudget(usd float64) bool { return usd >= 0 && !math.IsInf(usd, 0) }

func (c Config) checkPanel(bad *wrong.List) {
	endpoints := map[string]bool{}
	for _, e := range c.Endpoints {
		*bad = append(*bad, e.Validate())
		bad.Unless(!endpoints[e.Name], "endpoint %q is named twice", e.Name)
		endpoints[e.Name] = true
	}
	bad.Unless(len(c.Endpoints) > 0, "endpoints is empty: want at least one")

	seen := map[Member]bool{}
	hasPrimary := false
	for i, m := range c.Panel {
		key := Member{Model: m.Model, Endpoint: m.Endpoint}
		bad.Unless(!seen[key], "panel[%d] (%s) is on the panel twice: use self_consistency to ask it more often", i, m.Model)
		seen[key] = true
		bad.Unless(m.Model != "", "panel[%d]: model is empty", i)
		isDefault := m.Endpoint == "" && len(c.Endpoints) <= 1
		bad.Unless(isDefault || endpoints[m.Endpoint], "panel[%d] (%s): no endpoint is named %q", i, m.Model, m.Endpoint)
		isRole := m.Role == Primary || m.Role == Fallback
		bad.Unless(isRole, "panel[%d] (%s): role is %q: want primary or fallback", i, m.Model, m.Role)
		hasPrimary = hasPrimary || m.Role == Primary
	}
	bad.Unless(hasPrimary, "panel has no primary: want at least one model that votes")
}

// hash returns the hex sha256 of everything that a judgement depends on, such as prompt, models,
// votes and the maximum length of an answer: judges with the same hash give the same answers from
// the same ledger. Addresses, deadlines, tries and budgets are not part of it.
func (c Config) hash(p prompt) (string, error) {
	// The names of the fields are part of the hash.
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
	return digest.SHA256(b), wrong.Wrap("hash judge", err)
}

// endpoint returns the endpoint of a panel member: the one that the member names, or the first one
// if it names none. It returns the zero value if no endpoint has the name.
func (c Config) endpoint(m Member) model.Endpoint {
	for _, e := range c.Endpoints {
		if e.Name == m.Endpoint || m.Endpoint == "" {
			return e
		}
	}
	return model.Endpoint{}
}
