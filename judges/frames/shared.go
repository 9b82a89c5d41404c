package frames

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/digest"
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

// Marks are what the comparison with other agents says of a passage.
type Marks struct {
	// IsShared reports whether other agents of the day have its wording at other problems.
	IsShared bool
	// IsCopied reports whether another agent has the same text.
	IsCopied bool
}

// Or returns the marks that m or o has.
func (m Marks) Or(o Marks) Marks {
	return Marks{m.IsShared || o.IsShared, m.IsCopied || o.IsCopied}
}

// textKey begins the key of a passage's text. No day begins so.
const textKey = "text "

// Keys returns the keys by which the passages of all agents are compared: a hash of p's text and,
// if the day is known, its wordings, each with the day. A passage without text has none.
func (p *Passage) Keys() []string {
	if p.Text == "" {
		return nil
	}
	keys := []string{textKey + digest.SHA256([]byte(p.Text))}
	if p.Day == "" {
		return keys
	}
	for _, wording := range wordingsOf(p.Text) {
		keys = append(keys, p.Day+" "+wording)
	}
	return keys
}

// Compare returns the marks of the passages that have this key, in their order. They must be all
// that have it.
func Compare(key string, passages []Passage) []Marks {
	marks := make([]Marks, len(passages))
	if strings.HasPrefix(key, textKey) {
		isCopied := slices.ContainsFunc(passages, func(p Passage) bool { return p.Agent != passages[0].Agent })
		for i := range marks {
			marks[i].IsCopied = isCopied
		}
		return marks
	}
	for i, is := range shared(passages) {
		marks[i].IsShared = is
	}
	return marks
}

// shared reports, for each passage with one wording, whether at least minAlike other agents have it at
// other problems with other values. An equal text is no evidence: it may be about one problem that was
// asked in other words. A request that most problems of these passages have is taken for none.
func shared(passages []Passage) []bool {
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
