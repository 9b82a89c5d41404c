package attempt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/checks"
	"github.com/trajectory-arena/arena/internal/text"
)

// Text returns an explanation of an attempt, stage by stage. Lines have at most Width columns.
func (l *Ledger) Text(a *Argument) string {
	p := &printer{}
	l.head(p, a)
	l.filtered(p, a)
	scored(p, a)
	judged(p, a)
	l.guarded(p, a)
	l.ranked(p, a)
	pooled(p, a)
	story(p, a)
	return p.String()
}

// Verdict returns the explanation of the filter's verdict alone.
func (l *Ledger) Verdict(a *Argument) string { return alone(a, l.filtered) }

// Grade returns the explanation of the judge's grade alone.
func (l *Ledger) Grade(a *Argument) string { return alone(a, judged) }

func alone(a *Argument, stage func(*printer, *Argument)) string {
	p := &printer{}
	p.print(text.Line(a.Attempt.TraceID + "  agent " + cmp.Or(a.Attempt.AgentVersion, "-")))
	stage(p, a)
	story(p, a)
	return p.String()
}

// maxQuoted is the maximum number of characters that one line of an explanation quotes from a
// trace.
const maxQuoted = 240

func shorten(s string) string {
	c := text.Clip(s, maxQuoted)
	if len(c) < len(s) {
		c += " …"
	}
	return c
}

func (l *Ledger) head(p *printer, a *Argument) {
	x := a.Attempt
	p.print(text.Line(cmp.Or(x.TraceID, "a record that could not be read")))
	switch x.Fate {
	case "kept":
		p.line("kept      ", "split %s, rank %s at its problem", x.Split, number(widened(x.Rank)))
	default:
		p.line(
			fmt.Sprintf("%-10s", x.Fate),
			"at %s: %s: %s",
			x.Stage,
			x.Reason,
			cmp.Or(l.Meanings[x.Reason], "no meaning is known"),
		)
	}
	p.line(
		"agent     ",
		"%s, hotkey %s, suite %s",
		cmp.Or(x.AgentVersion, "-"),
		cmp.Or(x.AgentHotkey, "-"),
		cmp.Or(x.Suite, "-"),
	)
	tokens := "tokens not counted"
	if x.TokenCounter != "" {
		tokens = fmt.Sprintf("%d tokens (%s)", x.NTokens, x.TokenCounter)
	}
	p.line("record    ", "%s %.12s line %d, %s, %d steps, %d calls, %s", x.Shape, x.SourceSHA256, x.SourceLine,
		cmp.Or(x.Status, "no status"), x.NSteps, x.NToolCalls, tokens)
}

func (l *Ledger) filtered(p *printer, a *Argument) {
	p.print("")
	v := a.Verdict
	if v == nil {
		p.line("filter    ", "not asked")
		return
	}
	p.line("filter    ", "keep %t; axis %s, confidence %.2f; adaptivity %s; richness v1 %s, v2 %s", v.Keep, v.Axis, v.Confidence,
		number(v.Adaptivity), number(v.RichnessV1), number(v.RichnessV2))
	if v.ThinkingUnsaid != nil {
		p.line("          ", "thinking that stands in no reply of the log: %s%s", number(v.ThinkingUnsaid), a.stripped())
	}
	if a.Unknown != "" {
		p.line("          ", "why unknown: %s", a.Unknown)
	}
	l.reasons(p, a)
	if a.Story == nil || len(a.Story.Odds) == 0 {
		return
	}
	p.line("          ", "log-odds that the model wrote the calls:")
	for _, o := range a.Story.Odds {
		p.line(fmt.Sprintf("  %+6.2f  ", o.Odds), "%s: %s", o.Rule, o.Why)
	}
}

// reasons prints the meaning of each of the filter's reasons and, beneath it, what its check
// measured. It leaves out what other lines say: the reason for which a stage dropped the attempt, and
// what is in the list of log-odds.
func (l *Ledger) reasons(p *printer, a *Argument) {
	for _, reason := range a.Verdict.Reasons {
		if reason != a.Attempt.Reason {
			p.line("          ", "%s: %s", reason, l.Meanings[reason])
		}
		for _, c := range a.Checks {
			known := l.Checks[c.Name]
			if c.Fires && c.Reason == reason && !a.isInOdds(&known) {
				p.line("            ", "check %s: %s", c.Name, known.Bound(c.Value, c.Limit))
			}
		}
	}
}

// isInOdds reports whether the list of log-odds has what a check measures.
func (a *Argument) isInOdds(c *checks.Check) bool {
	return a.Story != nil && slices.ContainsFunc(a.Story.Odds, func(o filters.Term) bool {
		return strings.HasSuffix(c.Value, o.Why)
	})
}

// stripped returns the end of a sentence for attempts with thinking that no model wrote: that rows
// leave such thinking out and no judge grades it. It returns "" for any other attempt.
func (a *Argument) stripped() string {
	if !a.Verdict.ThinkingStripped {
		return ""
	}
	return "; no model said it, so that rows have no thinking and no judge grades it"
}

func scored(p *printer, a *Argument) {
	p.line("score     ", "%s", strings.TrimSuffix(a.Score+"; "+a.axes(), "; "))
}

