package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/reports"
)

// card returns the dataset card. Its words are those of the attempts' domain, or general ones if
// there are several domains.
func (s *session) card(
	p *plan,
	set *reports.Set,
	pairs *corpus.PairSummary,
) corpus.Card {
	d := s.cardDomain(p)
	card := corpus.Card{
		Title:   d.Title,
		Tags:    slices.Insert(slices.Clone(finish.Tags), 2, d.Tags...),
		Default: configSFT,
	}
	if d.Outcome.From == domain.FromShop {
		card.Sections = []corpus.Section{{
			Heading: "What this is",
			Body:    set.Judges.Warning(len(set.Agents.Agents)) + s.shopAbout(p),
		}}
	} else {
		card.Sections = []corpus.Section{
			{Heading: "What this is", Body: set.Judges.Warning(len(set.Agents.Agents)) + s.about(p)},
			{Heading: "Domains", Body: s.domainsText(p)},
		}
	}
	limits := knownLimits
	if d.Outcome.From == domain.FromShop {
		limits = shopLimits
	}
	card.Sections = append(card.Sections,
		corpus.Section{Heading: "Held-out protection", Body: set.Leak.Text(s.Config.Guard.Shares, s.Config.Guard.Seed)},
		corpus.Section{Heading: "Judge", Body: s.judgesText(p, set)},
		pairs.Section(),
		corpus.Section{Heading: "Lengths", Body: reports.LengthsText(set.Lengths)},
		corpus.Section{Heading: "Agents", Body: set.Agents.Text()},
		corpus.Section{Heading: "Known limits", Body: limits},
	)
	return card
}

// cardDomain returns the domain whose words a card has: that of all attempts, or the domain base if
// there are several.
func (s *session) cardDomain(p *plan) *runDomain {
	names := slices.Sorted(maps.Keys(p.Domains))
	switch len(names) {
	case 0:
		return s.domains[domain.Shop]
	case 1:
		return s.domains[names[0]]
	}
	return s.domains[domain.Base]
}

// isOnFor reports whether an instrument is on for the attempts of at least one domain.
func (s *session) isOnFor(p *plan, instrument string) bool {
	for name := range p.Domains {
		if s.domains[name].on[instrument] {
			return true
		}
	}
	return len(p.Domains) == 0
}

// judgesText returns the card's section on the judge.
func (s *session) judgesText(p *plan, set *reports.Set) string {
	if s.isOnFor(p, domain.Judge) {
		return set.Judges.Text(s.Config.MaxUnscored)
	}
	return fmt.Sprintf("No attempt was graded: judge %s was not measured on these domains (not_measured). Columns of grades are null, and the weight of every success is 1.\n", s.Instruments.Judge.Name) + set.Judges.SubnetText()
}

func (s *session) about(p *plan) string {
	read := p.Funnel[0].In
	kept := p.Funnel[len(p.Funnel)-1].Out
	sel := s.Config.Select
	return fmt.Sprintf(`%d records were read, %d attempts are rows of config sft: attempts that their source calls solved, at most %d at one
problem, best first. Each row has the system prompt and the tools of its own source; tools that a source calls and does
not declare are declared from the calls. The outcome is the source's own: its verifier's, or the reward that it states.
An attempt without a stated reward, or after an error that is not the agent's, has no outcome and is no row. reward is
that reward, from 0 to 1. is_agentic is true where the log of a gateway shows that the model itself decided the calls,
and false where no log was kept, since nothing shows it. Config pref has pairs of attempts at one problem, kto attempts
with a label. Attempts that differ by less than an estimated Jaccard similarity of %.2g from a better one at the same
problem were left out. %s`,
		read, kept, sel.Top, sel.Near, p.aboutRL())
}

// aboutRL returns the card's sentence on config rl.
func (p *plan) aboutRL() string {
	if slices.ContainsFunc(p.Units, func(u unit) bool { return u.Stream.Config == configRL }) {
		return "Config rl has one row for every problem of an environment pack."
	}
	return "There is no config rl, since no environment is known in which the problems can be played."
}

// domainsText returns the card's table of the domains with the instruments that were on.
func (s *session) domainsText(p *plan) string {
	return "An instrument is on only in the domains on which it was measured; elsewhere it says nothing (not_measured).\n\n" +
		corpus.Table("domain | attempts: | "+strings.Join(domain.Instruments, " | "), slices.Sorted(maps.Keys(p.Domains)), func(name string) string {
			states := slicesx.Map(domain.Instruments, func(instrument string) string {
				return s.domains[name].state(instrument)
			})
			return fmt.Sprintf("%s | %d | %s", corpus.EscapeCell(name), p.Domains[name], strings.Join(states, " | "))
		})
}

// state describes in a table's cell whether an instrument was on, and why.
func (d *runDomain) state(instrument string) string {
	m, measured := d.Measured[instrument]
	switch {
	case d.on[instrument] && measured:
		return corpus.EscapeCell(m.String())
	case d.on[instrument]:
		return "on by the user's choice, not measured"
	case measured:
		return "off: " + corpus.EscapeCell(m.String())
	}
	return "not_measured"
}

func (s *session) shopAbout(p *plan) string {
	read := p.Funnel[0].In
	kept := p.Funnel[len(p.Funnel)-1].Out
	sel := s.Config.Select
	return fmt.Sprintf(`%d records were read, %d attempts are rows of config sft: attempts in which the model itself decided
its tool calls, scored by the subnet's own rules, at most %d at one problem, best first. Rows are rendered with the
system prompt and the tools of harness profile %s (sha256 %s); the prompts that the agents themselves used are not in
their traces. reward is success times the judge's quality multiplier. Config rl has one row for every problem with the
pass statistics of the day, pref has pairs of attempts at one problem, kto attempts with a label. Attempts that differ
by less than an estimated Jaccard similarity of %.2g from a better one at the same problem were left out.`,
		read, kept, sel.Top, s.Harness.Name, s.Harness.SHA256, sel.Near)
}

// shopLimits and knownLimits are the limits that a card of the shop and any other card name.
const shopLimits = `A judge's grade is correlational, not gold. Token counts are estimates (bytes4: a quarter of the
rendered UTF-8 bytes, rounded up) until a tokenizer is given. Inference replies over 2,000 characters are not in the
traces: where they are missing, the axis rests on their neighbours, at lower confidence. Text in traces was written by
models and by sellers; it is data and may hold anything.`

const knownLimits = `Token counts are estimates (bytes4: a quarter of the rendered UTF-8 bytes, rounded up) until a tokenizer is given.
Whether an attempt was solved is what its source says, and nobody checked that again. Text in traces was written by
models, tools and people; it is data and may hold anything.`
