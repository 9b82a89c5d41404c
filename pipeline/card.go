package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/reports"
)

// card returns the dataset card (the README of the corpus). Its words are those of the attempts'
// domain, or general ones if there are several domains.
func (s *session) card(
	p *plan,
	set *reports.Set,
	pairs *corpus.PairSummary,
) corpus.Card {
	d := s.cardDomain(p)
	card := corpus.NewCard(d.Domain)
	if len(p.Domains) > 1 {
		card = corpus.NewCard(corpus.CardDomain(s.manifestDomains(p)))
	}
	card.Default = configSFT
	usual := s.domains[domain.Base].Card
	card.Sections = []corpus.Section{{
		Heading: "What this is",
		Body:    set.Judges.Warning() + s.fillIn(cmp.Or(d.Card.About, usual.About), p),
	}}
	if d.Outcome.From != domain.FromShop {
		card.Sections = append(card.Sections, corpus.Section{Heading: "Domains", Body: s.domainsText(p)})
	}
	card.Sections = append(card.Sections,
		corpus.Section{Heading: "Held-out protection", Body: set.Leak.Text(s.Config.Guard.Shares, s.Config.Guard.Seed)},
		corpus.Section{Heading: "Judge", Body: s.judgesText(p, set)},
		pairs.Section(),
		set.Rows.Section(),
		corpus.Section{Heading: "Lengths", Body: reports.LengthsText(set.Lengths)},
		corpus.Section{Heading: "Agents", Body: set.Agents.Text()},
		corpus.Section{Heading: "Left out by construction", Body: s.exclusionsText(p)},
		corpus.Section{Heading: "Known limits", Body: cmp.Or(d.Card.Limits, usual.Limits)},
		corpus.Section{Heading: "Order of rows", Body: orderText},
	)
	if d.Card.Worth != "" {
		card.Sections = append(card.Sections, corpus.Section{Heading: "What each filter is worth", Body: d.Card.Worth})
	}
	return card
}

// orderText is the dataset card's text on the order of rows.
const orderText = "Rows of a table are in the order of the dates (UTC) on which their runs started as run.json says, unknown dates first. Within a date, their order depends on the content of the input files only."

// exclusions is the dataset card's text on which attempts are never in config sft.
const exclusions = "Config sft has no attempt that the filter calls {unwanted}, that was not solved, that is not among the {top} best at its problem, that nearly copies one of these, that is longer than filter.max_tokens, or that repeats a protected request. Problems of never-touch clusters have no rows in any config. " +
	"Failed attempts are only in kto and pref, and a problem that nobody solved is not in sft. The funnel counts how many attempts each rule removed."

// textTags is the dataset card's sentence on what rows have of tags in the text of a model.
const textTags = "Thinking that a source writes into the text between tags such as `<think>` or `<thought>` is reasoning_content, and calls that it writes into the text are tool_calls."

// exclusionsText returns the dataset card's text on which attempts are never in config sft. Attempts
// whose axis is unknown are in it if the filter's settings or their domain say so.
func (s *session) exclusionsText(p *plan) string {
	keepsUnlogged := slices.ContainsFunc(slicesx.SortedKeys(p.Domains), func(name string) bool {
		return s.domains[name].Unlogged == domain.UnloggedKeep
	})
	text := s.fillIn(exclusions, p) + " " + textTags
	if s.Config.Filter.Unknown == filters.UnknownKeep || keepsUnlogged {
		return strings.ReplaceAll(text, "{unwanted}", "scripted") +
			" Attempts whose calls nothing shows to be a model's or a program's are in it, with is_agentic false."
	}
	return strings.ReplaceAll(text, "{unwanted}", "scripted or unknown")
}

// cardDomain returns the domain (kind of task) whose words the dataset card uses. That is the
// domain of all attempts, or the general domain base if they are of several domains. Without
// attempts it is the subnet's domain.
func (s *session) cardDomain(p *plan) *runDomain {
	names := slicesx.SortedKeys(p.Domains)
	switch len(names) {
	case 0:
		return s.domains[domain.Shop]
	case 1:
		return s.domains[names[0]]
	}
	return s.domains[domain.Base]
}

