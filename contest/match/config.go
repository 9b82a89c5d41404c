// Package match runs a round of a contest between models on the user's servers. It asks a
// teacher and students for their distributions on the same texts and measures KL. It then
// decides by the rules of subnet 97 or scores by those of subnet 47. Answers are recorded, so
// that a killed run continues where it ended and asks nothing twice.
package match

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/trajectory-arena/arena/contest/distil"
	"github.com/trajectory-arena/arena/contest/evolai"
	"github.com/trajectory-arena/arena/contest/kl"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// The contests that can be run.
const (
	SN97 = "sn97"
	SN47 = "sn47"
)

// Config is the configuration of one round.
type Config struct {
	Contest string `yaml:"contest" json:"contest"`
	// Rule is the name of a version of subnet 97's rule. Margin, if not nil, replaces the margin
	// of that version.
	Rule   string   `yaml:"rule" json:"rule,omitempty"`
	Margin *float64 `yaml:"margin" json:"margin,omitempty"`
	// Form is the form of KL that decides the round.
	Form string `yaml:"form" json:"form"`
	// Prompts is the path of a file of JSON lines with text, prompt or query. Draw is the number
	// of prompts that are sampled from the file with Seed. For subnet 47, the next set is
	// sampled with NextSeed.
	Prompts  string `yaml:"prompts" json:"-"`
	Draw     int    `yaml:"draw" json:"draw,omitempty"`
	Seed     string `yaml:"seed" json:"seed,omitempty"`
	NextSeed string `yaml:"next_seed" json:"next_seed,omitempty"`
	// MaxTokens is the maximum number of tokens of the teacher's continuation of a prompt,
	// ThinkTokens that of a student's thinking.
	MaxTokens   int `yaml:"max_tokens" json:"max_tokens"`
	ThinkTokens int `yaml:"think_tokens" json:"think_tokens"`
	// Top is the number of likeliest tokens that are requested at each position.
	Top         int           `yaml:"top" json:"top"`
	Concurrency int           `yaml:"concurrency" json:"-"`
	Timeout     time.Duration `yaml:"timeout" json:"-"`
	Teacher     Model         `yaml:"teacher" json:"teacher"`
	// King is the name of the student that is king.
	King     string  `yaml:"king" json:"king,omitempty"`
	Students []Model `yaml:"students" json:"students"`
	// BlockHash determines the side quests of subnet 47. History are the paths of the results of
	// its previous rounds, the oldest first.
	BlockHash string   `yaml:"block_hash" json:"block_hash,omitempty"`
	History   []string `yaml:"history" json:"-"`
}

// Model is a teacher or a student: a model on a server, or a file of its logits.
type Model struct {
	Name string `yaml:"name" json:"name"`
	// BaseURL is the URL of a server, Model the name of a model on it, and KeyEnv the
	// environment variable with the server's API key.
	BaseURL string `yaml:"base_url" json:"-"`
	Model   string `yaml:"model" json:"model,omitempty"`
	KeyEnv  string `yaml:"key_env" json:"-"`
	// Dump is the path of a file of logits over the whole vocabulary.
	Dump string `yaml:"dump" json:"-"`
	// Axes are values for subnet 97's composite score that were measured elsewhere.
	Axes map[string]float64 `yaml:"axes" json:"axes,omitempty"`
	// Miner is the description of the model's miner, used by subnet 47 only.
	evolai.Miner `yaml:",inline" json:"miner,omitzero"`
	// Previous is the revision of the model in the previous round, nil if there is none.
	Previous *Model `yaml:"previous" json:"previous,omitempty"`
}

// DefaultConfig returns the default configuration.
func DefaultConfig() Config {
	return Config{
		Form:        kl.FormTop20,
		Draw:        40,
		MaxTokens:   512,
		ThinkTokens: 512,
		Top:         20,
		Concurrency: 4,
		Timeout:     10 * time.Minute,
		Teacher:     Model{Name: "teacher"},
	}
}

