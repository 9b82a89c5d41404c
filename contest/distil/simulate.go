package distil

import (
	"errors"
	"math/rand/v2"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Simulated is the simulated rate at which a rule crowns challengers with a known
// true KL.
type Simulated struct {
	Rule    string `json:"rule"`
	Prompts int    `json:"prompts"`
	// Better is the share by which the challengers' true KL is below the king's. At 0
	// the rates are those of false dethronings, above they are the rule's power.
	Better float64 `json:"better"`
	// Challenger is the rate of challengers that pass, Round that of rounds of five in
	// which one passes. N is the number of simulated rounds; the intervals are over
	// the real rounds that the noise is drawn from.
	Challenger contest.Figure `json:"per_challenger"`
	Round      contest.Figure `json:"per_round"`
	// FromRounds and FromPairs are the numbers of real rounds and pairs of the noise.
	FromRounds int `json:"from_rounds"`
	FromPairs  int `json:"from_pairs"`
}

// challengers is the number of challengers of a simulated round: the median of the
// published rounds with a rule.
const challengers = 5

// noise is the noise of one real round: the king's KLs and, for each honest
// challenger, its leads over the king minus their mean, on the same prompts.
type noise struct {
	king       []float64
	deviations [][]float64
}

// minPrompts is the minimum number of common prompts of a pair.
const minPrompts = 40

// collectNoise returns the noise of all rounds with a king and an honest challenger
// that have KLs on all prompts.
func collectNoise(rounds []*Round) []noise {
	var out []noise
	seen := map[int64]bool{}
	for _, r := range rounds {
		if len(r.Eval.Students) == 0 || r.Block > 0 && seen[r.Block] {
			continue
		}
		seen[r.Block] = true
		king := r.king()
		excluded := r.Eval.exclusions(r.Eval.suspects(r.ID))
		n := noise{king: king.KLs}
		for i := range r.Eval.Students {
			s := &r.Eval.Students[i]
			if s.Model == king.Model || excluded[s.Model] != "" {
				continue
			}
			if len(s.KLs) != len(king.KLs) || len(s.KLs) < minPrompts {
				continue
			}
			deviations := leads(king, s, 0)
			mean := stats.Mean(deviations)
			for k := range deviations {
				deviations[k] -= mean
			}
			n.deviations = append(n.deviations, deviations)
		}
		if len(n.deviations) > 0 {
			out = append(out, n)
		}
	}
	return out
}

// Simulate simulates rounds with the noise of real ones: for each rule, number of
// prompts and share by which challengers are better than the king, each real round
// is simulated the given number of times. Composite rules are omitted: no published
// file has their axes by item.
func Simulate(
	rounds []*Round,
	rules []Rule,
	prompts []int,
	better []float64,
	times int,
) ([]Simulated, error) {
	noises := collectNoise(rounds)
	if len(noises) < 2 {
		return nil, errors.New("no round has a king and an honest challenger on the same 40 prompts or more")
	}
	var out []Simulated
	for _, rule := range rules {
		if rule.Kind == Composite {
			continue
		}
		for _, n := range prompts {
			for _, share := range better {
				out = append(out, rule.simulate(noises, n, share, times))
			}
		}
	}
	return out, nil
}

func (r *Rule) simulate(
	noises []noise,
	prompts int,
	better float64,
	times int,
) Simulated {
	s := Simulated{
		Rule:       r.String(),
		Prompts:    prompts,
		Better:     better,
		FromRounds: len(noises),
	}
	random := rand.New(rand.NewPCG(2, uint64(prompts))) //nolint:forbidigo // seeded: the same numbers every time
	var challengerRates, roundRates []float64
	for i := range noises {
		s.FromPairs += len(noises[i].deviations)
		challengersPassed := 0
		roundsPassed := 0
		for range times {
			passed := noises[i].simulateRound(r, random, prompts, better)
			challengersPassed += passed
			if passed > 0 {
				roundsPassed++
			}
		}
		challengerRates = append(challengerRates, float64(challengersPassed)/float64(times*challengers))
		roundRates = append(roundRates, float64(roundsPassed)/float64(times))
	}
	s.Challenger = clusteredRate(challengerRates, times*challengers)
	s.Round = clusteredRate(roundRates, times)
	return s
}

// simulateRound simulates one round and returns the number of challengers that pass.
func (n *noise) simulateRound(
	r *Rule,
	random *rand.Rand, //nolint:forbidigo // the simulation has its own seed
	prompts int,
	better float64,
) int {
	passed := 0
	king := Student{KLs: make([]float64, prompts)}
	order := make([]int, prompts)
	for i := range order {
		order[i] = random.IntN(len(n.king))
		king.KLs[i] = n.king[order[i]]
	}
	c := Student{KLs: make([]float64, prompts)}
	trueLead := float64(better * stats.Mean(n.king))
	for range challengers {
		deviations := n.deviations[random.IntN(len(n.deviations))]
		for i, k := range order {
			c.KLs[i] = king.KLs[i] - deviations[k] - trueLead
		}
		if r.passes(&king, &c) {
			passed++
		}
	}
	return passed
}

// clusteredRate returns the mean rate with an interval over the real rounds.
func clusteredRate(rates []float64, samples int) contest.Figure {
	mean := stats.Mean(rates)
	n := len(rates) * samples
	interval := stats.ClusteredWilson(mean, stats.ClusteredSE(rates), len(rates), n)
	return contest.NewFigure(mean, interval, n)
}