// isOnFor reports whether a measuring instrument, such as the judge, is used on the attempts of at
// least one domain (kind of task) in the plan. It is true if there are no attempts.
func (s *session) isOnFor(p *plan, instrument string) bool {
	for name := range p.Domains {
		if s.domains[name].on[instrument] {
			return true
		}
	}
	return len(p.Domains) == 0
}

// judgesText returns the text of the dataset card's section on the judge. If the judge is on for no
// domain (kind of task), the text says that nothing was graded.
func (s *session) judgesText(p *plan, set *reports.Set) string {
	if s.isOnFor(p, domain.Judge) {
		return set.Judges.Text(s.Config.MaxUnscored)
	}
	return fmt.Sprintf("No attempt was graded, because judge %s was not measured on these domains (not_measured). The columns of grades are null, and every success has weight 1.\n", s.judgeNames(p)) + set.Judges.SubnetText() + set.Judges.Steps.Text()
}

// fillIn returns text, which is from a domain's card, with its placeholders, such as {records},
// replaced by the figures of the run.
func (s *session) fillIn(text string, p *plan) string {
	return strings.NewReplacer(
		"{records}", strconv.FormatInt(p.Funnel[0].In, 10),
		"{rows}", strconv.FormatInt(p.Funnel[len(p.Funnel)-1].Out, 10),
		"{top}", strconv.Itoa(s.Config.Select.Top),
		"{near}", fmt.Sprintf("%.2g", s.Config.Select.Near),
		"{harness}", s.Harness.Name,
		"{harness_sha256}", s.Harness.SHA256,
		"{rl}", p.aboutRL(),
	).Replace(text)
}

// aboutRL returns the dataset card's sentence on config rl: that it has one row for each problem
// that can be played in an environment, or that there is no such config because no environment is
// known.
func (p *plan) aboutRL() string {
	if slices.ContainsFunc(p.Units, func(u unit) bool { return u.Stream.Config == configRL }) {
		return "Config rl has one row for every problem of an environment pack."
	}
	return "There is no config rl, because no environment is known in which the problems can be played."
}

// domainsText returns the dataset card's table of domains (kinds of task): the number of attempts
// in each, and for each measuring instrument, such as the judge, whether it was used on them.
func (s *session) domainsText(p *plan) string {
	return "An instrument is on only in the domains on which it was measured; in others it is off (not_measured).\n\n" +
		corpus.Table("domain | attempts: | "+strings.Join(domain.Instruments, " | "), slicesx.SortedKeys(p.Domains), func(name string) string {
			states := slicesx.Map(domain.Instruments, func(instrument string) string {
				return s.domains[name].state(instrument)
			})
			return fmt.Sprintf("%s | %d | %s", corpus.EscapeCell(name), p.Domains[name].Attempts, strings.Join(states, " | "))
		})
}

// state returns what the card's table of domains says of an instrument, such as the judge: how it
// was measured on the domain, whether it was on, or "not_measured".
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

// recordedCard returns the dataset card of a corpus of attempts as they were recorded.
func (s *session) recordedCard(p *plan, set *reports.Set) corpus.Card {
	card := corpus.NewCard(s.cardDomain(p).Domain)
	card.Title = "Imported trajectories"
	card.Default = configSFT
	failed := ""
	unsolved := set.Rows.Unsolved()
	if unsolved > 0 {
		failed = fmt.Sprintf(" **%d rows are attempts that their source calls unsolved**; `arena build` trains on none of them.", unsolved)
	}
	guarded := "No problem is protected: the requests were compared with nothing."
	if s.protection.Guard(corpus.SplitTrain) != nil {
		guarded = set.Leak.Text(s.Config.Guard.Shares, s.Config.Guard.Seed)
	}
	card.Sections = []corpus.Section{
		{Heading: "What this is", Body: recordedAbout + " " + textTags + failed},
		{Heading: "Held-out protection", Body: guarded},
		set.Rows.Section(),
		{Heading: "Lengths", Body: reports.LengthsText(set.Lengths)},
		{Heading: "Order of rows", Body: orderText},
	}
	return card
}

const recordedAbout = `Trajectories that other tools recorded, each with the system prompt and the tools of its own source,
as OpenAI messages. Nothing was graded: reward is what the source itself declares, 0 where it declares none
(declared_reward in metadata is null then), and is_agentic is false because nothing was looked at. Tools that a source
calls and does not declare are declared from their calls, and named by derived_tools in metadata. The licence is that of
the source.`
