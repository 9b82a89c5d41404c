// Package reports adds up what a run found, for people: who brought attempts, how
// the judge graded them, what the guard found, and how long rows are.
package reports

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/judges/probe"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// Set is what a run tells people beside its rows.
type Set struct {
	Funnel []corpus.Stage
	Agents Agents
	Judges Judges
	Leak   Leak
	// Lengths are those of the splits that hold attempts.
	Lengths []Lengths
}

// Agents says whose attempts were read and whose were kept.
type Agents struct {
	Agents []AgentShare `json:"agents"`
	// TopShare is the largest agent's share of the kept attempts, Gini the
	// inequality of the shares: 0 if all agents have the same, towards 1 if one
	// has all.
	TopShare float64 `json:"top_share"`
	Gini     float64 `json:"gini"`
}

// AgentShare is one agent's line.
type AgentShare struct {
	Agent     string `json:"agent_version_id"`
	Hotkey    string `json:"miner_hotkey"`
	Attempts  int    `json:"attempts"`
	Agentic   int    `json:"agentic"`
	Scripted  int    `json:"scripted"`
	Unknown   int    `json:"unknown"`
	Scored    int    `json:"scored"`
	Successes int    `json:"successes"`
	Kept      int    `json:"kept"`
	// Adaptivity says how far the agent's calls depend on results; nil where its day
	// is too short to tell.
	Adaptivity *habits.Estimate `json:"adaptivity"`
}

// Judges says how the judge graded.
type Judges struct {
	Judge    string `json:"judge"`
	Judged   int    `json:"judged"`
	Unscored int    `json:"unscored"`
	// Sparing reports whether only attempts were judged that passed filter and score,
	// and not all that left a dialogue.
	Sparing bool `json:"sparing,omitempty"`
	// Coverage is the share of the judged attempts that have a grade.
	Coverage   float64     `json:"coverage"`
	Multiplier Multiplier  `json:"multiplier"`
	Levels     []LevelRate `json:"levels"`
	// Outcomes counts the answers, Doubts the grades whose quotes are faulty.
	Outcomes map[arena.JudgeOutcome]int `json:"outcomes"`
	Doubts   map[arena.JudgeDoubt]int   `json:"doubts"`
	// Agreement is how far the judge agrees with labels or other judges, as
	// arena agreement measured it; nil where the build was not told.
	Agreement *agreement.Report `json:"agreement"`
	// Subnet is how far outcomes and grades agree with what the day's runs carry of
	// the subnet's own; empty where they carry nothing.
	Subnet []agreement.Validator `json:"subnet,omitempty"`
	// Probes is how far its grades move where they should not; nil where that
	// was not measured.
	Probes *Probes `json:"probes"`
	// Frames says of each agent how alike the passages are that decided its grades.
	Frames []frames.Flag `json:"frames"`
	// Steps is the step judge's part; nil where steps were not judged.
	Steps *Steps `json:"steps"`
}

// Steps says how the step judge judged.
type Steps struct {
	Judge string `json:"judge"`
	// Judged counts attempts, Unscored those without an answer, by Outcomes.
	Judged   int                        `json:"judged"`
	Unscored int                        `json:"unscored"`
	Coverage float64                    `json:"coverage"`
	Outcomes map[arena.JudgeOutcome]int `json:"outcomes"`
	// Verdicts counts steps.
	Verdicts block.Needs `json:"verdicts"`
}

// Multiplier says how grades became factors on the outcome.
type Multiplier struct {
	multiplier.Config
	// Runs are the means that factors depend on, by run; none where each
	// attempt is weighed by its own grade alone.
	Runs map[string]RunQuality `json:"runs,omitempty"`
}

// RunQuality is the mean grade of a run's judged attempts; null where none has
// a grade.
type RunQuality struct {
	Mean     *float64 `json:"mean"`
	Judged   int      `json:"judged"`
	Coverage float64  `json:"coverage"`
}

// LevelRate counts the attempts at one level of the judge.
type LevelRate struct {
	Score    float64 `json:"score"`
	Attempts int     `json:"attempts"`
	Kept     int     `json:"kept"`
}

