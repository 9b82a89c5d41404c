// Package frames compares the passages that decide the grades of one agent's day.
// A person or model that reads results writes other words each time; a program
// fills the same frame again. The result is no matter of one attempt, whose grade
// does not change, but a flag of the agent's day.
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

// Two passages of a day at different problems are similar if their frames (see gates.Frame) have
// runLen adjacent letters in common, or are equal and longer than one letter, or if their words are
// equal up to figures. A day with minAlike such pairs or more is flagged if they are at least the
// share maxAlike of all pairs. docs/measured/judges.md has the shares of honest days. A program
// needs more than twenty frames, used equally often, to stay below.
const (
	// firstGate is the first gate that a passage can pass only by naming data of a result.
	firstGate = 3
	// runLen is the number of adjacent letters that two frames must have in common for their
	// passages to be similar.
	runLen = 5
	// minAlike is the minimum number of similar pairs of a flagged day, maxAlike the minimum share
	// of similar pairs among all pairs.
	minAlike = 3
	maxAlike = 0.1
	// maxCompared is the maximum number of passages of a day that are compared.
	maxCompared = 512
)

// Passage is the text that decided the grade of one attempt.
type Passage struct {
	Agent, Problem, Text string
}

// DecidingPassage returns the passage that a judgement cites for the last gate
// passed, a datum or a reasoned choice; empty if it cites none.
func DecidingPassage(j *arena.Judgement) string {
	text := ""
	for _, s := range j.Spans {
		if s.Gate >= firstGate {
			text = s.Quote
		}
	}
	return text
}

// Flag reports how alike the passages of one agent's day are.
type Flag struct {
	Agent string `json:"agent"`
	// Passages is the number of attempts that a passage decided.
	Passages int `json:"passages"`
	// Alike is the share of similar pairs, in one frame, among Pairs, the number of pairs of
	// passages at different problems.
	Alike float64 `json:"alike"`
	Pairs int     `json:"pairs"`
	// Copied is the share of passages that another agent has word for word. It has
	// no weight: it is unknown who copied whom, and an agent could copy a rival to
	// lower the rival's pay.
	Copied float64 `json:"copied"`
	// Framed reports whether the day is flagged, since too many pairs are similar.
	Framed bool `json:"framed"`
}

// Flags returns the flags of all agents, in the order of their names.
func Flags(passages []Passage) []Flag {
	byAgent := map[string][]Passage{}
	authors := map[string]map[string]bool{}
	for _, p := range passages {
		byAgent[p.Agent] = append(byAgent[p.Agent], p)
		if authors[p.Text] == nil {
			authors[p.Text] = map[string]bool{}
		}
		authors[p.Text][p.Agent] = true
	}
	if len(byAgent) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(byAgent))
	flags := make([]Flag, len(names))
	var wg sync.WaitGroup
	for i, agent := range names {
		wg.Go(func() {
			f := newFlag(byAgent[agent])
			for _, p := range byAgent[agent] {
				if len(authors[p.Text]) > 1 {
					f.Copied += 1 / float64(f.Passages)
				}
			}
			flags[i] = f
		})
	}
	wg.Wait()
	return flags
}

// newFlag compares the passages of one agent and returns its flag, without Copied. It does not
// compare attempts at one problem, since the same thought may decide them.
func newFlag(passages []Passage) Flag {
	slices.SortFunc(passages, func(a, b Passage) int {
		return cmp.Or(cmp.Compare(a.Problem, b.Problem), cmp.Compare(a.Text, b.Text))
	})
	f := Flag{Agent: passages[0].Agent, Passages: len(passages)}
	passages = passages[:min(len(passages), maxCompared)]

	// owners has, by run, a bit for each earlier passage that contains it; elsewhere is
	// the number of earlier passages at other problems.
	owners := map[string]*big.Int{}
	elsewhere := 0
	alikePairs := 0
	for i, p := range passages {
		if p.Problem != passages[elsewhere].Problem {
			elsewhere = i
		}
		f.Pairs += elsewhere
		similar := &big.Int{}
		for r := range passageRuns(p.Text) {
			if owners[r] == nil {
				owners[r] = &big.Int{}
			}
			similar.Or(similar, owners[r])
			owners[r].SetBit(owners[r], i, 1)
		}
		for k := range elsewhere {
			alikePairs += int(similar.Bit(k)) //nolint:gosec // 0 or 1
		}
	}
	f.Alike = float64(alikePairs) / float64(max(f.Pairs, 1))
	f.Framed = alikePairs >= minAlike && f.Alike >= maxAlike
	return f
}

// passageRuns returns what two similar passages have in common: each run of runLen adjacent letters
// of its frame, the frame if it is longer than one letter, and the passage's words with 0 in place
// of those with a digit. These words find two passages of one template even if the word lists know
// none of its words.
func passageRuns(text string) map[string]bool {
	runs := map[string]bool{}
	frame := gates.Frame(text)
	if len(frame) > 1 {
		runs[frame] = true
	}
	addRuns(runs, frame, runLen)
	words := strings.Fields(text)
	for i, word := range words {
		if strings.ContainsAny(word, "0123456789") {
			words[i] = "0"
		}
	}
	runs[strings.Join(words, " ")] = true
	return runs
}

// addRuns adds all runs of n adjacent letters of a frame to runs.
func addRuns(runs map[string]bool, frame string, n int) {
	for i := 0; i+n <= len(frame); i++ {
		runs[frame[i:i+n]] = true
	}
}

// A run of letters of a frame is a template if at least minShared attempts of its author at other
// problems have it, and at least the share maxShared of those: an author who writes in fewer than
// four forms is above it. In 1,060 attempts of public agents and by hand the share is 0.11 at most.
// Fewer attempts than minShared are chance.
const (
	maxShared = 0.25
	minShared = 5
)

// longRunLen is the number of adjacent letters by which any two thoughts are compared. It is longer
// than runLen, which is for the thought that decided the grade, since there are many thoughts that
// decide nothing.
const longRunLen = 8

// Thoughts are the texts of one attempt's thinking, and the one that decided its grade.
type Thoughts struct {
	Problem, Decided string
	Texts            []string
}

// runs returns the runs of letters by which attempts are compared: those of runLen in the frame of
// the deciding thought, and those of longRunLen in the frame of every thought.
func (t *Thoughts) runs() map[string]bool {
	runs := map[string]bool{}
	addRuns(runs, gates.Frame(t.Decided), runLen)
	for _, text := range t.Texts {
		addRuns(runs, gates.Frame(text), longRunLen)
	}
	return runs
}

// Templates reports for each attempt of one author whether its thoughts have a run of signs that is
// a template: many of the author's attempts at other problems have the run too.
func Templates(attempts []Thoughts) []bool {
	type key struct{ run, problem string }
	runs := make([]map[string]bool, len(attempts))
	perProblem := map[string]int{}
	total := map[string]int{}
	counts := map[key]int{}
	for i, a := range attempts {
		perProblem[a.Problem]++
		runs[i] = a.runs()
		for r := range runs[i] {
			total[r]++
			counts[key{r, a.Problem}]++
		}
	}
	templates := make([]bool, len(attempts))
	for i, a := range attempts {
		others := len(attempts) - perProblem[a.Problem]
		for r := range runs[i] {
			n := total[r] - counts[key{r, a.Problem}]
			if n >= minShared && float64(n) >= maxShared*float64(others) {
				templates[i] = true
			}
		}
	}
	return templates
}
