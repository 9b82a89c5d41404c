// Package instrument holds the flags that choose what attempts are measured by:
// the judge, the comparison of titles and the tiers of embeddings.
package instrument

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/judges/shop/probe"
)

// offlineSteps is the value of --step-judge with which steps are labelled without a model.
const offlineSteps = "steps"

// JudgeChoice has the flags that choose the judge of attempts and the judge that labels steps. Both
// are either offline or models whose answers are stored in a ledger.
type JudgeChoice struct {
	Name      string
	Steps     string
	agreement string
	probes    string
	LLM       LLMFlags
}

// Flags adds the flags to c.
func (j *JudgeChoice) Flags(c *cobra.Command) {
	j.LLM = DefaultLLMFlags()
	cli.Group(c, "Judges:", j.choose)
	j.LLM.Add(c)
}

func (j *JudgeChoice) choose(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(
		&j.Name,
		"judge",
		"gates",
		"the judge: "+strings.Join(judges.Names(), " or ")+" (judge first with arena judge, which asks for many at once; build then reads its ledger)",
	)
	flags.StringVar(&j.Steps, "step-judge", offlineSteps, "judge of steps: steps (the offline rule) or llm (a model, asked about attempts that may become rows; implies --steps)")
	cli.File(c, &j.LLM.Settings.File, "judge-config", "YAML file with the panel of models, and whatever else docs/judges-llm.md lists")
	flags.StringArrayVar(&j.LLM.Settings.Sets, "judge-set", nil, "one key of the judge's configuration, such as votes=3; may be repeated")
	cli.File(c, &j.agreement, "judge-agreement", "what arena agreement --json printed of this judge, for the dataset card")
	cli.File(c, &j.probes, "judge-probes", "what arena judge --probe printed of this judge, for the dataset card (default for gates: probes on attempts of this build)")
}

// Judges are the open judges of a run: what grades attempts and what labels
// their steps.
type Judges struct {
	Judge   judges.Judge
	Is      judges.Identity
	Steps   judges.StepJudge
	StepsIs judges.Identity
	// Asks reports whether models grade attempts, StepsAsk whether they label steps.
	Asks, StepsAsk bool
	// Models are the models that are asked, nil if there are none.
	Models *Models
	// MaxUnscored is the maximum share of attempts without a grade, 0 to 1.
	MaxUnscored float64
	// Close closes the judges and their ledger.
	Close func() error
}

// Open opens the chosen judges. The limit on missing answers is that of the models' configuration,
// or 1 for offline judges, which cannot fail. Warnings are written to words.
func (j *JudgeChoice) Open(words io.Writer) (*Judges, error) {
	maxUnscored := 1.0
	if j.AsksModels() {
		maxUnscored = llm.Defaults().MaxUnscored
	}
	return j.OpenWithin(words, maxUnscored)
}

// OpenWithin opens the judges like Open, with maxUnscored as the default of the limit on missing
// answers.
func (j *JudgeChoice) OpenWithin(words io.Writer, maxUnscored float64) (*Judges, error) {
	judge, known := judges.ByFlag(j.Name)
	if !known {
		return nil, cli.Usage(
			fmt.Errorf("--judge is %q", j.Name),
			"the judges are "+strings.Join(judges.Names(), " and ")+"; `arena list judges` describes them",
		)
	}
	label, known := judges.StepsByFlag(cmp.Or(j.Steps, offlineSteps)) // commands without steps leave the flag out
	if !known {
		return nil, cli.Usage(fmt.Errorf("--step-judge is %q", j.Steps), "steps are labelled by steps or llm; `arena list judges` describes them")
	}
	if !judge.AsksModels && !label.AsksModels && j.LLM.IsSet() {
		return nil, cli.Misuse("the offline judge asks no model", "add --judge llm or --step-judge llm, or leave out what is said about models")
	}
	o := &Judges{Asks: judge.AsksModels, StepsAsk: label.AsksModels, MaxUnscored: maxUnscored, Close: func() error {
		return nil
	}}
	var panel *llm.Judge
	if judge.AsksModels || label.AsksModels {
		j.LLM.usualUnscored = maxUnscored
		m, err := j.LLM.Open(words)
		if err != nil {
			return nil, err
		}
		panel, o.Models, o.MaxUnscored, o.Close = m.Judge, m, m.Config.MaxUnscored, m.Close
	}
	var errs [2]error
	o.Judge, o.Is, errs[0] = judge.Open(panel)
	o.Steps, o.StepsIs, errs[1] = label.OpenSteps(panel)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// AsksModels reports whether the judge or the step labels come from models.
func (j *JudgeChoice) AsksModels() bool {
	judge, _ := judges.ByFlag(j.Name)
	label, _ := judges.StepsByFlag(j.Steps)
	return judge.AsksModels || label.AsksModels
}

// Measured reads the report on the judge's agreement from the file of --judge-agreement. It is nil
// if the flag is not set.
func (j *JudgeChoice) Measured() (*agreement.Report, error) {
	return given(j.agreement, "arena agreement --json", func(text []byte) (*agreement.Report, error) {
		var r agreement.Report
		if err := json.Unmarshal(text, &r); err != nil || len(r.Pairs) == 0 {
			return nil, errors.New("no report of arena agreement")
		}
		return &r, nil
	})
}

// Probed reads the results of probing the judge from the file of --judge-probes. It is nil if the
// flag is not set.
func (j *JudgeChoice) Probed() ([]probe.Summary, error) {
	return given(j.probes, "arena judge --probe", probe.ReadSummaries)
}

func given[T any](path, command string, read func([]byte) (T, error)) (what T, err error) {
	if path == "" {
		return what, nil
	}
	text, err := os.ReadFile(path)
	if err == nil {
		what, err = read(text)
	}
	if err != nil {
		err = cli.Failed(fmt.Errorf("read %s: %w", path, err), "give the file that `"+command+"` wrote")
	}
	return what, err
}
