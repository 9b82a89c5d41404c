package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/plotter"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/contest/distil"
	"github.com/trajectory-arena/arena/contest/evolai"
	"github.com/trajectory-arena/arena/contest/kl"
	"github.com/trajectory-arena/arena/contest/yuma"
)

// maxShown bounds the tables of a contest's page; JSON and Parquet have all.
const maxShown = 200

// KLPage shows students' KL against one teacher, by prompt.
func KLPage(names []string, reports []*kl.Report) (*Page, error) {
	p := &Page{Title: "KL against the teacher", Summary: fmt.Sprintf("%d students. Nats; 95 %% intervals over prompts.", len(names))}
	for i, r := range reports {
		s := Section{Heading: names[i], Columns: []string{"form", "KL", "interval", "prompts", "positions", "infinite", "skipped", "unseen", "blind to"}}
		for _, f := range r.Forms {
			s.row(nil, f.Name, short(f.PerPrompt.Value), interval(f.PerPrompt), f.PerPrompt.N, f.Measured, f.Infinite, f.Skipped, short(f.Unseen), f.Blind)
		}
		var points plotter.XYs
		for k, prompt := range r.Prompts {
			if v := float64(prompt.Mean); !math.IsNaN(v) && !math.IsInf(v, 0) {
				points = append(points, plotter.XY{X: float64(k + 1), Y: v})
			}
		}
		if err := s.plot("prompt", "KL", "KL by prompt, in the order of the file", curve{name: "KL", points: points, colour: blue, dots: true}); err != nil {
			return nil, err
		}
		p.Sections = append(p.Sections, s)
	}
	return p, nil
}

// plot adds a figure of curves; none where there is nothing to draw.
func (s *Section) plot(x, y, caption string, curves ...curve) error {
	points := 0
	for _, c := range curves {
		points += len(c.points)
	}
	if points == 0 {
		return nil
	}
	p := newPlot(x, y)
	if err := addCurves(p, curves...); err != nil {
		return err
	}
	svg, err := drawn(p)
	if err != nil {
		return fmt.Errorf("draw %q: %w", caption, err)
	}
	s.Figures = append(s.Figures, Figure{SVG: prelude.ReplaceAll(svg, []byte("$1")), Caption: caption})
	return nil
}

// KingsPage shows kings over time, what the rule says of each, and what rules do
// by chance.
func KingsPage(r *distil.Report, simulated []distil.Simulated) (*Page, error) {
	p := &Page{Title: "Kings over time",
		Summary: fmt.Sprintf("%d rounds. Of %d published decisions the rule of the time gives %d again; the files explain %d others.",
			len(r.Rounds), r.Known, int(math.Round(float64(r.Agreed.Value)*float64(r.Known))), r.Explained),
		Numbers: []Number{{"published means equal", fmt.Sprintf("%d of %d", r.MeansEqual, r.Means), ""},
			{"stops equal", fmt.Sprintf("%d of %d", r.StopsEqual, r.Stops), ""}}}
	rounds := Section{Heading: "Rounds", Note: "Holds: the share of draws of prompts in which the rule crowns the same.",
		Columns: []string{"round", "block", "king", "KL", "winner", "holds", "next king", "outcome", "why"}}
	var kings, winners plotter.XYs
	for i := range r.Rounds {
		x := &r.Rounds[i]
		if len(rounds.Rows) < maxShown {
			rounds.row(nil, x.ID, x.Block, x.King, short(x.KingKL), x.Winner, short(x.Holds.Value), x.Published, x.Outcome, strings.Join(x.Why, "; "))
		}
		if x.Block > 0 && !math.IsNaN(float64(x.KingKL)) && !math.IsInf(float64(x.KingKL), 0) {
			kings = append(kings, plotter.XY{X: float64(x.Block), Y: float64(x.KingKL)})
			if x.Crowned {
				winners = append(winners, kings[len(kings)-1])
			}
		}
	}
	if err := rounds.plot("block", "KL of the king", "each round has prompts of its own",
		curve{name: "king", points: kings, colour: blue, dots: true}, curve{name: "dethroned", points: winners, colour: orange, dots: true}); err != nil {
		return nil, err
	}
	flags := Section{Heading: "Flags", Note: "By behaviour; names play no part.", Columns: []string{"round", "student", "kind", "why"}}
	for _, f := range r.Flags[:min(maxShown, len(r.Flags))] {
		flags.row(nil, f.Round, f.Model, f.Kind, f.Why)
	}
	p.Sections = append(p.Sections, rounds, flags)
	if simulated != nil {
		p.Sections = append(p.Sections, chances(simulated))
	}
	return p, nil
}

