package site

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
)

// copiedFrom is from where on a likeness is taken for copies: from so much of what both
// show, at so many problems (of prompts: in so many lines). Tools alone are no sign.
var copiedFrom = [kinds]struct {
	Share float64 `json:"share"`
	Least int     `json:"least"`
}{byTools: {2, 0}, byCalls: {.5, 5}, byThinking: {.8, 5}, byWhole: {.2, 5}, byRareCalls: {.15, 5}, byPrompts: {.8, 8}}

const (
	// contained is how much of the shorter one's thinking at a problem the other's must
	// hold for the two to be the same.
	contained = 0.8
	// least is from where on a likeness is worth showing, mostPairs are shown at most.
	least        = 0.02
	mostPairs    = 4000
	showPassages = 5 // of each pair and kind
)

// pair is two agents that are alike in something.
type pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// By is the likeness of each kind, 0 to 1; null where one of them shows nothing of it.
	By [kinds]any `json:"by"`
	// Same counts the problems at which both show the same of a kind, Of those at which
	// both show anything of it. Of prompts they count lines, Of those of the shorter.
	Same   [kinds]int `json:"same"`
	Of     [kinds]int `json:"of"`
	Copied bool       `json:"copied"`
	// Problems are some at which the calls or the thinking are the same, Passages
	// sentences that both think, Lines those of both prompts; each what fewest share.
	Problems []string `json:"problems"`
	Passages []string `json:"passages"`
	Lines    []string `json:"lines"`
	reach    float64  // the greatest likeness as a share of its limit
}

// agents compares the agents of a day. The whole day is read for it, once.
func (c *Corpus) agents(ctx context.Context, key string) ([]byte, error) {
	if c.all {
		if err := (&writer{Corpus: c, agents: c.agentsOf()}).read(ctx); err != nil {
			return nil, err
		}
	}
	pairs, secret := c.kin.pairs(), func(s string) bool { return c.Secret != nil && c.Secret(s) != "" }
	for i := range pairs {
		pairs[i].Passages, pairs[i].Lines = slices.DeleteFunc(pairs[i].Passages, secret), slices.DeleteFunc(pairs[i].Lines, secret)
	}
	return script(key, map[string]any{"kinds": kindNames, "pairs": pairs, "from": copiedFrom}, c.Clean)
}

// kin weighs what the agents of a day share.
type kin struct {
	*kinship
	authors []*author
	// team numbers the authors, copies alike; have is how many teams have an item.
	team []int
	have [kinds]map[uint64]int
}

func (k *kinship) weighed() *kin {
	w := &kin{kinship: k}
	for i, name := range slices.Sorted(maps.Keys(k.agents)) {
		a := k.agents[name]
		w.authors, w.team, a.problems = append(w.authors, a), append(w.team, i), slices.Sorted(maps.Keys(a.at))
		for h, problem := range a.lines {
			if problem == 0 {
				a.prompts.all = append(a.prompts.all, h)
			}
		}
		a.each(func(_ int, x *items) {
			slices.Sort(x.all)
			x.all = slices.Compact(x.all)
		})
	}
	return w
}

// count says anew how many teams have each item.
func (k *kin) count() {
	last := [kinds]map[uint64]int{} // the team that had an item last
	for kind := range kinds {
		k.have[kind], last[kind] = map[uint64]int{}, map[uint64]int{}
	}
	for team := range k.authors {
		for i, a := range k.authors {
			if k.team[i] != team {
				continue
			}
			a.each(func(kind int, x *items) {
				for _, h := range x.all {
					if last[kind][h] != team+1 {
						last[kind][h] = team + 1
						k.have[kind][h]++
					}
				}
			})
		}
	}
	for _, a := range k.authors {
		a.each(func(kind int, x *items) {
			x.alone = 0
			for _, h := range x.all {
				x.alone += k.weight(kind, h, 1)
			}
		})
	}
}

// each visits an author's items, kind by kind, the problems in order.
func (a *author) each(see func(kind int, x *items)) {
	see(byPrompts, &a.prompts)
	for _, problem := range a.problems {
		for kind := range a.at[problem] {
			see(kind, &a.at[problem][kind])
		}
	}
}

// weight is how much an item counts for so many teams that are compared: the less the
// more others have it, and nothing where half of all do, since what all write is no
// copy. A prompt's line that a third team sends is a public client's.
func (k *kin) weight(kind int, h uint64, compared int) float64 {
	switch others := k.have[kind][h] - compared; {
	case others <= 0:
		return 1
	case kind == byPrompts:
		return 0
	default:
		return max(0, 1-2*float64(others)/float64(len(k.authors)))
	}
}