// Validate returns one error that joins everything that is wrong with the configuration, or nil.
func (c *Config) Validate() error {
	var bad wrong.List
	bad.Unless(c.Contest == SN97 || c.Contest == SN47, "contest is %q: want %s or %s", c.Contest, SN97, SN47)
	bad.Unless(slices.Contains(kl.Forms(), c.Form), "form is %q: want one of %q", c.Form, kl.Forms())
	bad.Unless(len(c.Students) > 0, "no students")
	bad.Unless(c.Top >= 20 && c.Top <= 1000, "top is %d: want 20 to 1000", c.Top)
	bad.Unless(c.Draw > 1, "draw is %d: want 2 or more", c.Draw)
	bad.Unless(c.MaxTokens > 0, "max_tokens is %d: want 1 or more", c.MaxTokens)
	bad.Unless(c.Concurrency > 0, "concurrency is %d: want 1 or more", c.Concurrency)
	names := map[string]bool{}
	for _, m := range c.models() {
		bad.Unless(m.Name != "", "a model has no name")
		bad.Unless(!names[m.Name], "two models have the name %q", m.Name)
		bad.Unless((m.BaseURL == "") != (m.Dump == ""), "model %q: give base_url or dump", m.Name)
		bad.Unless((m.Dump == "") == (c.Teacher.Dump == ""), "model %q: all models are on servers, or all are dumps", m.Name)
		names[m.Name] = true
	}
	bad.Unless(c.Teacher.Dump != "" || c.Prompts != "", "no prompts")
	if c.Contest == SN97 {
		_, err := c.rule()
		bad = append(bad, err)
		bad.Unless(c.student(c.King) != nil, "king is %q, which is no student", c.King)
	} else {
		bad = append(bad, c.validateMiners())
	}
	return bad.Err()
}

// validateMiners returns one error that joins everything that is wrong with the configuration of
// a round of subnet 47, or nil.
func (c *Config) validateMiners() error {
	var bad wrong.List
	uids := map[int]bool{}
	bad.Unless(c.Teacher.Dump == "", "subnet 47 asks for thinking and answers: give servers, not dumps")
	bad.Unless(c.Seed != "" && c.NextSeed != "" && c.Seed != c.NextSeed, "seed and next_seed: want two different ones")
	bad.Unless(c.BlockHash != "", "no block_hash, from which side quests follow")
	for i := range c.Students {
		s := &c.Students[i]
		bad.Unless(s.Track != "" && s.Billions > 0 && s.Revision != "", "student %q: want track, params_b and revision", s.Name)
		bad.Unless(!uids[s.UID], "two students have uid %d", s.UID)
		uids[s.UID] = true
		if p := s.Previous; p != nil {
			bad.Unless(p.Revision != "", "student %q: its previous model has no revision", s.Name)
		}
	}
	return bad.Err()
}

// models returns all models of the configuration: the teacher, the students, and the revision of
// the previous round of each student that has one.
func (c *Config) models() []*Model {
	all := []*Model{&c.Teacher}
	for i := range c.Students {
		s := &c.Students[i]
		all = append(all, s)
		if s.Previous != nil {
			all = append(all, s.Previous)
		}
	}
	return all
}

// student returns the student with this name, nil if there is none.
func (c *Config) student(name string) *Model {
	i := slices.IndexFunc(c.Students, func(m Model) bool {
		return m.Name == name
	})
	if i < 0 {
		return nil
	}
	return &c.Students[i]
}

// rule returns the rule by which subnet 97 decides which model becomes king (the best so far), with
// the margin that the configuration sets.
func (c *Config) rule() (*distil.Rule, error) {
	named, err := distil.Named(c.Rule)
	if err != nil {
		return nil, err
	}
	r := *named
	if c.Margin != nil {
		r = r.WithMargin(*c.Margin)
	}
	return &r, nil
}

// pool returns a client of the model's server.
func (c *Config) pool(m *Model) (*model.Pool, error) {
	key := ""
	if m.KeyEnv != "" {
		if key = os.Getenv(m.KeyEnv); key == "" {
			return nil, fmt.Errorf("model %q: environment variable %s is not set", m.Name, m.KeyEnv)
		}
	}
	return model.NewPool(model.Config{
		URLs:        []string{m.BaseURL},
		Key:         key,
		Concurrency: c.Concurrency,
		Timeout:     c.Timeout,
		Retries:     retries,
		Wait:        time.Second,
		Patience:    patience,
	})
}

// retries is how many times a failed request is repeated. patience is how long a server that
// refuses connections is retried.
const (
	retries  = 4
	patience = time.Minute
)