func chances(all []distil.Simulated) Section {
	s := Section{Heading: "What the rules do by chance", Note: "Better 0: false dethronings. Noise of real rounds; intervals over them.",
		Columns: []string{"rule", "prompts", "better", "a challenger passes", "interval", "a round of five has a new king", "interval"}}
	for _, x := range all {
		v := float64(x.Challenger.Value)
		s.row(&v, x.Rule, x.Prompts, fmt.Sprintf("%g %%", 100*x.Better), short(x.Challenger.Value), interval(x.Challenger), short(x.Round.Value), interval(x.Round))
	}
	return s
}

// GatesPage shows a log's gates and what is wrong with its order.
func GatesPage(r *evolai.Report) *Page {
	p := &Page{Title: "Gates", Summary: fmt.Sprintf("%d gate lines, %s of them as printed; %d events, %d of them against the order lock, seed, evaluate.",
		len(r.Gates), r.Reproduced, r.Events, len(r.Violations))}
	gates := Section{Heading: "Gate lines", Columns: []string{"epoch", "track", "uid", "improve", "change", "consistent", "gate", "differs", "open"}}
	for i := range r.Gates[:min(maxShown, len(r.Gates))] {
		g := &r.Gates[i]
		change := ""
		if g.Change != nil {
			change = fmt.Sprintf("%+.2f %%", 100**g.Change)
		}
		gates.row(nil, g.Epoch, g.Track, g.UID, g.Improve, change, g.Consistent, g.Gate, strings.Join(g.Differs, "; "), strings.Join(g.Open, "; "))
	}
	order := Section{Heading: "Order of events", Columns: []string{"line", "epoch", "uid", "why"}}
	for _, v := range r.Violations[:min(maxShown, len(r.Violations))] {
		order.row(nil, v.Line, v.Epoch, v.UID, v.Why)
	}
	p.Sections = []Section{gates, order}
	return p
}

// WeightsPage shows how stake and weights flow to nodes in the last epoch.
func WeightsPage(results []*yuma.Result) (*Page, error) {
	last := results[len(results)-1]
	p := &Page{Title: "Consensus", Summary: fmt.Sprintf("%d epochs; the last has %d nodes, %d validators with %.1f %% of stake, and consensus cuts %.2f %% of their weights.",
		len(results), len(last.Nodes), last.Validators, 100*last.StakeShare, 100*last.Clipped)}
	nodes := Section{Heading: "Nodes", Columns: []string{"uid", "stake", "consensus", "trust", "incentive", "validator trust", "dividends", "emission"}}
	flows := Section{Heading: "Weight flows", Note: "Stake times clipped weight, the largest first.", Columns: []string{"validator", "node", "share of all"}}
	var incentive plotter.XYs
	for i := range last.Nodes {
		n := &last.Nodes[i]
		incentive = append(incentive, plotter.XY{X: float64(n.UID), Y: n.Incentive})
	}
	for _, n := range last.Largest(maxShown) {
		nodes.row(&n.Emission, n.UID, share4(n.Stake), share4(n.Consensus), share4(n.Trust), share4(n.Incentive), share4(n.ValidatorTrust), share4(n.Dividends), share4(n.Emission))
	}
	flows.addLargest(last)
	if err := nodes.plot("uid", "incentive", "incentive by node", curve{name: "incentive", points: incentive, colour: blue}); err != nil {
		return nil, err
	}
	p.Sections = []Section{nodes, flows}
	return p, nil
}

// addLargest adds validator, node and share of all weight that consensus left.
func (s *Section) addLargest(r *yuma.Result) {
	type flow struct {
		from, to int
		share    float64
	}
	var all []flow
	total := 0.0
	for i, row := range r.Weights {
		for _, w := range row {
			all, total = append(all, flow{i, w.To, r.Nodes[i].Stake * w.Weight}), total+r.Nodes[i].Stake*w.Weight
		}
	}
	slices.SortStableFunc(all, func(a, b flow) int { return cmp.Compare(b.share, a.share) })
	for _, f := range all[:min(maxShown, len(all))] {
		share := f.share / total
		s.row(&share, f.from, f.to, share4(share))
	}
}

func share4(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }

func short(n contest.Number) string { return strconv.FormatFloat(float64(n), 'g', 4, 64) }

func interval(f contest.Figure) string { return short(f.Low) + " to " + short(f.High) }
