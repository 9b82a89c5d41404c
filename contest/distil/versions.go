package distil

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Version is a rule as the subnet's public code had it from a date on.
type Version struct {
	// Name is the date of the change.
	Name  string    `json:"name"`
	Since time.Time `json:"since"`
	// Changed says what changed from the version before.
	Changed string `json:"changed"`
	Rule    Rule   `json:"rule"`
}

// finalWeights are the weights of the axes since 10 May 2026.
var finalWeights = map[string]float64{
	"on_policy_rkl": 0.39, "top_k_overlap": 0.09, "kl": 0.05, "capability": 0.05, "length": 0.05, "degeneracy": 0.05,
	"judge_probe": 0.20, "long_form_judge": 0.20, "long_gen_coherence": 0.25, "chat_turns_probe": 0.10,
	"reasoning_density": 0.05, "calibration_bench": 0.05,
	"v31_math_gsm_symbolic": 0.06, "v31_math_competition": 0.05, "v31_math_robustness": 0.03,
	"v31_code_humaneval_plus": 0.08, "v31_reasoning_logic_grid": 0.05, "v31_reasoning_dyval_arith": 0.04,
	"v31_long_context_ruler": 0.05, "v31_knowledge_multi_hop_kg": 0.04, "v31_ifeval_verifiable": 0.04,
	"v31_truthfulness_calibration": 0.03, "v31_consistency_paraphrase": 0.03,
}

// Versions are the rules that subnet 97 had in turn, by the history of its public code
// (unarbos/distil) until 20 May 2026. The axes of the composite rules before 16 May have equal
// weights here, since their weights changed from week to week.
var Versions = []Version{
	newVersion("2026-03-29T22:08:47Z", "the first rule", Rule{Kind: Relative, Epsilon: 0.01}),
	newVersion("2026-04-02T19:14:45Z", "a paired t-test replaces the share of 1 %", Rule{Kind: PairedT, Alpha: 0.05}),
	newVersion("2026-04-11T21:38:46Z", "level 0.01", Rule{Kind: PairedT, Alpha: 0.01}),
	newVersion("2026-04-12T03:16:47Z", "level 0.02, 150 prompts", Rule{Kind: PairedT, Alpha: 0.02}),
	newVersion("2026-04-13T00:00:00Z", "level 0.03, 300 prompts", Rule{Kind: PairedT, Alpha: 0.03}),
	newVersion("2026-04-22T13:03:50Z", "a margin of 3 %, at least 100 prompts",
		Rule{Kind: PairedT, Alpha: 0.03, Margin: 0.03, MinPairs: 100}),
	newVersion("2026-04-23T07:11:03Z", "no axis below 0.20 where three or more are known",
		Rule{Kind: PairedT, Alpha: 0.03, Margin: 0.03, MinPairs: 100, Floor: 0.2, MinAxes: 3, SparsePasses: true}),
	newVersion("2026-04-25T04:23:50Z", "the worst axis replaces KL, a margin of 3 %",
		Rule{Kind: Composite, Margin: 0.03, Bottom: 1, Worst: 1, Floor: 0.2, MinAxes: 3, SparsePasses: true}),
	newVersion("2026-04-29T05:42:32Z", "0.7 of the mean of the three worst axes, 0.3 of all axes",
		Rule{Kind: Composite, Margin: 0.03, Bottom: 0.7, Worst: 3, Floor: 0.2, MinAxes: 3, SparsePasses: true}),
	newVersion("2026-05-06T23:40:03Z", "0.75 of the worst axes",
		Rule{Kind: Composite, Margin: 0.03, Bottom: 0.75, Worst: 3, Floor: 0.2, MinAxes: 3, SparsePasses: true}),
	newVersion("2026-05-10T02:30:35Z", "0.85 of the five worst axes, a margin of 5 %",
		Rule{Kind: Composite, Margin: 0.05, Bottom: 0.85, Worst: 5, Floor: 0.2, MinAxes: 3, SparsePasses: true}),
	newVersion("2026-05-13T09:11:49Z", "0.75 of the three worst axes again",
		Rule{Kind: Composite, Margin: 0.05, Bottom: 0.75, Worst: 3, Floor: 0.2, MinAxes: 3, SparsePasses: true}),
	newVersion("2026-05-16T06:02:11Z", "at least five axes of king and challenger, else the king stays",
		Rule{Kind: Composite, Margin: 0.05, Bottom: 0.75, Worst: 3, Floor: 0.2, MinAxes: 5, Weights: finalWeights}),
}

func newVersion(since, changed string, r Rule) Version {
	t, err := time.Parse(time.RFC3339, since)
	if err != nil {
		panic(err) // the times above are constants
	}
	return Version{t.Format(time.DateOnly), t, changed, r}
}

// ruleAt returns the rule in force at a time in seconds since 1970, and "date". It returns nil
// and "" for a time of 0 and for times before the first version.
func ruleAt(seconds int64) (r *Rule, from string) {
	for i := range Versions {
		if seconds >= Versions[i].Since.Unix() {
			r = &Versions[i].Rule
			from = "date"
		}
	}
	return r, from
}

// Named returns the rule of the version with this name.
func Named(name string) (*Rule, error) {
	i := slices.IndexFunc(Versions, func(v Version) bool {
		return v.Name == name
	})
	if i < 0 {
		names := slicesx.Map(Versions, func(v Version) string {
			return v.Name
		})
		return nil, fmt.Errorf("no rule %q: the versions are %s", name, strings.Join(names, ", "))
	}
	return &Versions[i].Rule, nil
}

// UnmarshalJSON reads a rule, or the name of a version. A composite rule has the parameters of
// the last version, with equal weights, unless the JSON has others.
func (r *Rule) UnmarshalJSON(b []byte) error {
	var name string
	if json.Unmarshal(b, &name) == nil {
		named, err := Named(name)
		if err == nil {
			*r = *named
		}
		return err
	}
	type plain Rule // without this method
	var kind struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(b, &kind); err != nil {
		return err
	}
	p := plain{}
	if kind.Kind == Composite {
		p = plain(Versions[len(Versions)-1].Rule)
		p.Margin = 0
		p.Weights = nil
	}
	err := json.Unmarshal(b, &p)
	*r = Rule(p)
	return err
}
