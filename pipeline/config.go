// Package pipeline is the run: the order of the stages, the workers, the
// blocks that make it resumable, and the counts that show nothing got lost. It
// is the only package that starts goroutines for records.
//
// A run has three steps. Map turns each input file into a block. Group reads
// the blocks' entries and decides what becomes of every attempt. Write turns
// the chosen attempts and the ledger into a corpus.
package pipeline

import (
	"math"
	"reflect"
	"slices"

	"github.com/goccy/go-yaml"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/judges/steps"
	"github.com/trajectory-arena/arena/traces"
)

// Config is everything that decides what a corpus holds. The tag hash says how
// far a change reaches: "block" makes every block again, "corpus" only
// grouping and writing, "none" changes no byte of any output.
type Config struct {
	// Harness is the profile that training rows are rendered with.
	Harness string `yaml:"harness" hash:"block"`
	// RunID names the run of records that name none; empty, each file is a run of
	// its own and standard input is "stdin".
	RunID   string         `yaml:"run_id" hash:"block"`
	Reading traces.Limits  `yaml:"reading" hash:"block"`
	Filter  filters.Config `yaml:"filter" hash:"block"`
	Titles  TitlesConfig   `yaml:"titles" hash:"block"`
	Judge   JudgeConfig    `yaml:"judge" hash:"block"`
	Guard   GuardConfig    `yaml:"guard" hash:"block"`
	// Steps adds config steps: the kept attempts with a label for every turn.
	// The labels are made from the dialogue, which only a block's making reads.
	Steps     bool            `yaml:"steps" hash:"block"`
	StepJudge StepJudgeConfig `yaml:"step_judge" hash:"block"`
	// Multiplier says how the judge's grades weigh outcomes.
	Multiplier multiplier.Config `yaml:"multiplier" hash:"corpus"`
	Select     SelectConfig      `yaml:"select" hash:"corpus"`
	// Redact reaches a block because tokens are counted as they are published.
	Redact RedactConfig `yaml:"redact" hash:"block"`
	// MaxUnscored is the share of attempts without a judge's answer above which
	// there is no corpus.
	MaxUnscored float64 `yaml:"max_unscored" hash:"corpus"`
	// MaxUnreadable is the share of records that may be unreadable; with more
	// there is no corpus.
	MaxUnreadable float64 `yaml:"max_unreadable" hash:"corpus"`
	// Workers is how many inputs are worked on at once.
	Workers int `yaml:"workers" hash:"none"`
}

// TitlesConfig says how the titles of products are compared.
type TitlesConfig struct {
	// Source is written by the run: vectors, or endpoint with --embeddings.
	Source arena.TitleSource `yaml:"source"`
	// Model is written by the run: the model of the embeddings endpoint.
	Model string `yaml:"model,omitempty"`
	// Prefix is written by the run: what stands before each text at that endpoint.
	Prefix string `yaml:"prefix,omitempty"`
}

// JudgeConfig names the reasoning judge.
type JudgeConfig struct {
	// Name is written by the run, from --judge: the judge's versioned name.
	Name string `yaml:"name"`
	// Settings is written by the run: the hash of what else its answers depend on.
	Settings string `yaml:"settings,omitempty"`
	// ProbeEvery probes the judge on one in so many attempts: how far do empty
	// words, orders and copies move its score. 0 probes none.
	ProbeEvery int `yaml:"probe_every,omitempty"`
	// Sparing is written by the run: it leaves out attempts that the filter drops or that have no score: no
	// row needs their grades. Means of runs do.
	Sparing bool `yaml:"sparing,omitempty"`
}

// StepJudgeConfig names what labels steps, as JudgeConfig does the judge.
type StepJudgeConfig struct {
	// Name is written by the run, from --step-judge.
	Name string `yaml:"name"`
	// Settings is written by the run, as those of the judge.
	Settings string `yaml:"settings,omitempty"`
}

// GuardConfig says how problems are kept apart.
type GuardConfig struct {
	// Seed is the seed of the split.
	Seed   uint64       `yaml:"seed"`
	Shares guard.Shares `yaml:"shares"`
	// Drop is the lexical score, 0 to 1, from which a near miss is dropped; 0 is the
	// detector's own.
	Drop float64 `yaml:"drop"`
	// MaxFalse is the share, 0 to 1, of honest rows that may be lost: a detector's
	// own drop is raised with the bank until the estimate is below; 1 never raises
	// it, 0 is 0.02.
	MaxFalse float64 `yaml:"max_false"`
	// SameOnly drops by wording only rows that ask for the same, not near misses.
	SameOnly bool `yaml:"same_only"`
}

// RedactConfig says what may not be published. Guard, judge and scores see the
// attempts as they are; what is written of them passes the redactor.
type RedactConfig struct {
	// Secrets takes out secrets, e-mail, network and wallet addresses and card
	// numbers.
	Secrets bool `yaml:"secrets"`
	// Hotkeys takes out the accounts of agents too.
	Hotkeys bool `yaml:"hotkeys"`
}

