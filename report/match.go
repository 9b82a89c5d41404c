package report

import (
	"fmt"
	"math"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/contest/distil"
	"github.com/trajectory-arena/arena/contest/match"
)

// MatchPage renders the result of a round between one's own models.
func MatchPage(r *match.Result) *Page {
	p := &Page{Summary: fmt.Sprintf("%s, decided by form %s.", r.Config.Contest, r.Config.Form)}
	p.Numbers = append(p.Numbers, Number{"prompts", fmt.Sprint(r.Prompts), omitted(r)})
	kls := Section{
		Heading: "KL(teacher || student), nats",
		Note:    "Hidden: the share of the KL that a form does not see; with no dump of the whole vocabulary it is this or more.",
		Columns: "student | form | KL by prompt | by position | hidden | skipped | infinite",
	}
	for i := range r.Students {
		s := &r.Students[i]
		hidden := map[string]string{}
		for _, h := range s.Hidden {
			hidden[h.Form] = fmt.Sprintf("%.3f", h.Share)
			if h.Bound {
				hidden[h.Form] = ">= " + hidden[h.Form]
			}
		}
		for _, f := range s.Forms {
			kls.row(s.Student, f.Name, f.PerPrompt, fmt.Sprintf("%.6g", f.PerPosition), hidden[f.Name], f.Skipped, f.Infinite)
		}
	}
	p.Sections = append(p.Sections, kls)
	if d := r.Decision; d != nil {
		p.Numbers = append(
			p.Numbers,
			Number{"rule", r.Rule, ""},
			Number{"king after the round", d.Winner, fmt.Sprintf("in %.3f of %d draws of the %d prompts", d.Holds, distil.Draws, r.Prompts)},
		)
		p.Sections = append(p.Sections, challengersSection(d), whatIfSection(d))
	}
	if r.Scores != nil {
		p.Sections = append(p.Sections, scoresSection(r))
	}
	return p
}

// omitted returns a note on how many prompts of a round do not count for its result, because the
// teacher's continuation is empty or a student has no KL divergence. It returns "" if all count.
func omitted(r *match.Result) string {
	if r.Empty+r.Unmeasured == 0 {
		return ""
	}
	return fmt.Sprintf("%d others have no continuation, %d no KL in this form", r.Empty, r.Unmeasured)
}

func challengersSection(d *distil.Decision) Section {
	s := Section{
		Heading: "Challengers",
		Note:    "Better: the probability that the true KL is below the king's by the margin. Crown: the share of further rounds of as many prompts that the rule gives to the challenger.",
		Columns: "challenger | lead | composite | passes | better | crown | refused",
	}
	for i, v := range d.Verdicts {
		f := d.Forecasts[i]
		s.row(v.Model, v.Lead, optionalScore(v.Composite), v.Passes, fmt.Sprintf("%.3f", f.Better), f.Crown, v.Refused)
	}
	return s
}

// optionalScore returns a composite score as text, "-" if there is none.
func optionalScore(n contest.Number) string {
	if math.IsNaN(float64(n)) {
		return "-"
	}
	return fmt.Sprintf("%.4g", n)
}

func whatIfSection(d *distil.Decision) Section {
	s := Section{
		Heading: "What if the rule had another margin, or a round other prompts",
		Note:    fmt.Sprintf("Crown: of %d rounds drawn from the prompts above; other prompts change it, as the interval above shows.", distil.Draws),
		Columns: "challenger | margin | prompts | crown",
	}
	for _, w := range d.WhatIfs {
		s.row(w.Model, fmt.Sprintf("%g %%", 100*w.Margin), w.Prompts, fmt.Sprintf("%.3f", w.Crown))
	}
	return s
}

func scoresSection(r *match.Result) Section {
	s := Section{
		Heading: "Scores and weights",
		Note:    "Absolute is e to the minus average KL with the bonus of the size, by the subnet's older code; the newest is not published.",
		Columns: "uid | student | track | KL current | next | bonus | absolute | think gain | improve | consistent | flow | quests | score | weight",
	}
	for i, x := range r.Scores {
		s.row(
			x.UID,
			r.Students[i].Student,
			x.Track,
			share4(x.KLCurrent),
			share4(x.KLNext),
			share4(x.Bonus),
			share4(x.Absolute),
			share4(x.ThinkGain),
			x.Improve,
			x.Consistent,
			share4(x.Flow),
			share4(x.Averages.Solved),
			share4(x.Score),
			share4(float64(x.Weight)),
		)
	}
	return s
}
