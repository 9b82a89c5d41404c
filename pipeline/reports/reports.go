// Package reports computes the reports of a run for people: the agents of attempts, the judge's
// grades, the guard's findings, and the lengths of rows.
package reports

import (
	"cmp"
	"fmt"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/judges/shop/probe"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// Set holds the reports of a run.
type Set struct {
	Funnel []corpus.Stage
	Agents Agents
	Judges Judges
	Leak   Leak
	// Rows sums up the rows of config sft.
	Rows figures.Figures
	// Lengths are the lengths of the splits with attempts.
	Lengths []Lengths
}

// Agents is the report on the agents of read and of kept attempts.
type Agents struct {
	Agents []AgentShare `json:"agents"`
	// TopShare is the largest agent's share of the kept attempts, and Gini the inequality of
	// the shares: 0 if they are equal, near 1 if one agent has all.
	TopShare float64 `json:"top_share"`
	Gini     float64 `json:"gini"`
}

// AgentShare counts the attempts of one agent.
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
	// Adaptivity is how much the agent's calls depend on results, nil if its day is too short
	// for an estimate.
	Adaptivity *habits.Estimate `json:"adaptivity"`
}

// Judges is the report on the judges.
type Judges struct {
	Judge    string `json:"judge"`
	Judged   int    `json:"judged"`
	Unscored int    `json:"unscored"`
	// DroppedEvery is the N of one in N attempts that cannot become rows and were drawn for
	// grading: 1 if all were, 0 if none was. Drawn counts those that the judge was asked about.
	DroppedEvery int `json:"dropped_every"`
	Drawn        int `json:"drawn"`
	// Coverage is the share of the judged attempts that have a grade.
	Coverage   float64     `json:"coverage"`
	Multiplier Multiplier  `json:"multiplier"`
	Levels     []LevelRate `json:"levels"`
	// GradedAgents is the number of agents with a graded attempt.
	GradedAgents int `json:"-"`
	// Outcomes counts the answers, and Doubts those without a grade for faulty quotes.
	Outcomes map[arena.JudgeOutcome]int `json:"outcomes"`
	Doubts   map[arena.JudgeDoubt]int   `json:"doubts"`
	// Agreement is the judge's agreement with labels or other judges, as measured by arena
	// agreement. It is nil if the user named no such report.
	Agreement *agreement.Report `json:"agreement"`
	// Subnet is the agreement of outcomes and grades with the subnet's own figures in the day's
	// runs, empty if the runs have none.
	Subnet []agreement.Validator `json:"subnet,omitempty"`
	// Probes is how much grades change for reasons that should not matter, nil if it was not
	// measured.
	Probes *Probes `json:"probes"`
	// Frames has the similarity of the passages that decided the grades of each agent.
	Frames []frames.Flag `json:"frames"`
	// Predicts is what the grades say of the outcomes.
	Predicts Prediction `json:"predicts"`
	// Thinking says whose the thinking of the attempts is.
	Thinking Thinking `json:"thinking"`
	// Steps is the report on the step judge, nil if steps were not judged.
	Steps *Steps `json:"steps"`
}

// Steps is the report on the step judge.
type Steps struct {
	Judge string `json:"judge"`
	// Judged counts attempts, Unscored those without an answer, and Outcomes their outcomes.
	Judged   int                        `json:"judged"`
	Unscored int                        `json:"unscored"`
	Coverage float64                    `json:"coverage"`
	Outcomes map[arena.JudgeOutcome]int `json:"outcomes"`
	// Verdicts counts verdicts on steps.
	Verdicts block.Needs `json:"verdicts"`
}

// Multiplier is the configuration of the factors by which grades multiply outcomes.
type Multiplier struct {
	multiplier.Config
	// Runs are the means that factors depend on, by run. It is empty if the factor of an attempt
	// depends on its own grade only.
	Runs map[string]RunQuality `json:"runs,omitempty"`
}

// RunQuality is the mean grade of a run's judged attempts. The mean is nil if none has a grade.
type RunQuality struct {
	Mean     *float64 `json:"mean"`
	Judged   int      `json:"judged"`
	Coverage float64  `json:"coverage"`
}

// LevelRate counts the attempts at one level of the judge.
type LevelRate struct {
	Score    float64 `json:"score"`
	Attempts int     `json:"attempts"`
	// Drawn counts those that cannot become rows: each stands for DroppedEvery of them.
	Drawn int `json:"drawn"`
	Kept  int `json:"kept"`
}

