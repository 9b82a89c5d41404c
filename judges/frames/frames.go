// Package frames compares the passages that decide the grades of one agent's attempts. A person
// or a model that reads results writes different words each time. A program fills the same
// template again. The comparison does not change the grade of an attempt; it flags the agent's
// attempts of a day.
package frames

import (
	"cmp"
	"math/big"
	"slices"
	"sync"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Two passages of a day at different problems are similar if their frames (see gates.Frame) have
// runLen adjacent letters in common, or are equal and longer than one letter, or if their words are
// equal up to figures. A day with minAlike such pairs or more is flagged if they are at least the
// share maxAlike of all pairs. A program needs some twenty frames, used equally often, to stay below.
// A day is also flagged if minAlike passages or more, and the share maxAlike of all, have a wording
// (see gates.Wordings) of a passage at another problem. A program that uses fifty sentences at random
// is then found in days of 20 passages, but one whose sentences never repeat within a day is not.
// docs/measured/judges.md has the shares of honest days.
const (
	// minAlike and maxAlike are the limits from which an agent is flagged: at least minAlike pairs
	// of its passages at different problems are similar, and these are at least the share maxAlike
	// of all such pairs. The same limits also apply to the number and the share of passages that
	// repeat a wording.
	minAlike = 3
	maxAlike = 0.1
	// maxCompared is the maximum number of passages of one agent that are compared with each other.
	// Passages beyond it are still counted.
	maxCompared = 512
)

// Flag is the result of comparing the passages of one agent's attempts.
type Flag struct {
	Agent string `json:"agent"`
	// Passages is the number of attempts whose grade a passage decided.
	Passages int `json:"passages"`
	// Pairs is the number of pairs of passages at different problems. Alike is the share of
	// similar pairs among them.
	Alike float64 `json:"alike"`
	Pairs int     `json:"pairs"`
	// Repeated is the share of passages with a wording of a passage of the agent at another problem.
	Repeated float64 `json:"repeated"`
	// Shared is the share of passages with a wording that other agents of the day have at other
	// problems.
	Shared float64 `json:"shared"`
	// Copied is the share of passages that another agent has word for word. It has
	// no weight: it is unknown who copied whom, and an agent could copy a rival to
	// lower the rival's pay.
	Copied float64 `json:"copied"`
	// Framed reports whether the day is flagged, since too many pairs are similar or too many wordings
	// are repeated.
	Framed bool `json:"framed"`
}

// Flags returns the flags of the agents that have passages, sorted by name. The marks of the
// passages are those of Compare, joined over their keys.
func Flags(passages []Passage) []Flag {
	byAgent := map[string][]Passage{}
	for _, p := range passages {
		if p.Text != "" {
			byAgent[p.Agent] = append(byAgent[p.Agent], p)
		}
	}
	if len(byAgent) == 0 {
		return nil
	}
	names := slicesx.SortedKeys(byAgent)
	flags := make([]Flag, len(names))
	var wg sync.WaitGroup
	for i, agent := range names {
		wg.Go(func() {
			f := Flag{Agent: agent}
			f.compare(byAgent[agent])
			flags[i] = f
		})
	}
	wg.Wait()
	return flags
}

// compare compares the passages of thinking that decided the grades of one agent's attempts, at
// most maxCompared of them. It sets what f says on whether the agent's thinking looks like one
// template filled in again and again. Passages at the same problem are not compared, since two
// attempts may rightly decide alike there. It sorts passages.
func (f *Flag) compare(passages []Passage) {
	for i, problem := range identify(passages) {
		passages[i].Problem = problem
	}
	slicesx.SortFunc(passages, func(a, b Passage) int {
		return cmp.Or(cmp.Compare(a.Problem, b.Problem), cmp.Compare(a.Text, b.Text))
	})
	f.Passages = len(passages)
	f.Copied = share(slicesx.CountFunc(passages, func(p *Passage) bool { return p.IsCopied }), len(passages))
	passages = passages[:min(len(passages), maxCompared)]

	// owners maps a run of letters to a bit set of the earlier passages that contain it.
	// elsewhere is the number of earlier passages at other problems.
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
	f.Alike = share(alikePairs, f.Pairs)
	repeated := countRepeated(passages)
	f.Repeated = share(repeated, len(passages))
	isRepeated := repeated >= minAlike && f.Repeated >= maxAlike
	shared := slicesx.CountFunc(passages, func(p *Passage) bool { return p.IsShared })
	f.Shared = share(shared, len(passages))
	isShared := shared >= minAlike && f.Shared >= maxOthers
	f.Framed = isRepeated || isShared || alikePairs >= minAlike && f.Alike >= maxAlike
}

// countRepeated counts the passages whose wording (the words without names and figures) occurs
// again in a passage at another problem.
func countRepeated(passages []Passage) int {
	problems := map[string]map[string]bool{}
	wordings := make([][]string, len(passages))
	for i, p := range passages {
		wordings[i] = wordingsOf(p.Text)
		for _, wording := range wordings[i] {
			if problems[wording] == nil {
				problems[wording] = map[string]bool{}
			}
			problems[wording][p.Problem] = true
		}
	}
	return slicesx.CountFunc(wordings, func(own *[]string) bool {
		return slices.ContainsFunc(*own, func(wording string) bool { return len(problems[wording]) > 1 })
	})
}

// share returns the share of n in total, 0 if total is 0.
func share(n, total int) float64 { return float64(n) / float64(max(total, 1)) }