// pairs are those pairs of agents, mostPairs at most, that are most alike in what few
// others write. All are compared twice: the second time copies of one work are one team.
func (k *kinship) pairs() (out []pair) {
	w := k.weighed()
	for _, again := range []bool{false, true} {
		w.count()
		for i, a := range w.authors {
			for j, b := range w.authors[i+1:] {
				switch p := w.compare(a, b); {
				case p.Copied && !again:
					w.join(w.team[i], w.team[i+1+j])
				case again && p.reach >= least:
					out = append(out, *p)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b pair) int { return cmp.Compare(b.reach, a.reach) })
	out = out[:min(mostPairs, len(out))]
	for i := range out {
		w.quote(&out[i])
	}
	return out
}

func (k *kin) join(a, b int) {
	for i := range k.team {
		if k.team[i] == b {
			k.team[i] = a
		}
	}
}

// compare says how alike two agents are at the problems that both tried, and in prompts.
func (k *kin) compare(a, b *author) *pair {
	p := &pair{A: a.name, B: b.name, Problems: []string{}}
	var sum [kinds]float64
	for _, problem := range a.problems {
		if b.at[problem] == nil {
			continue
		}
		at, both := k.at(a.at[problem], b.at[problem])
		for kind, x := range at {
			if both[kind] {
				p.Of[kind]++
			}
			if x > 0 {
				sum[kind], p.Same[kind] = sum[kind]+x, p.Same[kind]+1
			}
		}
		if at[byCalls]+at[byThinking] > 0 {
			p.Problems = append(p.Problems, problem)
		}
	}
	if len(a.prompts.all) > 0 && len(b.prompts.all) > 0 {
		both, smaller := k.shared(byPrompts, &a.prompts, &b.prompts)
		sum[byPrompts], p.Same[byPrompts], p.Of[byPrompts] = both, int(both), int(smaller)
	}
	for kind, limit := range copiedFrom {
		if p.Of[kind] > 0 {
			x := sum[kind] / float64(p.Of[kind])
			p.By[kind] = math.Round(x*1e4) / 1e4
			p.Copied = p.Copied || x >= limit.Share && p.Same[kind] >= limit.Least
			p.reach = max(p.reach, x/limit.Share)
		}
	}
	return p
}

// at is how much it counts that two agents did the same at a problem, 0 where they did
// not; both says in what they show anything.
func (k *kin) at(a, b *work) (x [byPrompts]float64, both [byPrompts]bool) {
	for kind := range byWhole {
		both[kind] = len(a[kind].all) > 0 && len(b[kind].all) > 0
		shared, smaller := k.shared(kind, &a[kind], &b[kind])
		if shared >= least && (kind < byThinking || shared >= contained*smaller) {
			x[kind] = min(1, shared)
		}
	}
	x[byWhole], both[byWhole] = min(x[byCalls], x[byThinking]), both[byCalls] && both[byThinking]
	x[byRareCalls], both[byRareCalls] = math.Floor(x[byCalls]), both[byCalls] // 1 where nobody else has them
	return x, both
}

// shared is how much two lists hold in common, each item by its weight, and how much
// the smaller one holds.
func (k *kin) shared(kind int, s, t *items) (both, smaller float64) {
	alone := 0.0
	for x, y := s.all, t.all; len(x) > 0 && len(y) > 0; {
		switch {
		case x[0] < y[0]:
			x = x[1:]
		case y[0] < x[0]:
			y = y[1:]
		default:
			both, alone = both+k.weight(kind, x[0], 2), alone+k.weight(kind, x[0], 1)
			x, y = x[1:], y[1:]
		}
	}
	return both, both + min(s.alone, t.alone) - alone
}

// quote adds what both write and fewest others do.
func (k *kin) quote(p *pair) {
	has := map[uint64]bool{}
	k.agents[p.A].each(func(kind int, x *items) {
		for _, h := range x.all {
			has[h] = kind == byThinking || kind == byPrompts
		}
	})
	var both [kinds][]uint64
	k.agents[p.B].each(func(kind int, x *items) {
		for _, h := range x.all {
			if has[h] {
				both[kind], has[h] = append(both[kind], h), false
			}
		}
	})
	p.Problems = p.Problems[:min(showPassages, len(p.Problems))]
	p.Passages, p.Lines = k.rarest(byThinking, both[byThinking]), k.rarest(byPrompts, both[byPrompts])
}

func (k *kin) rarest(kind int, items []uint64) []string {
	slices.SortFunc(items, func(x, y uint64) int {
		return cmp.Or(cmp.Compare(k.have[kind][x], k.have[kind][y]), cmp.Compare(len(k.texts[y]), len(k.texts[x])), cmp.Compare(k.texts[x], k.texts[y]))
	})
	out := []string{}
	for _, h := range items[:min(showPassages, len(items))] {
		out = append(out, k.texts[h])
	}
	return out
}
