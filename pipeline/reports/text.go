package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/judges/repeats"
	"github.com/trajectory-arena/arena/judges/shop/probe"
)

// minAgents is the minimum number of agents for a warning that the judge gave one grade to all
// attempts. With fewer agents, equal grades may be chance.
const minAgents = 10

// constantText returns a warning if the judge gave the same grade to all attempts of at least
// minAgents agents, otherwise "". Agents differ in quality, so a judge that grades all the same
// measures nothing.
func (r *Judges) constantText() string {
	if len(r.Levels) != 1 || r.GradedAgents < minAgents {
		return ""
	}
	l := r.Levels[0]
	return fmt.Sprintf("**The judge gave the same grade, %.1f, to all %d attempts of %d agents, so it measured nothing here.** Do not use the grades of this corpus.\n\n", l.Score, l.Attempts, r.GradedAgents)
}

// Lifted returns a description of the probes that raise the judge's grades too often, empty if there
// are none.
func (r *Judges) Lifted() string {
	if r.Probes == nil {
		return ""
	}
	return probe.LiftWarning(r.Probes.Probes)
}

// Warning returns the first sentences of the card if grades may mislead, otherwise "".
func (r *Judges) Warning() string {
	constant := r.constantText()
	if lifted := r.Lifted(); lifted != "" {
		return constant + "**Warning: " + corpus.EscapeCell(lifted) + ".**\n\n"
	}
	return constant
}

// Text returns the text of the dataset card. maxUnscored is the maximum share of attempts without a
// grade, 0 to 1.
func (r *Judges) Text(maxUnscored float64) string {
	text := fmt.Sprintf("Judge %s graded %d of %d attempts %s; %d have no grade (at most %.3g %% are allowed). A missing grade never counts as a low one. Coverage: %.1f %%. %s%s\n\n",
		r.Judge, r.Judged-r.Unscored, r.Judged, r.askedText(), r.Unscored, 100*maxUnscored, 100*r.Coverage, r.drawnText(), r.Multiplier.text())
	text += corpus.Table("score: | attempts: | drawn: | kept:", r.Levels, func(l LevelRate) string {
		return fmt.Sprintf("%.1f | %d | %d | %d", l.Score, l.Attempts, l.Drawn, l.Kept)
	})
	if n := r.Outcomes[arena.JudgeNotMeasured]; n > 0 {
		text += fmt.Sprintf("\n%d further attempts belong to domains on which the judge was not measured (not_measured): they have no grade, and their successes weigh 1.\n", n)
	}
	if r.Outcomes[arena.JudgeUnparsed]+r.Outcomes[arena.JudgeRefused]+len(r.Doubts) > 0 {
		text += fmt.Sprintf("\n%d answers could not be read and %d were refusals. Of the unreadable ones, %d lack the quote for a gate that they call passed, and %d quote text that the attempt does not contain.\n",
			r.Outcomes[arena.JudgeUnparsed], r.Outcomes[arena.JudgeRefused], r.Doubts[arena.DoubtNoQuote], r.Doubts[arena.DoubtUnfound])
	}
	return text + r.Predicts.text() + r.Thinking.text() + r.framesText() + agreementText(r.Agreement) + r.SubnetText() + r.Probes.text() + r.Steps.Text()
}

// askedText returns a part of a sentence, a clause such as "with a dialogue", that says which
// attempts the judge was asked about.
func (r *Judges) askedText() string {
	switch r.DroppedEvery {
	case 0:
		return "that passed filter and score"
	case 1:
		return "with a dialogue"
	}
	return "that it was asked about"
}

// drawnText returns a sentence on how attempts that cannot become rows were sampled for grading. It
// is empty if all or none were graded.
func (r *Judges) drawnText() string {
	if r.DroppedEvery < 2 {
		return ""
	}
	return fmt.Sprintf("It graded all attempts that passed filter and score, and a sample of %d of the %d others, about one in %d, chosen by their ids (judge.dropped_every). Frames and probes below are of these attempts; in comparisons of grades with outcomes, a sampled attempt counts %d times. ",
		r.Drawn, r.Drawn+r.Outcomes[arena.JudgeNotAsked], r.DroppedEvery, r.DroppedEvery)
}

