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
	// least is from where on a likeness is worth showing.
	least = 0.02
	// showPassages are shown of each pair and kind.
	showPassages = 5
)

// pair is two agents that are alike in something.
type pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// By is the likeness of each kind, 0 to 1; null where one of them shows nothing of it.
	By [kinds]any `json:"by"`
	// Same counts the problems at which both show the same of a kind, Of those at which
	// both show anything of it. Of prompts they count lines, Of those of the shorter.
	Same [kinds]int `json:"same"`
	Of   [kinds]int `json:"of"`
	// Copied reports whether the pair is taken for copies.
	Copied bool `json:"copied"`
	// Problems are some at which the calls or the thinking are the same, Passages
	// sentences that both think, Lines those of both prompts; each what fewest share.
	Problems []string `json:"problems"`
	Passages []string `json:"passages"`
	Lines    []string `json:"lines"`
}

// agents compares the agents of a day. The whole day is read for it, once.
func (c *Corpus) agents(ctx context.Context, key string) ([]byte, error) {
	if c.all {
		if err := c.meet(ctx); err != nil {
			return nil, err
		}
	}
	secret := func(s string) bool { return c.Secret != nil && c.Secret(s) != "" }
	pairs := c.kin.pairs()
	for i := range pairs {
		pairs[i].Passages, pairs[i].Lines = slices.DeleteFunc(pairs[i].Passages, secret), slices.DeleteFunc(pairs[i].Lines, secret)
	}
	return script(key, map[string]any{"kinds": kindNames, "pairs": pairs, "from": copiedFrom}, c.Clean)
}

// kin weighs what the agents of a day share.
type kin struct {
	*kinship
	authors []*author
	// have is how many agents have an item; of prompts and rare calls how many teams,
	// copies counted as one.
	have [kinds]map[uint64]int
}

// weight is how much an item counts for so many agents that are compared: the less the
// more others have it, and nothing where half of all do, since what all write is no copy.
// A prompt's line or rare call that a third team has is nobody's own.
func (k *kin) weight(kind int, h uint64, compared int) float64 {
	switch others := k.have[kind][h] - compared; {
	case others <= 0:
		return 1
	case kind > byWhole && k.have[kind][h] > 2:
		return 0
	default:
		return max(0, 1-2*float64(others)/float64(len(k.authors)))
	}
}

func (k *kinship) weighed() *kin {
	w := &kin{kinship: k}
	for kind := range kinds {
		w.have[kind] = map[uint64]int{}
	}
	for _, name := range slices.Sorted(maps.Keys(k.agents)) {
		a := k.agents[name]
		w.authors, a.problems = append(w.authors, a), slices.Sorted(maps.Keys(a.at))
		for kind := range byWhole {
			has := map[uint64]bool{}
			for _, at := range a.at {
				slices.Sort(at[kind])
				at[kind] = slices.Compact(at[kind])
				for _, h := range at[kind] {
					has[h] = true
				}
			}
			for h := range has {
				w.have[kind][h]++
			}
		}
		for h, problem := range a.lines {
			if problem == 0 {
				a.prompts = append(a.prompts, h)
			}
		}
		slices.Sort(a.prompts)
	}
	return w
}

// pairs are all pairs of agents that are alike in anything that few others write. Work
// is compared first: who copies it is one team in counting who else has something.
func (k *kinship) pairs() []pair {
	w := k.weighed()
	found, team := map[[2]int]*pair{}, make([]int, len(w.authors))
	for i := range team {
		team[i] = i
	}
	for i, a := range w.authors {
		for j := i + 1; j < len(team); j++ {
			if p := w.work(a, w.authors[j]); p.shown() {
				found[[2]int{i, j}] = p
				if p.Copied {
					join(team, team[i], team[j])
				}
			}
		}
	}
	w.countTeams(team)
	out := []pair{}
	for i, a := range w.authors {
		for j := i + 1; j < len(team); j++ {
			b, p := w.authors[j], found[[2]int{i, j}]
			if p == nil {
				p = w.work(a, b)
			}
			if w.alone(p, a, b); p.shown() {
				w.quote(p, a, b)
				out = append(out, *p)
			}
		}
	}
	return out
}

func join(team []int, a, b int) {
	for i := range team {
		if team[i] == b {
			team[i] = a
		}
	}
}