// Leak is the contamination report of a run: the split of the problems, and the guard's findings
// in the attempts.
type Leak struct {
	// Clusters and Problems are counts by pool.
	Clusters map[guard.Pool]int `json:"clusters"`
	Problems map[guard.Pool]int `json:"problems"`
	// Outside counts the entries of held-out files.
	Outside int `json:"held_out_entries"`
	// Released are the problems that are no longer held out.
	Released []string `json:"released,omitempty"`
	// SharedItems are the gold items of clusters in two pools. They audit the split: a run with
	// one fails.
	SharedItems []string `json:"products_in_two_pools"`
	Canary      string   `json:"canary"`
	// HasItems reports whether problems have gold items, the things that solve them.
	HasItems bool `json:"-"`
	// Guard has the counts by bank and tier, the evidence for every dropped attempt, and the
	// recall on planted requests.
	Guard *guard.Report `json:"guard"`
}

// Probes is how much a judge's grades change for reasons that should not matter.
type Probes struct {
	// Every is N if one in N attempts of this build was probed, 0 if the probes were separate from
	// the build.
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

// Files returns the files of the reports folder by name.
func (s *Set) Files() map[string]any {
	return map[string]any{"funnel.json": s.Funnel, AgentsName: s.Agents, JudgesName: s.Judges, "leak.json": s.Leak}
}

// The names of the reports on agents and on judges.
const (
	AgentsName = "agents.json"
	JudgesName = "judges.json"
)

// subnet compares the outcomes and grades that this build computed with the figures that the
// subnet, which ran the agents, published for the same runs and attempts.
type subnet struct {
	agreement.SubnetFindings
	// paid and graded are the build's outcomes and grades of the attempts of these runs, and
	// probability that with which an attempt was sampled for grading, if it was.
	paid, graded map[agreement.Key]*float64
	probability  map[agreement.Key]float64
}

// AddRun adds the subnet's figures of a run, and those of its attempts by problem.
func (a *Adder) AddRun(
	run, agent string,
	f arena.Findings,
	attempts map[string]arena.Findings,
) {
	a.subnet.Add(run, agent, f, attempts)
	if a.subnet.paid == nil {
		a.subnet.paid = map[agreement.Key]*float64{}
		a.subnet.graded = map[agreement.Key]*float64{}
		a.subnet.probability = map[agreement.Key]float64{}
	}
}

func (s *subnet) add(x *block.Entry) {
	if s.Has(x.RunID) {
		key := agreement.Key{
			Run:     x.RunID,
			Problem: cmp.Or(x.ProblemID, x.TraceID),
		}
		s.paid[key] = payment(x)
		s.graded[key] = x.Score
		if x.OneIn > 0 {
			s.probability[key] = 1 / float64(x.OneIn)
		}
	}
}

// payment returns what the build counts as the reward of an attempt: the score from a verifier or
// the source if one of these decided the outcome (nil if it gave no score), otherwise 1 for a
// success and 0 for a failure.
func payment(x *block.Entry) *float64 {
	if r := x.Outcome.Ruling; r != nil {
		return r.Score
	}
	if x.Outcome.Success {
		return new(1.0)
	}
	return new(0.0)
}

// compare returns, for each kind of figure that the subnet publishes, how far the build's figures
// agree with it.
func (s *subnet) compare() (findings []agreement.Validator) {
	slicesx.SortByKey(s.Items, func(a agreement.SubnetFinding) string {
		return a.Run
	}) // a sum of floats depends on its order
	for _, figure := range agreement.Figures {
		ours := agreement.Ratings{Name: "judge", Scores: s.graded, Probability: s.probability}
		switch figure {
		case agreement.FigureScore, agreement.FigureAttemptScore:
			ours = agreement.Ratings{Name: "outcome", Scores: s.paid}
		}
		findings = append(findings, agreement.AgainstValidator(
			figure,
			s.Items,
			&ours,
			agreement.DefaultOptions(),
		)...)
	}
	return findings
}

func subnetText(all []agreement.Validator) string {
	if len(all) == 0 {
		return ""
	}
	return "\nHow far the build agrees with what the day's runs carry of the subnet's own figures (ours less theirs; 95 % intervals draw agents; coverage is the share of the runs or attempts carrying a figure that the build graded; the grade of a drawn attempt counts for all that it was drawn from). Run by run: what was paid or solved times the run's coefficient (validator_score), the mean grade (reasoning_quality), and what the subnet's rule makes of it (reasoning_coefficient). Attempt by attempt, by category: solved by our rules (score), our grade (reasoning_score), and what the subnet's rule makes of either grade (multiplier).\n\n" +
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
