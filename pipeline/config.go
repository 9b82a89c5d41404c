// Package pipeline runs the build of a corpus: the stages in their order, the
// workers, the blocks that make a run resumable, and the counts that account for
// every record. It is the only package that starts goroutines for records.
//
// A run has three steps. Map makes a block from each input file. Group reads the
// blocks' entries and decides on every attempt. Write writes the chosen attempts
// and the ledger into a corpus.
package pipeline

import (
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/judges/shop/steps"
	"github.com/trajectory-arena/arena/traces"
)

// Config contains the settings that decide the content of a corpus. The tag hash of a field states
// what a change of the field makes the next build repeat: "block" is everything, "guard" the
// comparison with protected problems and all that follows, "corpus" only grouping and writing, and
// "none" nothing, because no byte of an output depends on the field.
type Config struct {
	// Harness is the harness profile of training rows.
	Harness string `yaml:"harness" hash:"block"`
	// RunID is the run ID of records that have none. If it is empty, each file is a run, and the
	// run ID of standard input is "stdin".
	RunID   string         `yaml:"run_id" hash:"block"`
	Reading traces.Limits  `yaml:"reading" hash:"block"`
	Filter  filters.Config `yaml:"filter" hash:"block"`
	Judge   JudgeConfig    `yaml:"judge" hash:"block"`
	Guard   GuardConfig    `yaml:"guard" hash:"guard"`
	// Steps adds config steps: the kept attempts with a label for every turn. A change makes blocks
	// again, because only the map step reads the dialogue.
	Steps bool `yaml:"steps" hash:"block"`
	// Instrument turns judge, steps, adaptivity or rewordings on or off in every domain. Without it
	// an instrument is on in the domains on which it was measured.
	Instrument map[string]string `yaml:"instrument,omitempty" hash:"block"`
	// Recorded takes attempts as their sources recorded them, as arena import does: nothing filters,
	// scores, compares or ranks them, and they become rows of config sft only.
	Recorded bool `yaml:"recorded,omitempty" hash:"block"`
	// Multiplier is the weight of the judge's grades in rewards.
	Multiplier multiplier.Config `yaml:"multiplier" hash:"corpus"`
	Select     SelectConfig      `yaml:"select" hash:"corpus"`
	// A change of Redact makes blocks again, because tokens are counted in the published texts.
	Redact RedactConfig `yaml:"redact" hash:"block"`
	// MaxUnscored is the maximum share of attempts without a judge's answer, 0 to 1.
	MaxUnscored float64 `yaml:"max_unscored" hash:"corpus"`
	// MaxUnreadable is the maximum share of unreadable records, 0 to 1.
	MaxUnreadable float64 `yaml:"max_unreadable" hash:"corpus"`
	// Workers is the number of inputs that are processed at once, at most 4096.
	Workers int `yaml:"workers" hash:"none"`
}

// The values of Config.Instrument.
const (
	InstrumentOn  = "on"
	InstrumentOff = "off"
)

// JudgeConfig is the configuration of the reasoning judge, which the flags choose.
type JudgeConfig struct {
	// ProbeEvery probes the judge on one in ProbeEvery attempts that it grades: how far do empty
	// words, orders and copies move its score? 0 probes none.
	ProbeEvery int `yaml:"probe_every,omitempty"`
	// DroppedEvery grades one in DroppedEvery of the attempts that cannot become rows, because
	// the filter drops them or they have no score. 1 grades all, 0 none. It is 1 if a factor
	// depends on the grades of a run.
	DroppedEvery int `yaml:"dropped_every"`
}

// GuardConfig is the configuration of the split and its guards.
type GuardConfig struct {
	// Seed is the seed of the split.
	Seed   uint64       `yaml:"seed"`
	Shares guard.Shares `yaml:"shares"`
	// Drop is the lexical score, 0 to 1, from which a near miss is dropped. 0 stands
	// for the detector's default.
	Drop float64 `yaml:"drop"`
	// MaxFalse is the maximum estimated share, 0 to 1, of honest rows that the
	// detector drops. The detector's default score is raised until the estimate is
	// below it. 1 never raises the score, 0 stands for 0.02.
	MaxFalse float64 `yaml:"max_false"`
	// SameOnly drops by wording only rows with the same request, and no near misses.
	SameOnly bool `yaml:"same_only"`
}

// RedactConfig is the configuration of the redactor, which changes published texts
// only: guard, judge and scores see the original attempts.
type RedactConfig struct {
	// Secrets removes secrets, e-mail, network and wallet addresses and card numbers.
	Secrets bool `yaml:"secrets"`
	// Hotkeys removes the accounts of agents, too.
	Hotkeys bool `yaml:"hotkeys"`
}

