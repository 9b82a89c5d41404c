package llm_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/judges/llm"
)

func TestAllErrorsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	usd := math.Inf(1)
	tokens := -1
	cfg := llm.Config{
		Endpoints: []model.Endpoint{{Name: "a", BaseURL: "nowhere"}, {Name: "a", BaseURL: "http://host/v1", Concurrency: 1}},
		Panel:     []llm.Member{{Endpoint: "b", Role: "chair"}, {Model: "m", Endpoint: "a", Role: llm.Fallback}, {Model: "m", Endpoint: "a", Role: llm.Fallback}},
		Aggregate: "mean", BudgetUSD: &usd, BudgetTokens: &tokens, MaxUnscored: math.NaN(),
	}
	err := cfg.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"base_url", "concurrency", "named twice", "model is empty", `no endpoint is named "b"`, `"chair"`, "on the panel twice", "no primary",
		"votes", "aggregate", "self_consistency", "sample_temperature", "max_tokens", "tries", "request_timeout", "attempt_deadline",
		"run_deadline", "backoff", "budget_usd", "budget_tokens", "max_unscored",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %s in: %v", want, err)
		}
	}
	if err := (llm.Config{}).Validate(); err == nil || !strings.Contains(err.Error(), "endpoints is empty") {
		t.Errorf("the zero value: %v", err)
	}
}

// TestTheHashKnowsEveryField changes each field of a configuration: those that
// an answer depends on change the hash, the others do not, and a new field must
// be put on one of both sides.
func TestTheHashKnowsEveryField(t *testing.T) {
	t.Parallel()
	hash := func(c llm.Config) string {
		h, err := c.Hash()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	usd := 1.0
	tokens := 1
	changes := map[string]struct {
		change  func(*llm.Config)
		answers bool
	}{
		"Endpoints":         {func(c *llm.Config) { c.Endpoints[0].ExtraBody = map[string]any{"top_k": 1} }, true},
		"Panel":             {func(c *llm.Config) { c.Panel[0].Model = "other" }, true},
		"Votes":             {func(c *llm.Config) { c.Votes = 3 }, true},
		"Aggregate":         {func(c *llm.Config) { c.Aggregate = llm.Majority }, true},
		"SelfConsistency":   {func(c *llm.Config) { c.SelfConsistency = 3 }, true},
		"SampleTemperature": {func(c *llm.Config) { c.SampleTemperature = 1 }, true},
		"MaxTokens":         {func(c *llm.Config) { c.MaxTokens = 1 }, true},
		"Prompt":            {func(c *llm.Config) { c.Prompt = "testdata/prompt.tmpl" }, true},
		"StepPrompt":        {func(c *llm.Config) { c.StepPrompt = "testdata/prompt.tmpl" }, false},
		"Tries":             {func(c *llm.Config) { c.Tries = 1 }, false},
		"RequestTimeout":    {func(c *llm.Config) { c.RequestTimeout = 1 }, false},
		"AttemptDeadline":   {func(c *llm.Config) { c.AttemptDeadline = 1 }, false},
		"RunDeadline":       {func(c *llm.Config) { c.RunDeadline = 1 }, false},
		"Backoff":           {func(c *llm.Config) { c.Backoff = 1 }, false},
		"BackoffCap":        {func(c *llm.Config) { c.BackoffCap = 1 }, false},
		"BudgetUSD":         {func(c *llm.Config) { c.BudgetUSD = &usd }, false},
		"BudgetTokens":      {func(c *llm.Config) { c.BudgetTokens = &tokens }, false},
		"MaxUnscored":       {func(c *llm.Config) { c.MaxUnscored = 1 }, false},
	}
	base := hash(sample())
	for _, f := range reflect.VisibleFields(reflect.TypeFor[llm.Config]()) {
		c, known := changes[f.Name]
		if !known {
			t.Errorf("%s is on neither side", f.Name)
			continue
		}
		cfg := sample()
		if c.change(&cfg); (hash(cfg) != base) != c.answers {
			t.Errorf("%s changes the hash: %v, want %v", f.Name, hash(cfg) != base, c.answers)
		}
	}
	moved := sample()
	moved.Endpoints[0].BaseURL = "http://elsewhere/v1"
	moved.Endpoints[0].KeyEnv = "KEY"
	moved.Endpoints[0].Concurrency = 7
	if hash(moved) != base {
		t.Error("the address changes the hash")
	}
}

func TestConfigurationsSurviveYAML(t *testing.T) {
	t.Parallel()
	want := sample()
	want.RequestTimeout = 45 * time.Second
	b, err := yaml.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got := llm.Defaults()
	if err := yaml.UnmarshalWithOptions(b, &got, yaml.Strict()); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%s\n%+v", err, b, got)
	}
}

func sample() llm.Config {
	cfg := llm.Defaults()
	cfg.Endpoints = endpointsAt("http://host/v1")
	cfg.Panel = panel(llm.Primary, llm.Fallback)
	return cfg
}
