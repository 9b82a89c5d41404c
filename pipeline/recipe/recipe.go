// Package recipe writes the data of one stage of a student's training from a corpus, from
// rollouts at the corpus's training problems, or from both. Package student has played the
// rollouts and package pipeline has built a corpus from them. Package recipe chooses rows,
// checks them again against everything protected, and exports them.
package recipe

import (
	"fmt"
	"math"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Recipe is one training stage.
type Recipe struct {
	Name string
	// Doc describes in one sentence what the stage trains on.
	Doc string
	// Profile is the profile of the source rows.
	Profile string
	// Rollouts is whether the stage uses rollouts. If they are optional and missing, it uses
	// the corpus's rows.
	Rollouts Need
	// Teacher reports whether the stage needs a teacher's rollouts, too.
	Teacher bool
	// Sampling is the default sampling of rollouts.
	Sampling Sampling
	// MinReward is the minimum reward of a rollout, 0 to 1. Rewards of recipes are outcomes: 1
	// for a success by the subnet's rules, else 0.
	MinReward float64
	// CorpusShare is the share of rows that come from the corpus's sft rows.
	CorpusShare float64
	// VoucherTimes is the number of copies of the row of a voucher task.
	VoucherTimes int
}

// Rewrite is the recipe whose rollouts are rewritten attempts.
const Rewrite = "rewrite"

// Need is whether a stage uses rollouts.
type Need int

// Whether a stage uses rollouts: never, if the user names them, or always.
const (
	Never Need = iota
	Optional
	Always
)

// Sampling are the sampling parameters of rollouts at one problem. For zero values, the server
// decides.
type Sampling struct {
	Samples     int
	Temperature float64
	TopP        float64
}

// wide has the sampling settings of rollouts for recipes that compare a student's attempts or
// reject some: enough samples, different enough, that a problem has both successes and failures.
// The numbers, like those of the recipes below, are from the published recipe for these students
// (arXiv 2606.10064).
var wide = Sampling{Samples: 8, Temperature: 0.9, TopP: 0.95}

// All returns the recipes in the order of the stages.
func All() []Recipe {
	return []Recipe{
		{Name: "sft", Profile: corpus.ProfileHFJSON, VoucherTimes: 1,
			Doc: "the corpus's kept attempts, to fine-tune on"},
		{Name: "rft", Profile: corpus.ProfileHFJSON, Rollouts: Always, Sampling: wide, MinReward: 1, CorpusShare: 0.5, VoucherTimes: 1,
			Doc: "the student's own successes, half and half with the corpus (rejection sampling)"},
		{Name: "teacher", Profile: corpus.ProfileHFJSON, Rollouts: Always, Sampling: Sampling{Samples: 1}, MinReward: 1, VoucherTimes: 3,
			Doc: "the successes of a stronger model, voucher tasks three times"},
		{Name: "kto", Profile: corpus.ProfileKTO, Rollouts: Optional, Sampling: wide, VoucherTimes: 1,
			Doc: "successes and failures at the same problems, each with its label"},
		{Name: "pref", Profile: corpus.ProfilePref, Rollouts: Optional, Sampling: wide, VoucherTimes: 1,
			Doc: "pairs of a success and a failure at one problem"},
		{Name: "steps", Profile: corpus.ProfileStepwise, Rollouts: Always, Teacher: true, Sampling: wide, VoucherTimes: 1,
			Doc: "the student's rollouts with a reward for every step that a teacher took too, and for the outcome"},
		{Name: Rewrite, Profile: corpus.ProfileHFJSON, Rollouts: Always, MinReward: 1, VoucherTimes: 1,
			Doc: "solved attempts of programs, with reasoning that a model wrote"},
	}
}

// Named returns the recipe of a name.
func Named(name string) (Recipe, error) {
	var names []string
	for _, r := range All() {
		if r.Name == name {
			return r, nil
		}
		names = append(names, r.Name)
	}
	return Recipe{}, fmt.Errorf("unknown recipe %q: want %s", name, strings.Join(names, ", "))
}

func (r Recipe) comparesOutcomes() bool {
	return r.Profile == corpus.ProfileKTO || r.Profile == corpus.ProfilePref
}

// TrustCalls disables the filter's second pass over the habits of an agent. That pass tells
// programs from models among other people's agents, but the model itself wrote every call of a
// rollout, and a confident student repeats itself.
func TrustCalls(c *pipeline.Config) {
	c.Filter.MinAttempts = math.MaxInt32
}

// Configure sets the configuration of the corpus of the rollouts. The outcome alone is the
// reward, since a multiplier with floor 1 has no effect, and a student that repeats itself does
// not exploit a judge. Every sample of a problem may become a row. If failures are trained on,
// they include inventions and omissions of the student, which preferences shall cure.
func (r Recipe) Configure(c *pipeline.Config) {
	TrustCalls(c)
	c.Filter.Mistakes = r.comparesOutcomes()
	c.Multiplier.Floor = 1
	c.Multiplier.Frames = multiplier.KeepFrames
	c.Select.SuccessOnly = r.Profile != corpus.ProfileStepwise
	c.Select.MinReward = r.MinReward
	c.Select.Top = max(c.Select.Top, r.Sampling.Samples)
}

// view has the properties of a row of any profile (row format) that decide whether a recipe takes
// the row.
type view struct {
	finish.RowView
	// failure is the session ID of the failed attempt in the row, empty if there is none.
	failure string
	// wanted is the reward of an attempt, 1 or 0 for a good or bad label, and 1 for a pair whose
	// attempts differ in their outcomes.
	wanted float64
}

func newView(row any) (v view, err error) {
	v.RowView, err = finish.ViewRow(row)
	switch r := row.(type) {
	case *rows.SFT:
		v.wanted = r.Reward
	case *rows.KTO:
		if r.Label {
			v.wanted = 1
		} else {
			v.failure = r.SessionID
		}
	case *rows.Pref:
		if r.Reason != rows.PairJudge {
			v.wanted = 1
			v.failure = r.RejectedSession
		}
	}
	return v, err
}
