package habits

import (
	"math"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// pastes counts the distinct requests behind each episode.
func pastes(samples []Sample) map[uint64]int {
	type pair struct{ episode, query uint64 }
	seen := map[pair]bool{}
	n := map[uint64]int{}
	for i := range samples {
		p := pair{samples[i].Episode, samples[i].Query}
		if p.episode != 0 && !seen[p] {
			seen[p] = true
			n[p.episode]++
		}
	}
	return n
}

// commonest looks at requests of one size, by the number of products
// recommended and by whether the first search found anything, since even a
// fixed program stops where there is nothing: the attempts that use that size's
// commonest sequence of tools, and the same of what they ask the shop, among
// those that begin with one tool.
func commonest(samples []Sample) (tools, asks Tally) {
	type task struct {
		slots, begun int
		blank        bool
	}
	sequences, asked := groups[task, uint64]{}, groups[task, uint64]{}
	for i := range samples {
		s := &samples[i]
		sequences.add(task{s.Slots, 0, s.Blank}, s.Tools)
		asked.add(task{s.Slots, s.Begun, s.Blank}, s.Asks)
	}
	return sequences.commonest(), asked.commonest()
}

// groups counts what occurs in each group.
type groups[G, V comparable] map[G]map[V]int

func (g groups[G, V]) add(group G, v V) {
	if g[group] == nil {
		g[group] = map[V]int{}
	}
	g[group][v]++
}

// commonest counts the commonest value of each group, of all in groups of more
// than one.
func (g groups[G, V]) commonest() (t Tally) {
	for _, counts := range g {
		most, all := 0, 0
		for _, n := range counts {
			most, all = max(most, n), all+n
		}
		if all > 1 {
			t = Tally{t.Part + most, t.Whole + all}
		}
	}
	return t
}

// fixed is how surely a sequence of tools is fixed. Honest agents stay
// below three quarters on the labelled day, so the interval's lower bound below
// 0.6; programs reach one, and 0.7 with the bound after eight attempts.
func (t Tally) fixed() float64 {
	lo, _ := t.Interval()
	return Ramp(lo, 0.6, 0.7)
}

// steady is how surely one course is followed whatever comes back: one sequence
// of tools, or, where only the number of searches varies, always the same number
// of products to open and no way back from them. Models that always open three go
// back when these disappoint (in 0.07 to 0.41 of openings), and those that never
// go back open now one, now four.
func (a *AgentStats) steady() float64 { return math.Max(a.Sequence, a.Course.unbroken()) }

// fixedSequence is how surely the sequence of tools is fixed, or that of what the
// shop is asked, where as many products are opened each time: whether a request
// needs the calculator is the request's doing, and a program that begins with
// another tool for another kind of request has a plan for each. Models that keep
// to a course which their prompt gives still open now two, now five.
func (a *AgentStats) fixedSequence() float64 {
	return math.Max(a.Common.fixed(), math.Min(a.Asked.fixed(), a.Breadth.unbroken()))
}

// courses counts, of the attempts that open some of a list, those that follow the
// day's commonest course.
func courses(samples []Sample) Tally {
	return alike(samples, func(s *Sample) int { return s.Course })
}

// breadths counts, of the attempts that open some of a list, those that open as
// many each time as most do.
func breadths(samples []Sample) Tally {
	return alike(samples, func(s *Sample) int { return s.Breadth })
}

// alike counts, of the attempts with a habit, those with the commonest one: 0 is
// none, and what is below is of no kind.
func alike(samples []Sample, habit func(*Sample) int) (t Tally) {
	same := map[int]int{}
	for i := range samples {
		if n := habit(&samples[i]); n != 0 {
			t.Whole++
			same[max(n, 0)]++
		}
	}
	delete(same, 0)
	for _, n := range same {
		t.Part = max(t.Part, n)
	}
	return t
}

// unbroken is how surely a habit knows no exception: 4 % of departures → 0, none
// → 1, in full from a dozen cases.
func (t Tally) unbroken() float64 {
	if t.Whole == 0 {
		return 0
	}
	return (1 - Ramp(1-t.Share(), 0, 0.04)) * Ramp(float64(t.Whole), 0, 12)
}

// Unshown is 1 for days too short to show habits, else how surely one course is
// followed or searches are put together in one way.
func (a *AgentStats) Unshown(minAttempts int) float64 {
	if a.Attempts < minAttempts {
		return 1
	}
	return math.Max(a.steady(), a.fixedForms())
}

// fixedPicks is how surely the product recommended is the first one shown. Who
// compares recommends another than the first at least in a quarter of cases;
// an agent that thinks aloud and never of results must do so more often to be
// believed.
func (a *AgentStats) fixedPicks() float64 {
	if a.Firsts.Whole == 0 {
		return 0
	}
	p, least := a.Firsts.Share(), 0.73
	if a.Deaf() > 0 {
		least = 0.65
	}
	return Ramp(p-math.Sqrt(p*(1-p)/float64(a.Firsts.Whole)), least, least+0.05)
}

// fixedForms is how surely searches are put together in one way. Models put the
// same kinds of words in another order at least in one search of ten (0.08 to
// 0.25 on every day measured), so a dozen searches without any say so.
func (a *AgentStats) fixedForms() float64 { return a.Forms.unbroken() }

// searchesAgain is how surely searches are followed by others for the same in
// other words. Models do so, too, but not always the same number of times: with
// a fixed sequence of tools it is a plan.
func (a *AgentStats) searchesAgain() float64 {
	again := Tally{a.Good.Part + a.Poor.Part, a.Good.Whole + a.Poor.Whole}
	lo, _ := again.Interval()
	return Ramp(lo, 0.2, 0.4)
}

// sortedViews is how surely products are opened by one number alone. Models that
// like cheap things do so in three of five openings, others in less than a
// sixth, programs that sort in all: a lower bound of 0.6 needs six of six, 0.7
// nine of nine.
func (a *AgentStats) sortedViews() float64 {
	most := 0.0
	for _, t := range [...]Tally{a.Cheapest, a.Dearest, a.BestSold} {
		lo, _ := t.Interval()
		most = math.Max(most, Ramp(lo, 0.6, 0.7))
	}
	return most
}

// Overruled is how surely replies are overruled: replaced in most attempts, or
// turned down until one is what the program waits for. Clients with validators
// turn fresh calls down now and then, not before a tenth of searches; who never
// sends the first reply takes a vote.
func (a *AgentStats) Overruled() float64 {
	replaced, _ := a.Overrides.Interval()
	refused, _ := a.Refusals.Interval()
	return math.Max(Ramp(replaced, 0.3, 0.5), Ramp(refused, 0.1, 0.2)*Ramp(evidence.Share(a.AtOnce, max(a.Refusals.Whole, 1)), 0, 0.1))
}

// forms counts, among searches that use the same kinds of words, those in the
// commonest order.
func forms(samples []Sample) Tally {
	orders := groups[uint32, uint32]{}
	for i := range samples {
		for _, form := range samples[i].Forms {
			orders.add(uint32(form>>32), uint32(form))
		}
	}
	return orders.commonest()
}

// Deaf is how surely the agent takes products with many words and none of them
// about results: 0 until the share of such turns that cite is surely below a
// fifth, 1 from a tenth on, so from sixteen turns without any to thirty-five.
func (a *AgentStats) Deaf() float64 {
	_, hi := a.Spoken.Interval()
	return 1 - Ramp(hi, 0.1, 0.2)
}

// cites reports whether the agent speaks of results. Models that think at all do so
// in a quarter of their turns.
func (a *AgentStats) cites() bool { return a.Citing.Whole > 0 && a.Citing.Share() >= 0.2 }

// Ramp is 0 up to lo, 1 from hi on, straight between.
func Ramp(x, lo, hi float64) float64 {
	return math.Min(math.Max((x-lo)/(hi-lo), 0), 1)
}

// templates is the share of thoughts whose skeleton stands in another attempt.
func templates(samples []Sample) float64 {
	type place struct {
		attempt int
		several bool
	}
	at := map[uint64]place{}
	for i := range samples {
		for _, t := range samples[i].Thoughts {
			if p, ok := at[t]; !ok {
				at[t] = place{attempt: i}
			} else if p.attempt != i {
				at[t] = place{attempt: i, several: true}
			}
		}
	}
	again, total := 0, 0
	for i := range samples {
		for _, t := range samples[i].Thoughts {
			total++
			if at[t].several {
				again++
			}
		}
	}
	if total == 0 {
		return 0
	}
	return float64(again) / float64(total)
}