// SubnetText returns the text of the dataset card on how far the build agrees with the subnet's own
// figures, empty if the runs have none.
func (r *Judges) SubnetText() string { return subnetText(r.Subnet) }

func (r *Judges) framesText() string {
	flags := r.Frames
	weigh := r.Multiplier.Frames
	flagged := slices.DeleteFunc(slices.Clone(flags), func(f frames.Flag) bool {
		return !f.Framed
	})
	n := len(flags)
	if len(flagged) == 0 {
		return fmt.Sprintf("\nOf %d agents with passages that decided a grade, none repeated one sentence frame with other fillings.\n", n)
	}
	return fmt.Sprintf("\nOf %d agents with passages that decided a grade, %d repeated the same sentence frames with other fillings (multiplier.frames: %s):\n\n", n, len(flagged), weigh) +
		corpus.Table("agent | passages: | pairs: | alike: | repeated: | copied:", flagged[:min(cardAgents, len(flagged))], func(f frames.Flag) string {
			return fmt.Sprintf(
				"%s | %d | %d | %.2f | %.2f | %.2f",
				corpus.EscapeCell(f.Agent),
				f.Passages,
				f.Pairs,
				f.Alike,
				f.Repeated,
				f.Copied,
			)
		})
}

func (r *Multiplier) text() string {
	weighed := "its own grade"
	if r.Per == multiplier.Run {
		weighed = "the mean grade of its run"
	}
	missing := "is left out"
	if r.Unscored == multiplier.Mean {
		missing = "takes the mean grade of its run, and is left out if the run has none"
	}
	text := fmt.Sprintf("The reward of a success is multiplied by a factor from %s: %.3g at grade 0, rising linearly to 1 at grade %.3g and above; an attempt without a grade %s.",
		weighed, r.Floor, r.Ceiling, missing)
	if r.Runs != nil {
		text += " reports/judges.json lists the mean and the coverage of each run."
	}
	return text
}

// cardAgents is the maximum number of agents in a table of the dataset card; the file agents.json
// lists all.
const cardAgents = 10

// Text returns the text of the dataset card.
func (r *Agents) Text() string {
	return fmt.Sprintf("Agents: %d. Where traces state neither the version nor the account of an agent, each run counts as one, and where no run is named, each file or trial. The agent with most kept attempts has %.1f %% of them; the Gini coefficient is %.2f. reports/agents.json lists all agents.\n\n", len(r.Agents), 100*r.TopShare, r.Gini) +
		corpus.Table("agent | attempts: | agentic: | adaptivity | solved: | kept:", r.Agents[:min(cardAgents, len(r.Agents))], func(a AgentShare) string {
			return fmt.Sprintf(
				"%s | %d | %d | %s | %d | %d",
				corpus.EscapeCell(a.Agent),
				a.Attempts,
				a.Agentic,
				a.Adapts(),
				a.Successes,
				a.Kept,
			)
		})
}

// Adapts returns the agent's adaptivity with its interval, a dash if its day is too short.
func (a *AgentShare) Adapts() string {
	if a.Adaptivity == nil {
		return "-"
	}
	return a.Adaptivity.String()
}

func agreementText(r *agreement.Report) string {
	if r == nil {
		return "\nThe agreement of the judge with labels was not measured (--judge-agreement).\n"
	}
	return "\nAgreement of the judge with others, with 95 % intervals clustered by problem:\n\n" +
		corpus.Table("a | b | n: | coverage: | exact | kappa | weighted kappa", r.Pairs, func(p agreement.Pair) string {
			return fmt.Sprintf(
				"%s | %s | %d | %.3f | %s | %s | %s",
				corpus.EscapeCell(p.A),
				corpus.EscapeCell(p.B),
				p.N,
				p.Coverage,
				figure(p.Exact),
				figure(p.Kappa),
				figure(p.WeightedKappa),
			)
		})
}