func (k *kin) countTeams(team []int) {
	var seen [kinds]map[uint64]int // the team that had an item last
	count := func(kind, team int, items []uint64) {
		for _, h := range items {
			if last, known := seen[kind][h]; !known || last != team {
				seen[kind][h] = team
				k.have[kind][h]++
			}
		}
	}
	seen[byRareCalls], seen[byPrompts] = map[uint64]int{}, map[uint64]int{}
	order := make([]int, len(team))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(team[i], team[j]) })
	for _, i := range order {
		count(byPrompts, team[i], k.authors[i].prompts)
		for _, at := range k.authors[i].at {
			count(byRareCalls, team[i], at[byCalls])
		}
	}
}

func (p *pair) shown() bool {
	return slices.ContainsFunc(p.By[:], func(x any) bool { likeness, _ := x.(float64); return likeness >= least })
}

// is notes how alike two agents are in a kind, by what is the same, each by its weight.
func (p *pair) is(kind int, sum float64) {
	if p.Of[kind] == 0 {
		return
	}
	x := sum / float64(p.Of[kind])
	p.By[kind] = math.Round(x*1e4) / 1e4
	if limit := copiedFrom[kind]; x >= limit.Share && p.Same[kind] >= limit.Least {
		p.Copied = true
	}
}

// work compares what two agents did at the problems that both tried.
func (k *kin) work(a, b *author) *pair {
	p := &pair{A: a.name, B: b.name}
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
		if at[byCalls] > 0 || at[byThinking] > 0 {
			p.Problems = append(p.Problems, problem)
		}
	}
	for kind := range byRareCalls {
		p.is(kind, sum[kind])
	}
	return p
}

// at is how much it counts that two agents did the same at a problem, 0 where they did
// not; both says in what they show anything.
func (k *kin) at(a, b *work) (x [byRareCalls]float64, both [byRareCalls]bool) {
	for kind := range byWhole {
		if both[kind] = len(a[kind]) > 0 && len(b[kind]) > 0; !both[kind] {
			continue
		}
		shared, smaller := k.shared(kind, a[kind], b[kind])
		if shared >= least && (kind < byThinking || shared >= contained*smaller) {
			x[kind] = min(1, shared)
		}
	}
	x[byWhole], both[byWhole] = min(x[byCalls], x[byThinking]), both[byCalls] && both[byThinking]
	return x, both
}

// shared is how much two lists hold in common, each item by its weight, and how much
// the smaller one holds.
func (k *kin) shared(kind int, s, t []uint64) (both, smaller float64) {
	var onlyS, onlyT float64
	for len(s) > 0 || len(t) > 0 {
		switch {
		case len(t) == 0 || len(s) > 0 && s[0] < t[0]:
			onlyS, s = onlyS+k.weight(kind, s[0], 1), s[1:]
		case len(s) == 0 || t[0] < s[0]:
			onlyT, t = onlyT+k.weight(kind, t[0], 1), t[1:]
		default:
			both, s, t = both+k.weight(kind, s[0], 2), s[1:], t[1:]
		}
	}
	return both, both + min(onlyS, onlyT)
}

// alone compares two agents by what no third team has.
func (k *kin) alone(p *pair, a, b *author) {
	if both, smaller := k.shared(byPrompts, a.prompts, b.prompts); len(a.prompts) > 0 && len(b.prompts) > 0 {
		p.Same[byPrompts], p.Of[byPrompts] = int(both), int(smaller)
		p.is(byPrompts, both)
	}
	if p.Same[byCalls] < copiedFrom[byRareCalls].Least {
		return
	}
	sum := 0.0
	for _, problem := range a.problems {
		if b.at[problem] == nil {
			continue
		}
		if both, _ := k.shared(byRareCalls, a.at[problem][byCalls], b.at[problem][byCalls]); both > 0 {
			sum, p.Same[byRareCalls] = sum+1, p.Same[byRareCalls]+1
		}
	}
	p.Of[byRareCalls] = p.Of[byCalls]
	p.is(byRareCalls, sum)
}

// quote adds what both write and fewest others do.
func (k *kin) quote(p *pair, a, b *author) {
	p.Problems = p.Problems[:min(showPassages, len(p.Problems))]
	var said []uint64
	for problem, mine := range a.at {
		if theirs := b.at[problem]; theirs != nil {
			said = append(said, common(mine[byThinking], theirs[byThinking])...)
		}
	}
	slices.Sort(said)
	p.Passages, p.Lines = k.rarest(byThinking, slices.Compact(said)), k.rarest(byPrompts, common(a.prompts, b.prompts))
}

func common(s, t []uint64) []uint64 {
	return slices.DeleteFunc(slices.Clone(s), func(h uint64) bool { _, both := slices.BinarySearch(t, h); return !both })
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
