package distil

import (
	"errors"
	"math/rand/v2"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Simulated is how often a rule crowns challengers whose true KL is known.
type Simulated struct {
	Rule    string `json:"rule"`
	Prompts int    `json:"prompts"`
	// Better is how far the challengers' true KL is below the king's, as a share:
	// at 0 every dethroning is false, above it is the rule's power.
	Better float64 `json:"better"`
	// Challenger is the share of challengers that pass; Round that of rounds of
	// five in which one does. N counts rounds simulated; the intervals are over
	// the real rounds that the noise was drawn from.
	Challenger contest.Figure `json:"per_challenger"`
	Round      contest.Figure `json:"per_round"`
	// From is how many real rounds and pairs the noise comes from.
	FromRounds int `json:"from_rounds"`
	FromPairs  int `json:"from_pairs"`
}

// challengers are how many a simulated round has: the median of the published
// rounds with a rule.
const challengers = 5

// noise is what one real round says of chance: the king's KLs and, for each honest
// challenger, his leads over the king less their mean, on the same prompts.
type noise struct {
	king []float64
	off  [][]float64
}

// leastPrompts is how many prompts a real pair must share to lend its noise.
const leastPrompts = 40

// noises are those of all rounds whose king and challenger were measured whole.
func noises(rounds []*Round) (all []noise) {
	seen := map[int64]bool{}
	for _, r := range rounds {
		if len(r.Eval.Students) == 0 || r.Block > 0 && seen[r.Block] {
			continue
		}
		seen[r.Block] = true
		king, out := r.king(), r.Eval.out(r.Eval.suspects(r.ID))
		n := noise{king: king.KLs}
		for i := range r.Eval.Students {
			s := &r.Eval.Students[i]
			if s.Model == king.Model || out[s.Model] != "" || len(s.KLs) != len(king.KLs) || len(s.KLs) < leastPrompts {
				continue
			}
			off := leads(king, s, 0)
			mean := stats.Mean(off)
			for k := range off {
				off[k] -= mean
			}
			n.off = append(n.off, off)
		}
		if len(n.off) > 0 {
			all = append(all, n)
		}
	}
	return all
}

// Simulate draws rounds of n prompts from the noise of real ones, with challengers
// that are better than the king by the given shares, and counts what each rule
// does. The composite cannot be simulated: no published file has its axes item by
// item. rounds are drawn from each real round as often as times says.
func Simulate(rounds []*Round, rules []Rule, prompts []int, better []float64, times int) ([]Simulated, error) {
	from := noises(rounds)
	if len(from) < 2 {
		return nil, errors.New("no round has a king and an honest challenger on the same 40 prompts or more")
	}
	var all []Simulated
	for _, rule := range rules {
		for _, n := range prompts {
			for _, by := range better {
				if rule.Kind != Composite {
					all = append(all, rule.simulate(from, n, by, times))
				}
			}
		}
	}
	return all, nil
}

func (r *Rule) simulate(from []noise, prompts int, better float64, times int) Simulated {
	s := Simulated{Rule: r.String(), Prompts: prompts, Better: better, FromRounds: len(from)}
	random := rand.New(rand.NewPCG(2, uint64(prompts))) //nolint:forbidigo // seeded: the same numbers every time
	var each, any []float64
	for i := range from {
		s.FromPairs += len(from[i].off)
		passed, rounds := 0, 0
		for range times {
			n := from[i].play(r, random, prompts, better)
			if passed += n; n > 0 {
				rounds++
			}
		}
		each = append(each, float64(passed)/float64(times*challengers))
		any = append(any, float64(rounds)/float64(times))
	}
	s.Challenger, s.Round = clustered(each, times*challengers), clustered(any, times)
	return s
}

// play is one round: how many of its challengers pass. A round of a rule that is
// never met with so few prompts costs no draw.
func (n *noise) play(r *Rule, random *rand.Rand, prompts int, better float64) (passed int) { //nolint:forbidigo // a simulation draws, from a seed of its own
	king := Student{KLs: make([]float64, prompts)}
	order := make([]int, prompts)
	for i := range order {
		order[i] = random.IntN(len(n.king))
		king.KLs[i] = n.king[order[i]]
	}
	c := Student{KLs: make([]float64, prompts)}
	truth := float64(better * stats.Mean(n.king))
	for range challengers {
		off := n.off[random.IntN(len(n.off))]
		for i, k := range order {
			c.KLs[i] = king.KLs[i] - off[k] - truth
		}
		if r.passes(&king, &c) {
			passed++
		}
	}
	return passed
}

// clustered is the mean rate over real rounds with an interval over them.
func clustered(rates []float64, samples int) contest.Figure {
	mean, n := stats.Mean(rates), len(rates)*samples
	return contest.FigureOf(mean, stats.ClusteredWilson(mean, stats.ClusteredSE(rates), len(rates), n), n)
}