// Leak is the contamination report of a run: how the problems were
// split, and what the guard found in the attempts.
type Leak struct {
	// Clusters and Problems count by pool.
	Clusters map[guard.Pool]int `json:"clusters"`
	Problems map[guard.Pool]int `json:"problems"`
	// Outside counts the entries of held-out files.
	Outside int `json:"held_out_entries"`
	// Released are the problems that were held out once and are not any more.
	Released []string `json:"released,omitempty"`
	// SharedProducts are gold products of clusters in two pools: the audit of
	// the split. A run that finds one stops.
	SharedProducts []string `json:"products_in_two_pools"`
	Canary         string   `json:"canary"`
	// Guard counts by bank and tier, with the evidence for every dropped
	// attempt and the recall on planted requests.
	Guard *guard.Report `json:"guard"`
}

// Probes is how far a judge's grades move where they should not.
type Probes struct {
	// Every says that one in so many attempts of this build was probed; 0 where
	// the figures were measured apart from it.
	Every  int             `json:"every"`
	Probes []probe.Summary `json:"probes"`
}

// Lengths says how long the kept attempts of a split are, each list in
// ascending order: turns of the model, and tokens as rows count them.
type Lengths struct {
	Split  string
	Steps  []int
	Tokens []int
}

// Files are those of the reports folder by name.
func (r *Set) Files() map[string]any {
	return map[string]any{"funnel.json": r.Funnel, "agents.json": r.Agents, "judges.json": r.Judges, "leak.json": r.Leak}
}

// truth holds what the build finds of attempts against what their runs carry of the
// subnet's own.
type truth struct {
	agreement.SubnetFindings
	// paid and graded are the build's, of the attempts of these runs.
	paid, graded map[agreement.Key]*float64
}

// Carries tells what a run carries, and what of each of its attempts by problem.
func (a *Adder) AddRun(
	run, agent string,
	f arena.Findings,
	attempts map[string]arena.Findings,
) {
	if a.truth.Add(run, agent, f, attempts); a.truth.paid == nil {
		a.truth.paid = map[agreement.Key]*float64{}
		a.truth.graded = map[agreement.Key]*float64{}
	}
}

func (t *truth) add(x *block.Entry) {
	if t.Has(x.RunID) {
		key := agreement.Key{
			Run:     x.RunID,
			Problem: cmp.Or(x.ProblemID, x.TraceID),
		}
		t.paid[key], t.graded[key] = paid(x), x.Score
	}
}

// paid is what the verifier paid, or 1 for a success; nil where the attempt was none.
func paid(x *block.Entry) *float64 {
	if r := x.Outcome.Ruling; r != nil {
		return r.Score
	}
	if x.Outcome.Success {
		return new(1.0)
	}
	return new(0.0)
}

func (t *truth) held() (all []agreement.Validator) {
	slices.SortStableFunc(t.Items, func(a, b agreement.SubnetFinding) int {
		return cmp.Compare(a.Run, b.Run)
	}) // a sum of floats depends on its order
	for _, figure := range agreement.Figures {
		ours := agreement.Ratings{Name: "judge", Scores: t.graded}
		switch figure {
		case agreement.FigureScore, agreement.FigureAttemptScore:
			ours = agreement.Ratings{Name: "outcome", Scores: t.paid}
		}
		all = append(all, agreement.AgainstValidator(
			figure,
			t.Items,
			&ours,
			agreement.DefaultOptions(),
		)...)
	}
	return all
}

func subnetText(all []agreement.Validator) string {
	if len(all) == 0 {
		return ""
	}
	return "\nHow far the build agrees with what the day's runs carry of the subnet's own figures (ours less theirs; 95 % intervals draw agents; coverage is the share of the runs or attempts carrying a figure that the build graded). Run by run: what was paid or solved times the run's coefficient (validator_score), the mean grade (reasoning_quality), and what the subnet's rule makes of it (reasoning_coefficient). Attempt by attempt, by category: solved by our rules (score), our grade (reasoning_score), and what the subnet's rule makes of either grade (multiplier).\n\n" +
		corpus.Table("figure | category | ours | runs: | attempts: | agents: | coverage: | bias | distance | correlation", all, func(v agreement.Validator) string {
			return fmt.Sprintf(
				"%s | %s | %s | %d | %d | %d | %.3f | %s | %s | %s",
				v.Figure,
				corpus.EscapeCell(cmp.Or(v.Category, "all")),
				v.Judge,
				v.Runs,
				v.Attempts,
				v.Agents,
				v.Coverage,
				figure(v.Bias),
				figure(v.Distance),
				figure(v.Correlation),
			)
		})
}
