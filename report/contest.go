package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/contest/distil"
	"github.com/trajectory-arena/arena/contest/evolai"
	"github.com/trajectory-arena/arena/contest/kl"
	"github.com/trajectory-arena/arena/contest/race"
	"github.com/trajectory-arena/arena/contest/yuma"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Maximum numbers of rows in the tables of a report: nodesShown in tables of nodes, maxShown in
// others. JSON and Parquet outputs have all rows.
const (
	maxShown   = 200
	nodesShown = 20
)

// KLPage renders the KL of students against one teacher, by prompt.
func KLPage(names []string, reports []*kl.Report) *Page {
	p := &Page{Summary: "Nats; 95 % intervals over prompts."}
	for i, r := range reports {
		s := Section{Heading: names[i], Note: fmt.Sprintf(
			"%d prompts, %d positions",
			len(r.Prompts),
			r.Positions,
		),
			Columns: "form | KL | by position | measured | infinite | skipped | unseen | blind to"}
		if r.Uncomparable > 0 {
			s.Note += fmt.Sprintf("; %d positions are left out, behind a token that the two drew differently, or of a rollout that one lacks", r.Uncomparable)
		}
		for _, f := range r.Forms {
			s.row(
				f.Name,
				f.PerPrompt,
				fmt.Sprintf("%.6g", f.PerPosition),
				f.Measured,
				f.Infinite,
				f.Skipped,
				number4(f.Unseen),
				f.Blind,
			)
		}
		p.Sections = append(p.Sections, s)
	}
	return p
}

// KingsPage renders the kings over time, the decisions of each rule, and what rules decide
// by chance. lacking has the reason for each rule that could not be simulated.
func KingsPage(
	r *distil.Report,
	simulated []distil.Simulated,
	axes []distil.SimulatedAxes,
	lacking string,
) *Page {
	p := &Page{Summary: fmt.Sprintf("%d rounds.", len(r.Rounds)), Numbers: []Number{
		{"decisions as published", r.Agreed.String(), fmt.Sprintf("%d others explained", r.Explained)},
		{"published means that are their prompts'", fmt.Sprintf("%d of %d", r.MeansEqual, r.Means), ""},
		{"early stops of the published rule", fmt.Sprintf("%d of %d", r.StopsEqual, r.Stops), ""},
	}}
	for _, b := range r.Benchmarks {
		p.Numbers = append(p.Numbers, Number{"rank correlation of KL with " + b.Benchmark, b.Spearman.String(), ""})
	}
	p.Sections = append(p.Sections, roundsSection(r), flagsSection(r))
	if simulated != nil || axes != nil {
		p.Sections = append(p.Sections, chances(simulated, lacking))
	}
	if axes != nil {
		p.Sections = append(p.Sections, axesChances(axes))
	}
	return p
}

func axesChances(simulated []distil.SimulatedAxes) Section {
	s := Section{
		Heading: "What the newest composite rule does by chance",
		Note:    fmt.Sprintf("Better 0: false dethronings. Each item of an axis passes by chance, with the axes of %d kings; intervals of the simulation.", simulated[0].FromKings),
		Columns: "margin | items an axis | better | a challenger passes | a round of five has a new king",
	}
	for _, x := range simulated {
		s.row(fmt.Sprintf("%g %%", 100*x.Margin), x.Items, fmt.Sprintf("%g %%", 100*x.Better), x.Challenger, x.Round)
	}
	return s
}

func roundsSection(r *distil.Report) Section {
	rounds := Section{
		Heading: "Rounds",
		Note:    "Holds: the share of draws of prompts in which the rule crowns the same.",
		Columns: "round | block | prompts | king | KL | winner | holds | next king | outcome | why",
	}
	for i := range r.Rounds[:min(maxShown, len(r.Rounds))] {
		x := &r.Rounds[i]
		holds := ""
		if x.Stability.N > 0 {
			holds = fmt.Sprintf("%.3f", x.Stability.Value)
		}
		rounds.row(
			x.ID,
			x.Block,
			x.Prompts,
			x.King,
			number4(x.KingKL),
			x.Winner,
			holds,
			x.Published,
			x.Outcome,
			strings.Join(slices.Concat(x.Why, x.Refused), "; "),
		)
	}
	return rounds
}

