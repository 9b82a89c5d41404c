package frames

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// maxOthers is the share, 0 to 1, of an agent's passages from which on wordings that minAlike other
// agents of the day have at other problems flag the agent. Of 77 agents of public runs none reaches
// it. Who copies an agent's sentences to have it flagged needs three agents on the same day.
const maxOthers = 0.25

// Of passages with one wording, those of maxAgents agents are compared, and maxUses of each.
const (
	maxAgents = 64
	maxUses   = 8
)

// identify returns, for each passage, what identifies its problem: the request, since attempts at
// equal requests may rightly decide alike. A request that most problems have, at least minShared,
// says nothing of them, as where each task is in files: then it is the problem's ID.
func identify(passages []Passage) []string {
	seen := map[Passage]bool{}
	problems := map[string]int{} // by request
	for _, p := range passages {
		id := Passage{Problem: p.Problem, Request: p.Request}
		if !seen[id] {
			seen[id] = true
			problems[p.Request]++
		}
	}
	return slicesx.Map(passages, func(p Passage) string {
		n := problems[p.Request]
		if p.Request == "" || n >= minShared && 2*n > len(seen) {
			return p.Problem
		}
		return p.Request
	})
}

// CountProblems returns the number of problems that a Window tells apart.
func CountProblems(passages []Passage) int {
	different := map[string]bool{}
	for _, id := range identify(passages) {
		different[id] = true
	}
	return len(different)
}

// Wordings returns the keys by which the passages of all agents are compared: the wordings of p,
// each with the day. It returns none if the day is unknown.
func (p *Passage) Wordings() []string {
	if p.Day == "" {
		return nil
	}
	return slicesx.Map(wordingsOf(p.Text), func(wording string) string {
		return strings.Join([]string{p.Day, wording}, " ")
	})
}

// Shared reports, for each passage with one wording, whether at least minAlike other agents have it at
// other problems with other values. An equal text is no evidence: it may be about one problem that was
// asked in other words. A request that most problems of these passages have is taken for none.
func Shared(passages []Passage) []bool {
	problems := identify(passages)
	order := make([]int, len(passages)) // that of the passages does not matter
	for i := range order {
		order[i] = i
	}
	slicesx.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(problems[a], problems[b]), cmp.Compare(passages[a].Text, passages[b].Text))
	})
	byAgent := map[string][]int{} // at most maxUses passages of each, two at a problem
	for _, i := range order {
		uses := byAgent[passages[i].Agent]
		known := slicesx.CountFunc(uses, func(k *int) bool { return problems[*k] == problems[i] })
		isEqual := known > 0 && passages[uses[len(uses)-1]].Text == passages[i].Text
		if known < 2 && !isEqual && len(uses) < maxUses {
			byAgent[passages[i].Agent] = append(uses, i)
		}
	}
	agents := slicesx.SortedKeys(byAgent)
	isShared := make([]bool, len(passages))
	for i, p := range passages {
		others := 0
		for _, agent := range agents[:min(len(agents), maxAgents)] {
			hasOther := agent != p.Agent && slices.ContainsFunc(byAgent[agent], func(k int) bool {
				return problems[k] != problems[i] && passages[k].Text != p.Text
			})
			if hasOther {
				others++
			}
		}
		isShared[i] = others >= minAlike
	}
	return isShared
}

// MarkShared sets IsShared of each of the passages, which are all passages of some days.
func MarkShared(passages []Passage) {
	uses := map[string][]int{}
	for i := range passages {
		if passages[i].Text == "" {
			continue
		}
		for _, wording := range passages[i].Wordings() {
			uses[wording] = append(uses[wording], i)
		}
	}
	for _, indices := range uses {
		isShared := Shared(slicesx.Map(indices, func(i int) Passage { return passages[i] }))
		for k, i := range indices {
			passages[i].IsShared = passages[i].IsShared || isShared[k]
		}
	}
}
