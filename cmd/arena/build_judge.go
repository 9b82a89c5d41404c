package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/judges/gates"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/judges/probe"
	"github.com/trajectory-arena/arena/pipeline"
)

// judgeChoice is the judge of a build: the offline one, or models whose
// answers a ledger keeps.
type judgeChoice struct {
	name      string
	agreement string
	probes    string
	llm       llmFlags
}

func (j *judgeChoice) flags(c *cobra.Command) {
	j.llm = defaultLLMFlags()
	c.Flags().StringVar(&j.name, "judge", "gates", "the judge: gates or llm (judge first with `arena judge`, which asks for many at once; build then reads its ledger)")
	c.Flags().StringVar(&j.llm.settings.file, "judge-config", "", "YAML file with the panel of models")
	c.Flags().StringVar(&j.agreement, "judge-agreement", "", "what arena agreement --json printed of this judge, for the dataset card")
	c.Flags().StringVar(&j.probes, "judge-probes", "", "what arena judge --probe printed of this judge, for the dataset card (default for gates: probes on attempts of this build)")
	j.llm.add(c)
}

// open makes the judge and notes in config what its answers depend on. done
// closes what it keeps.
func (j *judgeChoice) open(c *cobra.Command, config *pipeline.Config) (pipeline.Judge, func() error, error) {
	nothing := func() error { return nil }
	switch j.name {
	case "gates":
		if j.llm.given(c) {
			return nil, nil, usage(errors.New("the offline judge asks no model"), "add --judge llm, or leave out what is said about models")
		}
		config.Judge.Name, config.Judge.Settings = gates.Name, ""
		return gatesJudge{}, nothing, nil
	case "llm":
		m, err := j.llm.open(c)
		if err != nil {
			return nil, nil, err
		}
		settings, err := m.judge.Hash()
		if err != nil {
			return nil, nil, errors.Join(err, m.close())
		}
		config.Judge = pipeline.JudgeConfig{Name: m.judge.Name(), Settings: settings}
		config.MaxUnscored = m.cfg.MaxUnscored
		return m.judge, m.close, nil
	}
	return nil, nil, usage(fmt.Errorf("--judge is %q", j.name), "the judges are gates and llm; `arena judges` describes them")
}

// measured reads the judge's agreement; nil where none was given.
func (j *judgeChoice) measured() (*agreement.Report, error) {
	if j.agreement == "" {
		return nil, nil
	}
	b, err := os.ReadFile(j.agreement)
	if err != nil {
		return nil, usage(fmt.Errorf("read agreement: %w", err), "give the file that `arena agreement --json` wrote")
	}
	var r agreement.Report
	if err := json.Unmarshal(b, &r); err != nil || len(r.Pairs) == 0 {
		return nil, usage(fmt.Errorf("read agreement %s: no report of arena agreement", j.agreement), "give the file that `arena agreement --json` wrote")
	}
	return &r, nil
}

// probed reads what probes of the judge showed; none where none was given.
func (j *judgeChoice) probed() ([]probe.Summary, error) {
	if j.probes == "" {
		return nil, nil
	}
	b, err := os.ReadFile(j.probes)
	if err != nil {
		return nil, usage(fmt.Errorf("read probes: %w", err), "give the file that `arena judge --probe` wrote")
	}
	all, err := probe.ReadSummaries(b)
	if err != nil {
		return nil, usage(fmt.Errorf("read probes %s: %w", j.probes, err), "give the file that `arena judge --probe` wrote")
	}
	return all, nil
}

// gatesJudge is the offline judge as a run asks it.
type gatesJudge struct{}

// Judge grades one attempt.
func (gatesJudge) Judge(_ context.Context, t *arena.Trace, d *arena.Dialogue) (arena.Judgement, error) {
	return gates.Judge(t, d), nil
}

// judgeError gives the failures of a judge their hint and exit code; nil for
// any other error.
func judgeError(err error) error {
	switch {
	case errors.Is(err, llm.ErrAuth):
		return failed(err, "check the key that --api-key-env names")
	case errors.Is(err, llm.ErrBudget), errors.Is(err, llm.ErrDeadline):
		return limit(err, "what was paid for is kept: run the same command again to go on from there")
	}
	return nil
}
