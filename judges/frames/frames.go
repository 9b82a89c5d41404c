// Package frames looks at the passages that decide an agent's day. Whoever reads
// results says so in other words each time; a program fills the same frame again.
// That is no matter of one attempt, whose grade stays its own, but a flag of the
// agent's whole day.
package frames

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/gates"
)

// The gates whose passages name data, and when a day is flagged: where of two
// passages at different problems, drawn from it by chance, maxAlike or more share
// a run of run signs of their frames, or the whole of a shorter one that is more
// than one sign, and minAlike pairs or more do. How near honest days come stands in
// docs/measured/judges.md; a program needs more than twenty frames, used alike
// often, to stay below.
const (
	firstGate = 3
	run       = 5
	minAlike  = 3
	maxAlike  = 0.1
	// maxCompared bounds the passages of a day that are held against each other.
	maxCompared = 512
)

// Passage is what decided the grade of one attempt.
type Passage struct {
	Agent, Problem, Text string
}

// Of is the passage that a judge cites for the last gate passed, a datum or a
// reasoned choice; empty where it cites none.
func Of(j *arena.Judgement) (text string) {
	for _, s := range j.Spans {
		if s.Gate >= firstGate {
			text = s.Quote
		}
	}
	return text
}

// Flag says how alike the passages of one agent's day are.
type Flag struct {
	Agent string `json:"agent"`
	// Passages counts the attempts that a passage decided.
	Passages int `json:"passages"`
	// Alike is the share of Pairs, all those at different problems, in one frame.
	Alike float64 `json:"alike"`
	Pairs int     `json:"pairs"`
	// Copied is the share of passages that another agent has word for word. It
	// weighs nothing: who took them over is not known, and whoever copies a rival
	// would lower the rival's pay.
	Copied float64 `json:"copied"`
	// Framed reports whether the day is one of frames.
	Framed bool `json:"framed"`
}

// Flags looks at the days of all agents, in the order of their names.
func Flags(passages []Passage) []Flag {
	agents, authors := map[string][]Passage{}, map[string]map[string]bool{}
	for _, p := range passages {
		agents[p.Agent] = append(agents[p.Agent], p)
		if authors[p.Text] == nil {
			authors[p.Text] = map[string]bool{}
		}
		authors[p.Text][p.Agent] = true
	}
	names := slices.Sorted(maps.Keys(agents))
	all := slices.Grow([]Flag(nil), len(names))[:len(names)] // nil for none
	var looking sync.WaitGroup
	for i, agent := range names {
		looking.Go(func() {
			f := flag(agents[agent])
			for _, p := range agents[agent] {
				if len(authors[p.Text]) > 1 {
					f.Copied += 1 / float64(f.Passages)
				}
			}
			all[i] = f
		})
	}
	looking.Wait()
	return all
}

// flag holds the passages of one agent against each other. Attempts at one
// problem may well be decided by one thought.
func flag(mine []Passage) Flag {
	slices.SortFunc(mine, func(a, b Passage) int {
		return cmp.Or(cmp.Compare(a.Problem, b.Problem), cmp.Compare(a.Text, b.Text))
	})
	f := Flag{Agent: mine[0].Agent, Passages: len(mine)}
	mine = mine[:min(len(mine), maxCompared)]
	// holders are the passages before this one that have a run, a bit each; others
	// is how many of them are at other problems.
	holders, others, alike := map[string]*big.Int{}, 0, 0
	for i, p := range mine {
		if p.Problem != mine[others].Problem {
			others = i
		}
		f.Pairs += others
		near := &big.Int{}
		for r, whole := range runsOf(p.Text) {
			if whole && holders[r] == nil {
				holders[r] = &big.Int{}
			}
			if whole {
				near.Or(near, holders[r])
				holders[r].SetBit(holders[r], i, 1)
			}
		}
		for k := range others {
			alike += int(near.Bit(k)) //nolint:gosec // 0 or 1
		}
	}
	f.Alike = float64(alike) / float64(max(f.Pairs, 1))
	f.Framed = alike >= minAlike && f.Alike >= maxAlike
	return f
}

// maxShared is the share of an author's attempts at other problems that may have a
// run in common with one: whoever writes in fewer than four forms is above. In 1,060
// attempts of public agents and by hand it is 0.11 at most. Fewer than minShared are
// chance.
const (
	maxShared = 0.25
	minShared = 5
)

// long is the run that counts in any thought; those that decide nothing are many.
const long = 8

// Thoughts are what was thought in one attempt, and of that what decided it.
type Thoughts struct {
	Problem, Decided string
	Texts            []string
}

func (t *Thoughts) runs() map[string]bool {
	all := map[string]bool{"": true}
	add := func(text string, run int) {
		frame := gates.Frame(text)
		for i := 0; i+run <= len(frame); i++ {
			all[frame[i:i+run]] = true
		}
	}
	add(t.Decided, run)
	for _, text := range t.Texts {
		add(text, long)
	}
	return all
}

// Templates says of each attempt of one author whether a thought of it is cut of one
// piece with those of many others.
func Templates(all []Thoughts) []bool {
	type at struct{ run, problem string }
	runs, holders := make([]map[string]bool, len(all)), map[at]int{}
	for i, a := range all {
		runs[i] = a.runs()
		for r := range runs[i] {
			holders[at{run: r}]++
			holders[at{r, a.Problem}]++
		}
	}
	out := make([]bool, len(all))
	for i, a := range all {
		others := len(all) - holders[at{"", a.Problem}]
		for r := range runs[i] {
			n := holders[at{run: r}] - holders[at{r, a.Problem}]
			out[i] = out[i] || r != "" && n >= minShared && float64(n) >= maxShared*float64(others)
		}
	}
	return out
}

// runsOf are the runs of signs in the frame of a passage, the whole where it is more
// than one sign, and its words with the figures taken out: a template in words that
// no list has, or of a single figure.
func runsOf(text string) map[string]bool {
	frame, words := gates.Frame(text), strings.Fields(text)
	all := map[string]bool{frame: len(frame) > 1}
	for i := 0; i+run <= len(frame); i++ {
		all[frame[i:i+run]] = true
	}
	for i, word := range words {
		if strings.ContainsAny(word, "0123456789") {
			words[i] = "0"
		}
	}
	all[strings.Join(words, " ")] = true
	return all
}
