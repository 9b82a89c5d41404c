package site

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// copiedFrom has, for each kind of similarity between two agents, the minimum at which they are
// reported as copies: the similarity, from 0 to 1, and the number of equal problems or prompt
// lines. Using the same tools is no sign of copying, so the minimum for tools is 2, which is never
// reached.
var copiedFrom = [kinds]struct {
	Share float64 `json:"share"`
	Least int     `json:"least"`
}{
	byTools:            {2, 0},
	byCalls:            {.5, 5},
	byThinking:         {.8, 5},
	byCallsAndThinking: {.2, 5},
	byRareCalls:        {.15, 5},
	byPrompts:          {.8, 8},
}

const (
	// minContained is the share of the shorter reasoning that the longer one must contain for the
	// reasonings of two agents at one problem to count as equal. Sentences count by their weight as
	// a sign of copying.
	minContained = 0.8
	// minLikeness is the similarity, from 0 to 1, below which two agents are not shown as a pair.
	// Work of two agents at one problem that is less similar than this counts as not similar at
	// all.
	minLikeness = 0.02
	// showPassages is the maximum number of common texts, of each kind, and of problems that are
	// shown as examples for a pair of agents.
	showPassages = 5
)

type pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// By has the similarity of each kind, from 0 to 1. It is null if one of the agents has
	// nothing to compare.
	By [kinds]any `json:"by"`
	// Of counts, for each kind, the problems at which both agents have something to compare, and
	// Same those at which they are equal. For prompts, Of counts the lines of the agent with
	// fewer lines, and Same the equal lines.
	Same   [kinds]int `json:"same"`
	Of     [kinds]int `json:"of"`
	Copied bool       `json:"copied"`
	// Problems are examples of problems with equal calls or reasoning. Passages are sentences in
	// the reasoning of both agents, and Lines are lines in the prompts of both; those that the
	// fewest other agents have come first.
	Problems []string `json:"problems"`
	Passages []string `json:"passages"`
	Lines    []string `json:"lines"`
}

// agents returns, as a script, the data of the page that compares all agents of a day. If All is
// set, it reads every trace first, since the comparison needs all of them.
func (c *Corpus) agents(ctx context.Context, key string) ([]byte, error) {
	if c.All {
		if err := c.collectWork(ctx); err != nil {
			return nil, err
		}
	}
	secret := func(s string) bool {
		return c.Secret != nil && c.Secret(s) != ""
	}
	pairs := c.kin.pairs()
	for i := range pairs {
		pairs[i].Passages, pairs[i].Lines = slices.DeleteFunc(pairs[i].Passages, secret), slices.DeleteFunc(pairs[i].Lines, secret)
	}
	return script(
		key,
		map[string]any{"kinds": kindNames, "pairs": pairs, "from": copiedFrom},
		c.Clean,
	)
}

type comparison struct {
	*kinship
	authors []*author
	// team has a number for each author, which is equal for authors that copy each other.
	// teamsWith counts the teams that have an item (the hash of a sentence, a line of a prompt
	// or a sequence of calls), by kind.
	team      []int
	teamsWith [kinds]map[uint64]int
}