func flagsSection(r *distil.Report) Section {
	flags := Section{
		Heading: "Flags",
		Note:    "By behaviour; names play no part.",
		Columns: "round | kind | student | why",
	}
	for _, f := range r.Flags[:min(maxShown, len(r.Flags))] {
		flags.row(f.Round, f.Kind, f.Model, f.Why)
	}
	return flags
}

func chances(simulated []distil.Simulated, lacking string) Section {
	s := Section{Heading: "What the rules do by chance", Note: "Better 0: false dethronings. Noise of real rounds; intervals over them. " + lacking,
		Columns: "rule | prompts | better | a challenger passes | a round of five has a new king"}
	for _, x := range simulated {
		s.row(
			x.Rule,
			x.Prompts,
			fmt.Sprintf("%g %%", 100*x.Better),
			x.Challenger,
			x.Round,
		)
	}
	return s
}

// GatesPage renders the gates of a log and the faults of its order.
func GatesPage(r *evolai.Report) *Page {
	p := &Page{Summary: fmt.Sprintf(
		"%d gate lines; %d events, %d of them against the order lock, seed, evaluate.",
		len(r.Gates),
		r.Events,
		len(r.Violations),
	)}
	if len(r.Gates) > 0 {
		p.Numbers = []Number{
			{"gate lines as printed", r.Reproduced.String(), ""},
			{"averages that follow from those before", fmt.Sprintf("%d of %d", r.AveragesEqual, r.Averages), ""},
			{"standard deviation of one set's KL, as a share", r.Noise.String(), ""},
		}
	}
	p.Sections = []Section{gatesSection(r), orderSection(r), questsSection(r)}
	return p
}

func gatesSection(r *evolai.Report) Section {
	gates := Section{
		Heading: "Gate lines",
		Columns: "epoch | track | uid | improve | change | consistent | gate | differs | open",
	}
	for i := range r.Gates[:min(maxShown, len(r.Gates))] {
		g := &r.Gates[i]
		change := ""
		if g.Change != nil {
			change = fmt.Sprintf("%+.2f %%", 100**g.Change)
		}
		gates.row(
			g.Epoch,
			g.Track,
			g.UID,
			g.Improve,
			change,
			g.Consistent,
			g.Gate,
			strings.Join(g.Differs, "; "),
			strings.Join(g.Open, "; "),
		)
	}
	return gates
}

func orderSection(r *evolai.Report) Section {
	order := Section{
		Heading: "Order of events",
		Columns: "line | epoch | uid | why",
	}
	for _, v := range r.Violations[:min(maxShown, len(r.Violations))] {
		order.row(v.Line, v.Epoch, v.UID, v.Why)
	}
	return order
}

func questsSection(r *evolai.Report) Section {
	quests := Section{
		Heading: "Side quests",
		Columns: "uid | sample | answered | of",
	}
	for _, q := range r.Quests[:min(maxShown, len(r.Quests))] {
		quests.row(q.UID, q.Sample, q.Solved, len(q.Quests))
	}
	return quests
}

// WeightsPage renders the nodes with the largest dividends of each epoch, and the flow of
// stake and weights in the last one. changed are the epochs with other weights, or nil.
func WeightsPage(results, changed []*yuma.Result) *Page {
	p := &Page{Summary: fmt.Sprintf("%d epochs. %s.", len(results), results[0].Rule)}
	for i, r := range results {
		s := Section{Heading: fmt.Sprintf("Epoch %d %s", i+1, r.ID), Columns: "uid | stake | consensus | trust | incentive | validator trust | dividends | emission",
			Note: fmt.Sprintf(
				"%d nodes, %d validators with %.2f %% of stake, consensus cuts %.2f %% of weights.",
				len(r.Nodes),
				r.Validators,
				100*r.StakeShare,
				100*r.Clipped,
			)}
		if changed != nil {
			s.Columns += " | emission if changed"
		}
		for _, n := range r.Largest(nodesShown) {
			cells := []any{
				n.UID,
				share4(n.Stake),
				share4(n.Consensus),
				share4(n.Trust),
				share4(n.Incentive),
				share4(n.ValidatorTrust),
				share4(n.Dividends),
				share4(n.Emission),
			}
			if changed != nil {
				cells = append(cells, share4(changed[i].Nodes[n.UID].Emission))
			}
			s.row(cells...)
		}
		if more := len(r.Nodes) - nodesShown; more > 0 {
			s.Note += fmt.Sprintf(" %d nodes with less are in --json and --parquet.", more)
		}
		p.Sections = append(p.Sections, s)
	}
	if changed != nil {
		p.Sections = append(p.Sections, changesSection(results, changed))
	}
	flows := Section{
		Heading: "Weight flows of the last epoch",
		Note:    "Stake times clipped weight, the largest first.",
		Columns: "validator | node | share of all",
	}
	flows.addLargest(results[len(results)-1])
	p.Sections = append(p.Sections, flows)
	return p
}