// SelectConfig selects the rows among the attempts that passed the stages.
type SelectConfig struct {
	// Top is the maximum number of attempts at one problem.
	Top int `yaml:"top"`
	// Near is the estimated Jaccard similarity from which two attempts at one
	// problem count as duplicates.
	Near float64 `yaml:"near"`
	// SuccessOnly excludes unsuccessful attempts from sft. They still serve as
	// rejected and unwanted examples in pref and kto.
	SuccessOnly bool `yaml:"success_only"`
	// Where is an expression over the columns of the ledger. Only attempts that
	// fulfil it become rows of sft, pref or kto. It is empty to select all.
	Where string `yaml:"where"`
	// MinReward is the minimum reward (success times the factor by Multiplier) of an
	// sft row.
	MinReward float64 `yaml:"min_reward"`
	// Pairs is the maximum number of preference pairs of one problem.
	Pairs int `yaml:"pairs"`
	// Margin is the minimum difference in reward between the attempts of a pair.
	Margin float64 `yaml:"margin"`
	// LengthRatio is the maximum ratio of the longer attempt of a pair to the
	// shorter, in tokens, so that a trainer does not learn length alone. 0 is no limit.
	LengthRatio float64 `yaml:"length_ratio"`
}

// Defaults returns the default configuration.
//
// Top is 4 because released corpora repeated 469 requests 33 times each, and their students learned
// the requests; four attempts suffice to show the strategies of different agents. Near is 0.8, the
// customary limit for near-duplicate documents. Probing one attempt in 128 costs a tenth of the
// judge's time and yields one or two hundred probes a day. One in 8 attempts that cannot become
// rows is graded: that is an eighth of the time of grading them, and a thousand grades on a day of
// 16,000 of them. A margin of 0.1 is half a level of the judge.
func Defaults() Config {
	return Config{
		Harness:    "7-tool",
		Reading:    traces.DefaultLimits(),
		Filter:     filters.Defaults(),
		Judge:      JudgeConfig{ProbeEvery: 128, DroppedEvery: 8},
		Guard:      GuardConfig{Seed: 1, Shares: guard.DefaultShares()},
		Multiplier: multiplier.Defaults(),
		Select: SelectConfig{
			Top:         4,
			Near:        0.8,
			SuccessOnly: true,
			Pairs:       4,
			Margin:      0.1,
		},
		Redact:      RedactConfig{Secrets: true},
		MaxUnscored: 0.02,

		MaxUnreadable: traces.DefaultMaxUnreadable,
		Workers:       1,
	}
}

// AsRecorded returns c for a corpus of attempts as their sources recorded them: no instrument is on,
// failed attempts become rows too, and every problem that nothing protects is trained on. Recorded
// alone would still divide the problems.
func (c Config) AsRecorded() Config {
	c.Recorded = true
	c.Instrument = map[string]string{
		domain.Judge:      InstrumentOff,
		domain.Steps:      InstrumentOff,
		domain.Adaptivity: InstrumentOff,
	}
	c.Harness = ""
	c.Guard.Shares = guard.Shares{}
	c.Select.SuccessOnly = false
	return c
}

// Validate returns an error that lists all invalid settings.
func (c Config) Validate() error {
	bad := wrong.List{c.Reading.Validate(), c.Filter.Validate(), c.Guard.Shares.Validate(), c.Multiplier.Validate()}
	c.Select.validate(&bad)
	bad.Unless(
		c.Guard.Drop >= 0 && c.Guard.Drop <= 1,
		"guard.drop is %v: want 0 to 1",
		c.Guard.Drop,
	)
	bad.Unless(
		c.Guard.MaxFalse >= 0 && c.Guard.MaxFalse <= 1,
		"guard.max_false is %v: want 0 to 1",
		c.Guard.MaxFalse,
	)
	bad.Unless(c.Judge.ProbeEvery >= 0, "judge.probe_every is %d: want 0 or more", c.Judge.ProbeEvery)
	bad.Unless(c.Judge.DroppedEvery >= 0, "judge.dropped_every is %d: want 0 or more", c.Judge.DroppedEvery)
	bad.Unless(c.Redact.Secrets || !c.Redact.Hotkeys, "redact.hotkeys without redact.secrets: accounts alone cannot be taken out")
	bad.Unless(c.MaxUnreadable >= 0 && c.MaxUnreadable <= 1, "max_unreadable is %v: want 0 to 1", c.MaxUnreadable)
	bad.Unless(c.MaxUnscored >= 0 && c.MaxUnscored <= 1, "max_unscored is %v: want 0 to 1", c.MaxUnscored)
	bad.Unless(
		!c.Recorded || reflect.DeepEqual(c, c.AsRecorded()),
		"recorded is set: `arena import` sets it, with all that goes with it",
	)
	c.validateInstruments(&bad)
	bad.Unless(
		c.Workers >= 1 && c.Workers <= inorder.MaxWorkers,
		"workers is %d: want 1 to %d",
		c.Workers,
		inorder.MaxWorkers,
	)
	return bad.Err()
}