// SelectConfig says which of the attempts that passed become rows.
type SelectConfig struct {
	// Top is how many attempts at one problem stay.
	Top int `yaml:"top"`
	// Near is the estimated Jaccard similarity from which two attempts at one
	// problem count as the same.
	Near float64 `yaml:"near"`
	// SuccessOnly keeps unsuccessful attempts out of sft; they still serve as
	// rejected and unwanted examples in pref and kto.
	SuccessOnly bool `yaml:"success_only"`
	// Where is an expression over the columns of the ledger that an attempt must
	// fulfil to become a row of sft, pref or kto; empty for all.
	Where string `yaml:"where"`
	// MinReward is the least reward (success times the factor by Multiplier) of an
	// sft row.
	MinReward float64 `yaml:"min_reward"`
	// Pairs is how many preference pairs one problem gives at most.
	Pairs int `yaml:"pairs"`
	// Margin is the least difference in reward within a pair.
	Margin float64 `yaml:"margin"`
	// LengthRatio bounds the longer attempt of a pair over the shorter, in
	// tokens, so that no trainer learns length alone; 0 bounds nothing.
	LengthRatio float64 `yaml:"length_ratio"`
}

// Defaults are the configuration of a run that was given none.
//
// Four attempts a problem: released corpora repeated 469 requests 33 times
// each, and their students learned the requests; four keep the strategies apart
// that different agents show. 0.8 is the similarity at which near-duplicate
// documents are customarily cut. One probed attempt in 128 costs a tenth of the
// judge's time and gives a hundred or two a day. A margin of 0.1 is half a level of the judge.
func Defaults() Config {
	return Config{
		Harness:     "7-tool",
		Reading:     traces.DefaultLimits(),
		Filter:      filters.Defaults(),
		Titles:      TitlesConfig{Source: arena.TitlesVectors},
		Judge:       JudgeConfig{Name: "gates_v2", ProbeEvery: 128},
		StepJudge:   StepJudgeConfig{Name: steps.Name},
		Guard:       GuardConfig{Seed: 1, Shares: guard.DefaultShares()},
		Multiplier:  multiplier.Defaults(),
		Select:      SelectConfig{Top: 4, Near: 0.8, SuccessOnly: true, Pairs: 4, Margin: 0.1},
		Redact:      RedactConfig{Secrets: true},
		MaxUnscored: 0.02,

		MaxUnreadable: traces.DefaultMaxUnreadable,
		Workers:       1,
	}
}

// Validate names everything that cannot be used, all at once.
func (c Config) Validate() error {
	bad := wrong.List{c.Reading.Validate(), c.Filter.Validate(), c.Guard.Shares.Validate(), c.Multiplier.Validate()}
	bad.Unless(c.Select.Top >= 1, "select.top is %d: want at least 1", c.Select.Top)
	bad.Unless(c.Select.Near > 0 && c.Select.Near <= 1, "select.near is %v: want more than 0 and at most 1", c.Select.Near)
	bad.Unless(c.Select.MinReward >= 0 && c.Select.MinReward <= 1, "select.min_reward is %v: want 0 to 1", c.Select.MinReward)
	bad.Unless(c.Select.Pairs >= 0, "select.pairs is %d: want 0 or more", c.Select.Pairs)
	bad.Unless(c.Select.LengthRatio == 0 || c.Select.LengthRatio >= 1 && !math.IsInf(c.Select.LengthRatio, 1), "select.length_ratio is %v: want 1 or more, or 0 for no bound", c.Select.LengthRatio)
	bad.Unless(c.Select.Margin > 0 && c.Select.Margin <= 1, "select.margin is %v: want more than 0 and at most 1", c.Select.Margin)
	bad.Unless(c.Guard.Drop >= 0 && c.Guard.Drop <= 1, "guard.drop is %v: want 0 to 1", c.Guard.Drop)
	bad.Unless(c.Guard.MaxFalse >= 0 && c.Guard.MaxFalse <= 1, "guard.max_false is %v: want 0 to 1", c.Guard.MaxFalse)
	bad.Unless(c.Judge.ProbeEvery >= 0, "judge.probe_every is %d: want 0 or more", c.Judge.ProbeEvery)
	bad.Unless(!c.Judge.Sparing || !c.Multiplier.NeedsRuns(), "judge.sparing with multiplier.per run or multiplier.unscored mean: a run's mean is over all its attempts")
	bad.Unless(c.Redact.Secrets || !c.Redact.Hotkeys, "redact.hotkeys without redact.secrets: accounts alone cannot be taken out")
	bad.Unless(c.MaxUnreadable >= 0 && c.MaxUnreadable <= 1, "max_unreadable is %v: want 0 to 1", c.MaxUnreadable)
	bad.Unless(c.MaxUnscored >= 0 && c.MaxUnscored <= 1, "max_unscored is %v: want 0 to 1", c.MaxUnscored)
	bad.Unless(c.Workers >= 1, "workers is %d: want at least 1", c.Workers)
	return bad.Err()
}

// JSON is the configuration as a manifest holds it: without what changes no
// byte of an output.
func (c Config) JSON() []byte { return c.encode("block", "corpus") }

func (c Config) encode(reach ...string) []byte {
	fields := yaml.MapSlice{}
	for f, v := range reflect.ValueOf(c).Fields() {
		if slices.Contains(reach, f.Tag.Get("hash")) {
			fields = append(fields, yaml.MapItem{Key: f.Tag.Get("yaml"), Value: v.Interface()})
		}
	}
	b, err := yaml.MarshalWithOptions(fields, yaml.JSON())
	if err != nil {
		panic(err) // numbers, words and lists of them always encode
	}
	return b
}
