// Package instrument holds the flags that choose what attempts are measured by:
// the judge, the titles of products and the tiers of embeddings.
package instrument

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/judges/gates"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/judges/probe"
	"github.com/trajectory-arena/arena/judges/steps"
	"github.com/trajectory-arena/arena/pipeline"
)

// offlineSteps is the --step-judge that asks no model.
const offlineSteps = "steps"

// JudgeChoice is the judge of a build, and what labels its steps: the offline
// ones, or models whose answers a ledger keeps.
type JudgeChoice struct {
	Name      string
	steps     string
	agreement string
	probes    string
	LLM       LLMFlags
}

// Flags adds the flags to c.
func (j *JudgeChoice) Flags(c *cobra.Command) {
	j.LLM = DefaultLLMFlags()
	c.Flags().StringVar(&j.Name, "judge", "gates", "the judge: gates or llm (judge first with arena judge, which asks for many at once; build then reads its ledger)")
	c.Flags().StringVar(&j.steps, "step-judge", offlineSteps, "what labels steps: steps (the offline rule) or llm, which is asked about attempts that may become rows; llm implies --steps")
	c.Flags().StringVar(&j.LLM.Settings.File, "judge-config", "", "YAML file with the panel of models")
	c.Flags().StringVar(&j.agreement, "judge-agreement", "", "what arena agreement --json printed of this judge, for the dataset card")
	c.Flags().StringVar(&j.probes, "judge-probes", "", "what arena judge --probe printed of this judge, for the dataset card (default for gates: probes on attempts of this build)")
	cli.Reads(c, "judge-config", "judge-agreement", "judge-probes")
	j.LLM.Add(c)
}

// Open makes the judges of r and notes in its configuration what their answers
// depend on. done closes what they keep.
func (j *JudgeChoice) Open(c *cobra.Command, r *pipeline.Run) (done func() error, err error) {
	if j.Name != "gates" && j.Name != "llm" {
		return nil, cli.Usage(fmt.Errorf("--judge is %q", j.Name), "the judges are gates and llm; `arena judges` describes them")
	}
	// Commands without steps leave the flag out.
	if j.steps != "" && j.steps != offlineSteps && j.steps != "llm" {
		return nil, cli.Usage(fmt.Errorf("--step-judge is %q", j.steps), "steps are labelled by steps or llm; `arena judges` describes them")
	}
	r.Judge = OfflineJudge{}
	r.Config.Judge = pipeline.JudgeConfig{Name: gates.Name, ProbeEvery: r.Config.Judge.ProbeEvery}
	r.StepJudge, r.Config.StepJudge = nil, pipeline.StepJudgeConfig{Name: steps.Name}
	if j.AsksModels() {
		return j.openModels(c, r)
	}
	if j.LLM.Given(c) {
		return nil, cli.Usage(errors.New("the offline judge asks no model"), "add --judge llm or --step-judge llm, or leave out what is said about models")
	}
	return func() error { return nil }, nil
}

// AsksModels reports whether the judge or the labels of steps come from models.
func (j *JudgeChoice) AsksModels() bool { return j.Name == "llm" || j.steps == "llm" }

func (j *JudgeChoice) openModels(c *cobra.Command, r *pipeline.Run) (func() error, error) {
	config := &r.Config
	j.LLM.maxUnscored = config.MaxUnscored
	m, err := j.LLM.Open(c)
	if err != nil {
		return nil, err
	}
	config.MaxUnscored = m.Config.MaxUnscored
	if j.Name == "llm" {
		r.Judge, config.Judge = m.Judge, pipeline.JudgeConfig{Name: m.Judge.Name(), Sparing: !config.Multiplier.NeedsRuns()}
		config.Judge.Settings, err = m.Judge.Hash()
	}
	if j.steps == "llm" && err == nil {
		r.StepJudge, config.Steps = m.Judge, true
		config.StepJudge.Name = m.Judge.StepsName()
		config.StepJudge.Settings, err = m.Judge.StepsHash()
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m.Close, nil
}

// Measured reads the judge's agreement; nil where none was given.
func (j *JudgeChoice) Measured() (*agreement.Report, error) {
	if j.agreement == "" {
		return nil, nil
	}
	b, err := os.ReadFile(j.agreement)
	if err != nil {
		return nil, cli.Failed(fmt.Errorf("read agreement: %w", err), "give the file that `arena agreement --json` wrote")
	}
	var r agreement.Report
	if err := json.Unmarshal(b, &r); err != nil || len(r.Pairs) == 0 {
		return nil, cli.Failed(fmt.Errorf("read agreement %s: no report of arena agreement", j.agreement), "give the file that `arena agreement --json` wrote")
	}
	return &r, nil
}

// Probed reads what probes of the judge showed; none where none was given.
func (j *JudgeChoice) Probed() ([]probe.Summary, error) {
	if j.probes == "" {
		return nil, nil
	}
	b, err := os.ReadFile(j.probes)
	if err != nil {
		return nil, cli.Failed(fmt.Errorf("read probes: %w", err), "give the file that `arena judge --probe` wrote")
	}
	all, err := probe.ReadSummaries(b)
	if err != nil {
		return nil, cli.Failed(fmt.Errorf("read probes %s: %w", j.probes, err), "give the file that `arena judge --probe` wrote")
	}
	return all, nil
}

// OfflineJudge asks no model.
type OfflineJudge struct{}

// Judge grades one attempt.
func (OfflineJudge) Judge(_ context.Context, t *arena.Trace, d *arena.Dialogue) (arena.Judgement, error) {
	return gates.Judge(t, d), nil
}

// JudgeError gives the failures of a judge their hint and exit code; nil for
// any other error.
func JudgeError(err error) error {
	switch {
	case errors.Is(err, llm.ErrAuth):
		return cli.Failed(err, "check the key that --api-key-env names")
	case errors.Is(err, llm.ErrBudget), errors.Is(err, llm.ErrDeadline):
		return cli.Limit(err, "what was paid for is kept: run the same command again to go on from there")
	}
	return nil
}