func (k *kinship) newComparison() *comparison {
	w := &comparison{kinship: k}
	for i, name := range slicesx.SortedKeys(k.agents) {
		a := k.agents[name]
		w.authors, w.team, a.problems = append(w.authors, a), append(w.team, i), slicesx.SortedKeys(a.work)
		for _, work := range a.work {
			for kind := range work {
				slices.Sort(work[kind])
				work[kind] = slices.Compact(work[kind])
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

func (k *comparison) countTeams() {
	teams := map[int][]*author{}
	for i, a := range k.authors {
		teams[k.team[i]] = append(teams[k.team[i]], a)
	}
	for kind := range kinds {
		k.teamsWith[kind] = map[uint64]int{}
		for _, team := range teams {
			has := map[uint64]bool{}
			for _, a := range team {
				for _, h := range a.items(kind) {
					has[h] = true
				}
			}
			for h := range has {
				k.teamsWith[kind][h]++
			}
		}
	}
}

func (a *author) items(kind int) (items []uint64) {
	if kind == byPrompts {
		return a.prompts
	}
	for _, work := range a.work {
		if kind < byCallsAndThinking {
			items = append(items, work[kind]...)
		}
	}
	return items
}

// weight returns how much something that agents have in common, such as a sentence or a line of a
// prompt (h is its hash), is a sign of copying, from 0 to 1. compared is how many of the two
// compared agents have it. The more other teams (groups of agents that copy each other) have it,
// the lower is the weight; at half the number of agents it is 0. A prompt line that any other team
// has weighs 0, since it is from a public client.
func (k *comparison) weight(kind int, h uint64, compared int) float64 {
	switch others := k.teamsWith[kind][h] - compared; {
	case others <= 0:
		return 1
	case kind == byPrompts:
		return 0
	default:
		return max(0, 1-2*float64(others)/float64(len(k.authors)))
	}
}

// pairs returns the pairs of agents whose similarity of any kind is at least minLikeness. It
// compares all agents twice. The first time it finds agents that copy each other and joins them
// into teams. The second time, a text counts as common only if several teams have it, so that many
// copies of one agent do not make their own texts common.
func (k *kinship) pairs() (out []pair) {
	w := k.newComparison()
	for _, again := range []bool{false, true} {
		w.countTeams()
		for i, a := range w.authors {
			for j, b := range w.authors[i+1:] {
				switch p := w.compare(a, b); {
				case p.Copied && !again:
					w.mergeTeams(w.team[i], w.team[i+1+j])
				case again && slices.ContainsFunc(p.By[:], func(x any) bool { likeness, _ := x.(float64); return likeness >= minLikeness }):
					p.Problems = p.Problems[:min(showPassages, len(p.Problems))]
					p.Passages = w.rarest(byThinking, a, b)
					p.Lines = w.rarest(byPrompts, a, b)
					out = append(out, *p)
				}
			}
		}
	}
	return out
}

func (k *comparison) mergeTeams(a, b int) {
	for i := range k.team {
		if k.team[i] == b {
			k.team[i] = a
		}
	}
}

func (k *comparison) compare(a, b *author) *pair {
	p := &pair{
		A:        a.name,
		B:        b.name,
		Problems: []string{},
	}
	var sum [kinds]float64
	for _, problem := range a.problems {
		if b.work[problem] == nil {
			continue
		}
		weight, both := k.compareProblem(a.work[problem], b.work[problem])
		for kind, x := range weight {
			if both[kind] {
				p.Of[kind]++
			}
			if x > 0 {
				sum[kind], p.Same[kind] = sum[kind]+x, p.Same[kind]+1
			}
		}
		if weight[byCalls]+weight[byThinking] > 0 {
			p.Problems = append(p.Problems, problem)
		}
	}
	if len(a.prompts) > 0 && len(b.prompts) > 0 {
		both, smaller := k.shared(byPrompts, a.prompts, b.prompts)
		sum[byPrompts] = both
		p.Same[byPrompts] = int(both)
		p.Of[byPrompts] = int(smaller)
	}
	for kind, limit := range copiedFrom {
		if p.Of[kind] > 0 {
			x := sum[kind] / float64(p.Of[kind])
			p.By[kind] = math.Round(x*1e4) / 1e4
			p.Copied = p.Copied || x >= limit.Share && p.Same[kind] >= limit.Least
		}
	}
	return p
}

// compareProblem compares the work of two agents at one problem. For each kind of similarity, x is
// how much of it is equal, from 0 to 1, and both reports whether both agents have something to
// compare.
func (k *comparison) compareProblem(a, b *problemWork) (x [byPrompts]float64, both [byPrompts]bool) {
	for kind := range byCallsAndThinking {
		if both[kind] = len(a[kind]) > 0 && len(b[kind]) > 0; !both[kind] {
			continue
		}
		shared, smaller := k.shared(kind, a[kind], b[kind])
		if shared >= minLikeness && (kind < byThinking || shared >= minContained*smaller) {
			x[kind] = min(1, shared)
		}
	}
	x[byCallsAndThinking], both[byCallsAndThinking] = min(x[byCalls], x[byThinking]), both[byCalls] && both[byThinking]
	x[byRareCalls], both[byRareCalls] = math.Floor(x[byCalls]), both[byCalls] // 1 where nobody else has them
	return x, both
}

// shared compares two sorted lists of hashes of what agents wrote. Each hash has a weight as a
// sign of copying. It returns the total weight of the hashes in both lists, and the lower of the
// total weights of the two lists.
func (k *comparison) shared(kind int, s, t []uint64) (both, smaller float64) {
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

// rarest returns up to showPassages texts that both agents wrote. Texts that the fewest other
// agents wrote come first.
func (k *comparison) rarest(kind int, a, b *author) []string {
	items, itemsB := a.items(kind), b.items(kind)
	slices.Sort(items)
	slices.Sort(itemsB)
	items = slices.DeleteFunc(slices.Compact(slices.Clone(items)), func(h uint64) bool {
		_, both := slices.BinarySearch(itemsB, h)
		return !both
	})
	slicesx.SortFunc(items, func(x, y uint64) int {
		return cmp.Or(
			cmp.Compare(k.teamsWith[kind][x], k.teamsWith[kind][y]),
			cmp.Compare(len(k.texts[y]), len(k.texts[x])),
			cmp.Compare(k.texts[x], k.texts[y]),
		)
	})
	return append([]string{}, slicesx.Map(items[:min(showPassages, len(items))], func(h uint64) string {
		return k.texts[h]
	})...)
}
