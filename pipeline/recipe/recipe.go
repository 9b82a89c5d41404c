// Package recipe makes the data of one stage of a student's training: from a
// corpus, from rollouts at the corpus's training problems, or from both. The
// rollouts were played by student and built by pipeline before; here rows are
// chosen, held against everything protected once more, and exported.
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

// Recipe is one training stage: which rows it takes and how often.
type Recipe struct {
	Name string
	// Doc says in one sentence what the stage trains on.
	Doc string
	// Profile is that of the rows that are chosen among.
	Profile string
	// Rollouts says whether the stage needs rollouts; a stage that only can use
	// them takes the corpus's own rows without.
	Rollouts Need
	// Teacher reports whether the stage needs a teacher's rollouts besides.
	Teacher bool
	// Sampling is how rollouts are drawn where the caller does not say.
	Sampling Sampling
	// MinReward is the least reward of a rollout, 0 to 1. Rewards of recipes are
	// outcomes: 1 for a success by the subnet's rules, else 0.
	MinReward float64
	// CorpusShare is the share of rows that come from the corpus's sft rows.
	CorpusShare float64
	// VoucherTimes is how often the row of a voucher task is written.
	VoucherTimes int
}

// Rewrite is the recipe whose rollouts are rewritten attempts.
const Rewrite = "rewrite"

// Need says whether a stage takes rollouts.
type Need int

// The needs.
const (
	Never Need = iota
	Optional
	Always
)

// Sampling is how often and how a model is asked for one problem. Zero values
// are left to the server.
type Sampling struct {
	Samples     int
	Temperature float64
	TopP        float64
}

// wide is how rejection sampling draws: often enough, and wide enough, that a
// problem has successes and failures. The figures are those of the published
// recipe for these students (arXiv 2606.10064), as are the others below.
var wide = Sampling{Samples: 8, Temperature: 0.9, TopP: 0.95}

// All lists the recipes in the order of the stages.
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

// Named gives a recipe by its name.
func Named(name string) (Recipe, error) {
	var known []string
	for _, r := range All() {
		if r.Name == name {
			return r, nil
		}
		known = append(known, r.Name)
	}
	return Recipe{}, fmt.Errorf("unknown recipe %q: want %s", name, strings.Join(known, ", "))
}

func (r Recipe) comparesOutcomes() bool {
	return r.Profile == corpus.ProfileKTO || r.Profile == corpus.ProfilePref
}

// TrustCalls takes habits over many attempts for no evidence: they tell programs
// from models among strangers' agents, but every call of a rollout of our own was
// made because the model wrote it, and a sure student repeats itself.
func TrustCalls(c *pipeline.Config) {
	c.Filter.MinAttempts = math.MaxInt32
}

// Configure says how the corpus of the rollouts is built. Outcomes alone are
// rewards (a multiplier whose floor is 1 weighs nothing, and a student that repeats
// itself farms no judge), every sample of a problem may stay, and TrustCalls. What the student invents or leaves out is a
// failure like others where failures are trained on: it is what preferences are
// to cure.
func (r Recipe) Configure(c *pipeline.Config) {
	TrustCalls(c)
	c.Filter.Mistakes = r.comparesOutcomes()
	c.Multiplier.Floor, c.Multiplier.Frames = 1, multiplier.KeepFrames
	c.Select.SuccessOnly = r.Profile != corpus.ProfileStepwise
	c.Select.MinReward = r.MinReward
	c.Select.Top = max(c.Select.Top, r.Sampling.Samples)
}

// view is what a row is chosen by, whatever its profile.
type view struct {
	finish.RowView
	// failure is the session of the attempt that failed; empty where none did.
	failure string
	// wanted is the row's reward, or 1 and 0 for a label.
	wanted float64
}

func look(row any) (v view, err error) {
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
			v.wanted, v.failure = 1, r.RejectedSession
		}
	}
	return v, err
}
