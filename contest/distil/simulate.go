package distil

import (
	"errors"
	"math/rand/v2"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Simulated is a simulated rate: how often a rule accepts challengers whose true KL is known.
type Simulated struct {
	Rule    string `json:"rule"`
	Prompts int    `json:"prompts"`
	// Better is the share by which the challengers' true KL is below the king's. If it is 0, the
	// rates are those of wrongly replaced kings. Otherwise they are the power of the rule.
	Better float64 `json:"better"`
	// Challenger is the rate of challengers that pass. Round is the rate of rounds of five
	// challengers in which at least one passes. N is the number of simulated challengers or
	// rounds. The intervals treat the real rounds, which supply the noise, as independent
	// samples.
	Challenger contest.Figure `json:"per_challenger"`
	Round      contest.Figure `json:"per_round"`
	// FromRounds and FromPairs are the numbers of real rounds, and of pairs of king and
	// challenger, that supply the noise.
	FromRounds int `json:"from_rounds"`
	FromPairs  int `json:"from_pairs"`
}

// challengers is the number of challengers in a simulated round. It is the median of the
// published rounds whose rule is known.
const challengers = 5

// noise is the variation of KLs between the prompts of one real round. It has the king's KLs and,
// for each honest challenger (one that nothing excludes from the round), the differences between
// the king's and the challenger's KL on each prompt, minus their mean.
type noise struct {
	king       []float64
	deviations [][]float64
}

// minPrompts is the minimum number of common prompts at which the differences between king and
// challenger are used as noise.
const minPrompts = 40

// collectNoise returns the noise of each usable round: the king's KLs and, for each challenger, by
// how much its lead over the king on each prompt differs from its mean lead. It leaves out
// challengers that the round excludes, and those that do not have a KL for each prompt of the king
// or for fewer than minPrompts prompts. A round without a challenger left is not usable. Of several
// rounds of one block, only the first is used.
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

// Simulate simulates rounds with the noise of real ones, for each rule, number of prompts and
// share by which challengers are better than the king. Each real round is simulated the given
// number of times. Composite rules are omitted, since no published file has axes by item.
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
		if rule.Kind == Composite || rule.Floor > 0 {
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

// simulateRound simulates one round in which every challenger is better than the king (the model to
// beat) by the same share: its true KL is lower by better, such as 0.02. It returns how many
// challengers replace the king by the rule, which shows how often chance decides.
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

// clusteredRate computes the mean of rates with a 95 % interval. Each rate is that of one real
// round over the given number of samples. The interval treats the rounds as independent.
func clusteredRate(rates []float64, samples int) contest.Figure {
	mean := stats.Mean(rates)
	n := len(rates) * samples
	interval := stats.ClusteredWilson(mean, stats.ClusteredSE(rates), len(rates), n)
	return contest.NewFigure(mean, interval, n)
}