func figure(f agreement.Figure) string {
	switch {
	case f.Value == nil:
		return "not defined"
	case f.CI95 == nil:
		return fmt.Sprintf("%.3f", *f.Value)
	default:
		return fmt.Sprintf(
			"%.3f [%.3f, %.3f]",
			*f.Value,
			f.CI95[0],
			f.CI95[1],
		)
	}
}

func (r *Probes) text() string {
	if r == nil {
		return "\nHow far empty words, instructions or copied texts change its grades was not measured: no attempt was sampled, and --judge-probes gave no figures.\n"
	}
	where := "measured outside of this build"
	if r.Every > 0 {
		where = fmt.Sprintf("on one in %d attempts of these days", r.Every)
	}
	var lines []string
	for _, p := range probe.All() {
		if slices.ContainsFunc(r.Probes, func(s probe.Summary) bool { return s.Probe == p.Name }) {
			lines = append(lines, p.Name+": "+p.Doc)
		}
	}
	return "\nHow far its grades change although they should not, " + where + " (95 % intervals; the mean's is clustered by problem):\n\n" +
		corpus.Table("probe | n: | raised: | lowered: | share raised | mean shift", r.Probes, func(p probe.Summary) string {
			mean := fmt.Sprintf("%+.3f", p.MeanShift)
			if p.CI95 != nil {
				mean += fmt.Sprintf(" [%+.3f, %+.3f]", p.CI95[0], p.CI95[1])
			}
			return fmt.Sprintf(
				"%s | %d | %d | %d | [%.3f, %.3f] | %s",
				corpus.EscapeCell(p.Probe),
				p.N,
				p.Raised,
				p.Lowered,
				p.RaisedWilson95[0],
				p.RaisedWilson95[1],
				mean,
			)
		}) + "\n" + strings.Join(lines, "; ") + ".\n"
}

// Text returns the text of the dataset card on the step judge, "" if steps were not judged.
func (r *Steps) Text() string {
	if r == nil {
		return ""
	}
	n := r.Verdicts
	text := fmt.Sprintf(`
The steps of config steps are labelled by %s. Of %d attempts that could become rows, it labelled %d (coverage %.1f %%); %d have no labels and are left out.
%d steps were needed, %d waste and %d unclear. A row ends before its first unclear message.
`, r.Judge, r.Judged, r.Judged-r.Unscored, 100*r.Coverage, r.Unscored, n.Needed, n.Waste, n.Unclear)
	if strings.Contains(r.Judge, repeats.Name) {
		text += "Rows with the rule " + repeats.Name + " do not end there. They are the attempts with waste: the label false means that a message only repeats calls, and true that it is not known to be waste.\n"
	}
	return text
}

// LengthsText returns the card's table of lengths, from which users choose a trainer's maximum
// sequence length.
func LengthsText(lengths []Lengths) string {
	return fmt.Sprintf("Turns of the model and tokens per attempt (counted by %s) in config sft:\n\n", rows.Bytes4{}.Name()) +
		corpus.Table("split | attempts: | turns: median, 90 %, maximum | tokens: median, 90 %, maximum", lengths, func(l Lengths) string {
			return fmt.Sprintf(
				"%s | %d | %s | %s",
				l.Split,
				len(l.Steps),
				upTo(l.Steps),
				upTo(l.Tokens),
			)
		})
}

// upTo returns the median, the 90th percentile and the maximum of sorted values as text, by nearest
// rank. sorted must not be empty.
func upTo(sorted []int) string {
	n := int64(len(sorted))
	return fmt.Sprintf(
		"%d, %d, %d",
		sorted[figures.Rank(n, 50)],
		sorted[figures.Rank(n, 90)],
		sorted[n-1],
	)
}