func (c *Config) validateInstruments(bad *wrong.List) {
	for _, name := range slicesx.SortedKeys(c.Instrument) {
		value := c.Instrument[name]
		bad.Unless(slices.Contains(domain.Instruments, name), "instrument.%s: want one of %s", name, strings.Join(domain.Instruments, ", "))
		bad.Unless(value == InstrumentOn || value == InstrumentOff, "instrument.%s is %q: want on or off", name, value)
	}
}

func (c *SelectConfig) validate(bad *wrong.List) {
	bad.Unless(c.Top >= 1, "select.top is %d: want at least 1", c.Top)
	bad.Unless(c.Near > 0 && c.Near <= 1, "select.near is %v: want more than 0 and at most 1", c.Near)
	bad.Unless(c.MinReward >= 0 && c.MinReward <= 1, "select.min_reward is %v: want 0 to 1", c.MinReward)
	bad.Unless(c.Pairs >= 0, "select.pairs is %d: want 0 or more", c.Pairs)
	isRatio := c.LengthRatio == 0 || c.LengthRatio >= 1 && !math.IsInf(c.LengthRatio, 1)
	bad.Unless(isRatio, "select.length_ratio is %v: want 1 or more, or 0 for no bound", c.LengthRatio)
	bad.Unless(c.Margin > 0 && c.Margin <= 1, "select.margin is %v: want more than 0 and at most 1", c.Margin)
}

// JSON returns the configuration as stored in manifests: without the settings that
// change no byte of an output.
func (c Config) JSON() []byte { return c.encode("block", "guard", "corpus") }

// encode returns, as JSON, the settings on which certain stored files depend, so that a change of
// them can be detected. A setting is included if the struct tag hash of its field is one of reach,
// such as "block" or "guard".
func (c Config) encode(reach ...string) []byte {
	fields := yaml.MapSlice{}
	for f, v := range reflect.ValueOf(c).Fields() {
		key, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		isOmitted := option == "omitempty" && v.IsZero()
		if slices.Contains(reach, f.Tag.Get("hash")) && !isOmitted {
			fields = append(fields, yaml.MapItem{Key: key, Value: v.Interface()})
		}
	}
	b, err := yaml.MarshalWithOptions(fields, yaml.JSON())
	if err != nil {
		panic(err) // numbers, strings and lists of them always encode
	}
	return b
}

// Instruments records what measured the attempts of a run. The flags choose the
// instruments, no configuration does. Blocks, plans and the hash of the configuration
// depend on them, and the manifest stores them next to the configuration.
type Instruments struct {
	Titles    TitlesInstrument `json:"titles"`
	Judge     InstrumentID     `json:"judge"`
	StepJudge InstrumentID     `json:"step_judge"`
	// JudgeChosen and StepsChosen report whether the user chose the judge or the step judge by a
	// flag, so that it is on in every domain.
	JudgeChosen bool `json:"-"`
	StepsChosen bool `json:"-"`
}

// TitlesInstrument records how titles are compared.
type TitlesInstrument struct {
	// Source is vectors, or endpoint with --embeddings.
	Source arena.TitleSource `json:"source"`
	// Model is the model of the embeddings endpoint.
	Model string `json:"model,omitempty"`
	// Prefix is the prefix of each text at that endpoint.
	Prefix string `json:"prefix,omitempty"`
}

// InstrumentID identifies a judge.
type InstrumentID struct {
	// Name is the versioned name of the judge.
	Name string `json:"name"`
	// Settings is the hash of everything else that its answers depend on.
	Settings string `json:"settings,omitempty"`
}

// NewInstrumentID returns the ID of a judge.
func NewInstrumentID(id judges.Identity) InstrumentID {
	return InstrumentID{Name: id.Name, Settings: id.Settings}
}

// isChosen reports whether the user chose an instrument (judge or step judge) by a flag. It is
// false for any other instrument.
func (i Instruments) isChosen(instrument string) bool {
	return instrument == domain.Judge && i.JudgeChosen || instrument == domain.Steps && i.StepsChosen
}

// asksModelForSteps reports whether the run's step judge, which rates the single steps of an
// attempt, is a model. Then each attempt costs requests and its text is sent to the model's server.
func (r *Run) asksModelForSteps() bool {
	return r.Config.Steps && r.Instruments.StepJudge.Name != steps.Name
}

// JSON returns the instruments as stored in manifests.
func (i Instruments) JSON() []byte { return asjson.Bytes(i) }