// axes returns the scores of the subnet's rules, "" if these did not score the attempt.
func (a *Argument) axes() string {
	o := a.Outcome
	if o == nil {
		return ""
	}
	var out []string
	for _, x := range []struct {
		name  string
		value *float64
	}{
		{"length", o.Length}, {"format", o.Format}, {"product", o.Product}, {"gt", o.GT}, {"rule", o.Rule}, {"title", o.Title},
		{"price", o.Price}, {"service", o.Service}, {"sku & attrs", o.SKUAttrs}, {"shop", widened(o.Shop)}, {"budget", widened(o.Budget)},
	} {
		if x.value != nil {
			out = append(out, fmt.Sprintf("%s %.4g", x.name, *x.value))
		}
	}
	return strings.Join(out, ", ")
}

func widened(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

func judged(p *printer, a *Argument) {
	j := a.Judgement
	if j == nil {
		p.line("judge     ", "not asked")
		return
	}
	if j.Outcome == string(arena.JudgeNotAsked) {
		p.line("judge     ", "%s: not asked, %s; name the DAY of its trace for a grade", j.Judge, j.Detail)
		return
	}
	if j.Outcome == string(arena.JudgeNotMeasured) {
		p.line("judge     ", "not asked: %s was not measured on the attempt's domain (not_measured); weight %s", j.Judge, number(j.Multiplier))
		return
	}
	outcome := fmt.Sprintf("%s, grade %s, factor %s on the outcome", j.Outcome, number(j.Score), number(j.Multiplier))
	if a.Now != nil {
		outcome = fmt.Sprintf("grade %s, made now: the build did not ask, since the attempt cannot become a row and was not drawn", number(a.Now))
	}
	p.line("judge     ", "%s: %s", j.Judge, outcome)
	if j.Outcome == string(arena.JudgeUnsaid) || j.Outcome == string(arena.JudgeUndecided) {
		p.line("          ", "%s", a.Detail)
	}
	for i, g := range a.Gates {
		why := ""
		if g.State == GateFailed {
			why = ": " + a.Detail
		}
		p.line("          ", "gate %d %s: %s%s", i+1, g.Name, g.State, why)
		for _, s := range g.Passages {
			p.line("            ", "step %d: %s", s.Step, a.around(s))
		}
	}
	for _, s := range a.Steps {
		p.line("            ", "step %d: %s", s.Step, a.around(s))
	}
}

// margin is the number of bytes of text shown on each side of a cited passage.
const margin = 60

// around returns a cited passage in brackets. If the dialogue has the passage in the cited step, up
// to margin bytes of text before and after it are added.
func (a *Argument) around(s Passage) string {
	if a.Story != nil {
		for i := range a.Story.Turns {
			t := &a.Story.Turns[i]
			for _, words := range []string{t.Think, t.Text} {
				if before, after, ok := strings.Cut(words, s.Quote); ok && int64(t.Step) == s.Step {
					before = before[max(0, len(before)-margin):]
					return strings.ToValidUTF8(before, "") + "[" + shorten(s.Quote) + "]" + text.ClipBytes(after, margin)
				}
			}
		}
	}
	return "[" + shorten(s.Quote) + "]"
}

func (l *Ledger) guarded(p *printer, a *Argument) {
	x := a.Leak
	switch {
	case a.Unasked != "":
		p.line("guard     ", "%s", a.Unasked)
		return
	case x == nil:
		p.line("guard     ", "asked: no protected problem is near")
		return
	}
	decision := "not dropped"
	if x.Drop {
		decision = "dropped by tier " + x.Tier
	}
	p.line(
		"guard     ",
		"nearest protected problem %s: %s, score %.4g, threshold %.4g; %s",
		x.Match,
		decision,
		x.Score,
		l.Threshold,
		x.Evidence,
	)
	for _, where := range a.Near.Found {
		p.line("          ", "%s", where)
	}
	if a.Near.Texts != "" {
		p.line("          ", "it asks: %s", shorten(a.Near.Texts))
	}
	if a.Near.Passage != "" {
		p.line("          ", "nearest to it is %s: %s", a.Near.Where, shorten(a.Near.Passage))
	}
}

func (l *Ledger) ranked(p *printer, a *Argument) {
	if a.Place == nil {
		p.line("rank      ", "it did not come to be ranked; %d others at the problem did", len(a.Rivals))
		return
	}
	p.line(
		"rank      ",
		"place %d of %d at the problem, of which at most %d stay (select.top)",
		a.Place.Place,
		len(a.Rivals),
		l.Rules.Select.Top,
	)
	if a.Better >= 0 {
		p.line("          ", "near duplicate that ranks before it: %s of agent %s, similarity %s, limit %.4g (select.near); %s", a.Place.Better,
			l.Lines[a.Better].Attempt.AgentHotkey, number(a.Place.Similarity), l.Rules.Select.Near, a.First)
	}
	p.line("          ", "the higher reward ranks first, then the better way (0 to 1), then whose run began first")
	for i, rival := range a.Rivals[:min(len(a.Rivals), max(l.Rules.Select.Top, 1)+1)] {
		x := l.Lines[rival]
		p.line(
			fmt.Sprintf("  %6d  ", x.Place.Place),
			"%s %s, way %.4g",
			x.Attempt.TraceID,
			cmp.Or(x.Attempt.Reason, x.Attempt.Fate),
			a.Ways[i],
		)
	}
}

func pooled(p *printer, a *Argument) {
	x := a.Attempt
	if x.Cluster != "" {
		p.line(
			"split     ",
			"%s; the problem's pool is %s, its cluster %.12s",
			cmp.Or(x.Split, "none"),
			cmp.Or(string(a.Pool), "not known without bank.json"),
			x.Cluster,
		)
	}
}

func number(x *float64) string { return text.Optional(x, "%.4g", "unknown") }