// changesSection returns a section of a report with the dividends of each validator in the last
// epoch, as shares of the total: once by the weights in the file, once by the changed weights. It
// leaves out nodes that have no dividends either way.
func changesSection(results, changed []*yuma.Result) Section {
	s := Section{
		Heading: "Dividends of the last epoch by validator",
		Columns: "validator | stake | dividends | if changed | difference",
	}
	before := results[len(results)-1]
	after := changed[len(changed)-1]
	for i, n := range before.Nodes {
		other := after.Nodes[i].Dividends
		if n.Dividends+other > 0 {
			s.row(n.UID, share4(n.Stake), share4(n.Dividends), share4(other), fmt.Sprintf("%+.4f", other-n.Dividends))
		}
	}
	return s
}

func (s *Section) addLargest(r *yuma.Result) {
	type flow struct {
		source, target int
		share          float64
	}
	var flows []flow
	total := 0.0
	for i, row := range r.Weights {
		for _, w := range row {
			flows, total = append(flows, flow{i, w.Target, r.Nodes[i].Stake * w.Weight}), total+float64(r.Nodes[i].Stake*w.Weight)
		}
	}
	slicesx.SortStableFunc(flows, func(a, b flow) int {
		return cmp.Compare(b.share, a.share)
	})
	for _, f := range flows[:min(nodesShown, len(flows))] {
		s.row(f.source, f.target, share4(f.share/total))
	}
}

// RacePage renders the checks of a race and its standings.
func RacePage(r *race.Report) *Page {
	p := &Page{Summary: "race " + r.Race}
	checks := Section{Heading: "Checks", Columns: "state | check | found"}
	for _, f := range r.Findings {
		checks.row(f.State, f.Check, f.Detail)
	}
	validators := Section{
		Heading: "Validators",
		Columns: "validator | against its peers | 95 % | agents",
	}
	for _, v := range r.Validators {
		validators.row(
			v.Hotkey,
			fmt.Sprintf("%+.4f", v.Delta),
			fmt.Sprintf("%+.4f to %+.4f", v.Interval.Low, v.Interval.High),
			v.Agents,
		)
	}
	standings := Section{
		Heading: "Standings by the pooled score",
		Columns: "rank | agent | score | 95 % | best with | ",
	}
	s := r.Standings
	if s.Freedom > 0 {
		standings.Note = fmt.Sprintf("One agent's spread over %s is %.4f (%d degrees of freedom).", s.Basis, s.Spread, s.Freedom)
	}
	for i, a := range s.Agents {
		between := ""
		best := ""
		won := ""
		if a.Winner {
			won = "won the race"
		}
		if a.Interval != nil {
			between = fmt.Sprintf("%.4f to %.4f", a.Interval.Low, a.Interval.High)
			best = fmt.Sprintf("%.1f %%", 100**a.Best)
		}
		standings.row(i+1, a.ID, share4(a.Score), between, best, won)
	}
	p.Sections = []Section{checks, validators, standings}
	return p
}

// number4 returns a number with four significant digits, or that it is unknown.
func number4(v contest.Number) string {
	if math.IsNaN(float64(v)) {
		return "unknown"
	}
	return fmt.Sprintf("%.4g", v)
}

func share4(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }
