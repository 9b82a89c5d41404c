package rows

import (
	"cmp"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/corpus/chat"
)

// Candidate is one scored attempt at a problem that pairs may be made of. All
// candidates of one call share problem, harness and split.
type Candidate struct {
	SessionID string
	// Success and Judge decide which attempt is preferred; Judge is nil where
	// no judge answered.
	Success bool
	Judge   *float64
	// Unwanted attempts are never the chosen ones.
	Unwanted bool
	Tokens   int64
	// Prompt and Completion are the attempt in its harness.
	Prompt     []Msg
	Completion []Msg
}

// score orders candidates: an outcome weighs more than any grade of reasoning.
// It lies in 0 to 1: half for success, half the judge's grade.
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

// The reasons of a pair.
const (
	PairOutcome = "outcome"
	PairJudge   = "judge"
	PairBoth    = "outcome_and_judge"
)

// PairRule says which attempts become pairs.
type PairRule struct {
	// PerProblem bounds the pairs of one problem, so that problems with many
	// attempts do not crowd out the rest.
	PerProblem int
	// MinMargin is the least difference of scores; half a judge's step of 0.2
	// is 0.1, so that a pair differs at least by one grade or the outcome.
	MinMargin float64
	// MaxLengthRatio bounds the longer attempt over the shorter in tokens; 0
	// means no bound. It keeps a trainer from learning length alone.
	MaxLengthRatio float64
}

type pairing struct {
	chosen, rejected *Candidate
	margin           float64
}

// Pairs makes preference rows of the attempts at one problem: widest margin
// first, each attempt at most once on either side, ties broken by the smaller
// difference in length and then by session id. Attempts whose texts are equal
// make no pair.
func (r PairRule) Pairs(cs []Candidate, f *Facts) []Pref {
	var out []Pref
	used := map[*Candidate]bool{}
	for _, p := range r.ordered(cs) {
		if len(out) == r.PerProblem {
			break
		}
		if !used[p.chosen] && !used[p.rejected] && !slices.Equal(p.chosen.Completion, p.rejected.Completion) {
			used[p.chosen], used[p.rejected] = true, true
			out = append(out, p.row(f))
		}
	}
	return out
}

func (r PairRule) ordered(cs []Candidate) []pairing {
	var all []pairing
	for i := range cs {
		for j := range cs {
			p := pairing{&cs[i], &cs[j], cs[i].score() - cs[j].score()}
			a, b := float64(cs[i].Tokens), float64(cs[j].Tokens)
			fit := r.MaxLengthRatio == 0 || max(a, b) <= r.MaxLengthRatio*min(a, b)
			// scores are sums of tenths: their rounding errors are far below 1e-9
			if !cs[i].Unwanted && p.margin > 0 && p.margin >= r.MinMargin-1e-9 && fit {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b pairing) int {
		return cmp.Or(cmp.Compare(b.margin, a.margin), cmp.Compare(a.gap(), b.gap()),
			cmp.Compare(a.chosen.SessionID, b.chosen.SessionID), cmp.Compare(a.rejected.SessionID, b.rejected.SessionID))
	})
	return all
}

func (p pairing) gap() float64 { return math.Abs(float64(p.chosen.Tokens - p.rejected.Tokens)) }

func (p pairing) reason() string {
	graded := p.chosen.Judge != nil && p.rejected.Judge != nil && *p.chosen.Judge > *p.rejected.Judge
	switch {
	case p.chosen.Success == p.rejected.Success:
		return PairJudge
	case graded:
		return PairBoth
	default:
		return PairOutcome
	}
}

func (p pairing) row(f *Facts) Pref {
	return Pref{
		Prompt: p.chosen.Prompt, Chosen: p.chosen.Completion, Rejected: p.rejected.Completion,
		Harness: f.Harness.Name, TaskType: taskType(f), Split: f.Split,
		Reason: p.reason(), Margin: p.margin,
		ChosenScore: p.chosen.score(), RejectedScore: p.rejected.score(),
		ChosenTokens: p.chosen.Tokens, RejectedTokens: p.rejected.Tokens,
		ChosenSession: p.chosen.SessionID, RejectedSession: p.rejected.SessionID,
		PipelineVersion: f.PipelineVersion, Origin: f.Origin,
	}
}

// Completion splits the text form of an attempt after the request: what a
// model is given, and what it did.
func Completion(ms []chat.Message, tools []string) (prompt, completion []Msg) {
	all := chat.Text(ms, tools)
	i := slices.IndexFunc(all, func(m Msg) bool { return m.Role == chat.User }) + 1
	return all[:i], all[i:]
}

// The reasons of a KTO label.
const (
	LabelSolved   = "solved"
	LabelUnsolved = "unsolved"
)

// NewKTO makes the unpaired row of an attempt: wanted if it solved its problem.
func NewKTO(c *Candidate, f *Facts) KTO {
	reason := LabelUnsolved
	if c.Success {
		reason = LabelSolved
	}
	return KTO{
		Prompt: c.Prompt, Completion: c.Completion, Label: c.Success, Reason: reason,
		Score: c.score(), NTokens: c.Tokens, SessionID: c.SessionID,
		Harness: f.Harness.Name, TaskType: taskType(f), Split: f.Split,
		PipelineVersion: f.PipelineVersion, Origin: f.Origin,
	}
}
