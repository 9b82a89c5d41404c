package rows

import (
	"cmp"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Candidate is a scored attempt that may become one side of a preference pair. All candidates of
// one call have the same problem, harness and split.
type Candidate struct {
	SessionID string
	// Success and Judge decide which of two attempts is preferred. Judge is the judge's grade,
	// nil if there is none.
	Success bool
	Judge   *float64
	// NeverChosen reports whether the attempt may only be the rejected side.
	NeverChosen bool
	Tokens      int64
	Harness     string
	// Prompt and Completion are the two parts of the attempt in text form (see SplitCompletion).
	Prompt     []Msg
	Completion []Msg
}

// score returns the value from 0 to 1 by which the attempts at a problem are compared for
// preference pairs: 0.5 for success, plus half the judge's grade. A success therefore counts at
// least as much as any grade.
func (c *Candidate) score() float64 {
	s := 0.0
	if c.Success {
		s = 0.5
	}
	if c.Judge != nil {
		s += float64(*c.Judge / 2)
	}
	return s
}

// The reasons why one side of a pair is preferred.
const (
	PairOutcome = "outcome"
	PairJudge   = "judge"
	PairBoth    = "outcome_and_judge"
)

// PairRule is the rule by which attempts at one problem are paired for preference rows.
type PairRule struct {
	// PerProblem is the maximum number of pairs for one problem. Problems with many attempts
	// would dominate otherwise.
	PerProblem int
	// MinMargin is the minimum difference of scores. A step of 0.2 in a judge's grade is a
	// difference of 0.1.
	MinMargin float64
	// MaxLengthRatio is the maximum ratio of the longer attempt to the shorter one in tokens. It
	// keeps a trainer from learning length alone. 0 means no limit.
	MaxLengthRatio float64
}

// pairing is a possible preference pair of two attempts at one problem: the chosen one has the
// higher score, and margin is the difference of the scores.
type pairing struct {
	chosen, rejected *Candidate
	margin           float64
}

// Pairs returns preference rows of the attempts at one problem, the largest margin first. Each
// attempt occurs in at most one pair. Pairs of equal margin are sorted by the smaller difference
// in length, then by session id. Attempts with equal texts are not paired.
func (r PairRule) Pairs(cs []Candidate, f *Facts) []Pref {
	var out []Pref
	used := map[*Candidate]bool{}
	for _, p := range r.sortedPairings(cs) {
		if len(out) == r.PerProblem {
			break
		}
		isUsed := used[p.chosen] || used[p.rejected]
		if isUsed || slices.Equal(p.chosen.Completion, p.rejected.Completion) {
			continue
		}
		used[p.chosen] = true
		used[p.rejected] = true
		out = append(out, p.row(f))
	}
	return out
}

// sortedPairings returns all preference pairs of two attempts in cs that the rule allows. They are
// sorted by the difference of scores, the largest first, then by the smaller difference in length,
// then by session ids.
func (r PairRule) sortedPairings(cs []Candidate) []pairing {
	var pairings []pairing
	for i := range cs {
		for j := range cs {
			p := pairing{&cs[i], &cs[j], cs[i].score() - cs[j].score()}
			if r.allows(p) {
				pairings = append(pairings, p)
			}
		}
	}
	slicesx.SortFunc(pairings, func(a, b pairing) int {
		return cmp.Or(
			cmp.Compare(b.margin, a.margin),
			cmp.Compare(a.lengthDifference(), b.lengthDifference()),
			cmp.Compare(a.chosen.SessionID, b.chosen.SessionID),
			cmp.Compare(a.rejected.SessionID, b.rejected.SessionID),
		)
	})
	return pairings
}

func (r PairRule) allows(p pairing) bool {
	// Scores are sums of tenths, whose rounding errors are far below the tolerance.
	const tolerance = 1e-9
	if p.chosen.NeverChosen || p.margin <= 0 || p.margin < r.MinMargin-tolerance {
		return false
	}
	longer := float64(max(p.chosen.Tokens, p.rejected.Tokens))
	shorter := float64(min(p.chosen.Tokens, p.rejected.Tokens))
	return r.MaxLengthRatio == 0 || longer <= r.MaxLengthRatio*shorter
}

// lengthDifference returns the absolute difference in tokens between the lengths of the pair's
// chosen and rejected attempts.
func (p pairing) lengthDifference() float64 {
	return math.Abs(float64(p.chosen.Tokens - p.rejected.Tokens))
}

func (p pairing) reason() string {
	if p.chosen.Success == p.rejected.Success {
		return PairJudge
	}
	bothJudged := p.chosen.Judge != nil && p.rejected.Judge != nil
	if bothJudged && *p.chosen.Judge > *p.rejected.Judge {
		return PairBoth
	}
	return PairOutcome
}

func (p pairing) row(f *Facts) Pref {
	return Pref{
		Prompt:          p.chosen.Prompt,
		Chosen:          p.chosen.Completion,
		Rejected:        p.rejected.Completion,
		Harness:         p.chosen.Harness,
		TaskType:        taskType(f),
		Split:           f.Split,
		Reason:          p.reason(),
		Margin:          p.margin,
		ChosenScore:     p.chosen.score(),
		RejectedScore:   p.rejected.score(),
		ChosenTokens:    p.chosen.Tokens,
		RejectedTokens:  p.rejected.Tokens,
		ChosenSession:   p.chosen.SessionID,
		RejectedSession: p.rejected.SessionID,
		PipelineVersion: f.PipelineVersion,
		Origin:          f.Origin,
	}
}

// SplitCompletion splits an attempt in text form after the customer's request, into the input of
// the model and what follows. tools are the definitions for the system turn.
func SplitCompletion(ms []chat.Message, tools []string) (prompt, completion []Msg) {
	turns := chat.Text(ms, tools)
	request := slices.IndexFunc(turns, func(m Msg) bool {
		return m.Role == chat.User
	})
	return turns[:request+1], turns[request+1:]
}

// The reasons for the label of a KTO row.
const (
	LabelSolved   = "solved"
	LabelUnsolved = "unsolved"
)

// NewKTO returns the KTO row of an attempt. Its label is true if the attempt solved its problem.
func NewKTO(c *Candidate, f *Facts) KTO {
	reason := LabelUnsolved
	if c.Success {
		reason = LabelSolved
	}
	return KTO{
		Prompt:          c.Prompt,
		Completion:      c.Completion,
		Label:           c.Success,
		Reason:          reason,
		Score:           c.score(),
		NTokens:         c.Tokens,
		SessionID:       c.SessionID,
		Harness:         c.Harness,
		TaskType:        taskType(f),
		Split:           f.Split,
		PipelineVersion: f.PipelineVersion,
		Origin:          f.Origin,
	}
}
