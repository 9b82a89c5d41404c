package judges

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/llm"
)

// Unsaid returns the judgement of an attempt about which a judge is not asked, because
// thinking that stands in no reply of the log was written by a program. share is the part of
// the thinking that no reply holds, 0 to 1.
func Unsaid(judge string, share float64) arena.Judgement {
	return arena.Judgement{
		Judge:   judge,
		Outcome: arena.JudgeUnsaid,
		Detail:  fmt.Sprintf("%.3g %% of the thinking stands in no reply of the log: no model said it, so there is nothing to grade", 100*share),
	}
}

// Ask returns the answer of a judge on graded, an attempt's dialogue. logged is the part of it that
// logged replies contain, nil if that is all. If the judge grades logged otherwise, it is unknown
// who wrote the reasons: the grade is withheld, and low is that of logged. A judge that asks models
// is asked about logged only if it cites words that logged lacks.
func Ask(
	ctx context.Context,
	judge Judge,
	t *arena.Trace,
	graded, logged *arena.Dialogue,
) (j arena.Judgement, low *arena.Judgement, err error) {
	j, err = judge.Judge(ctx, t, graded)
	if err != nil || logged == nil || j.Outcome != arena.JudgeScored {
		return j, nil, err
	}
	if _, asksModels := judge.(*llm.Judge); asksModels && !citesMore(&j, graded, logged) {
		return j, nil, nil
	}
	second, err := judge.Judge(ctx, t, logged)
	if err != nil || second.Outcome != arena.JudgeScored {
		return second, nil, err // the judge is asked again another time
	}
	if *second.Score == *j.Score {
		return j, nil, nil
	}
	return undecided(j, &second), &second, nil
}

// citesMore reports whether a judgement cites words of the thinking in graded that are not in
// logged.
func citesMore(j *arena.Judgement, graded, logged *arena.Dialogue) bool {
	all := thinkingOf(graded)
	some := thinkingOf(logged)
	return slices.ContainsFunc(j.Spans, func(s arena.Span) bool {
		quote := strings.Join(strings.Fields(s.Quote), " ")
		return strings.Contains(all, quote) && !strings.Contains(some, quote)
	})
}

func thinkingOf(d *arena.Dialogue) string {
	var words []string
	for i := range d.Turns {
		words = append(words, strings.Fields(d.Turns[i].Think)...)
	}
	return strings.Join(words, " ")
}

// undecided returns a judgement without its grade. It retains what the judge's two answers cost.
func undecided(j arena.Judgement, second *arena.Judgement) arena.Judgement {
	j.PromptTokens += second.PromptTokens
	j.CompletionTokens += second.CompletionTokens
	if j.CostUSD != nil && second.CostUSD != nil {
		j.CostUSD = new(*j.CostUSD + *second.CostUSD)
	}
	j.Outcome = arena.JudgeUndecided
	j.Detail = "the log lacks replies that would show whether a model wrote the reasons: with only what its replies contain, the grade is another"
	j.Score = nil
	j.Expected = nil
	j.Votes = nil
	j.Gates = nil
	j.Spans = nil
	j.Doubt = ""
	return j
}

// NotMeasured returns the judgement on an attempt of a domain on which a judge was not measured.
func NotMeasured(judge string) arena.Judgement {
	return arena.Judgement{
		Judge:   judge,
		Outcome: arena.JudgeNotMeasured,
		Detail:  "the judge was not measured on the domain of the attempt",
	}
}

// NotAsked returns the judgement on an attempt that cannot become a row and was not drawn for grading.
func NotAsked(judge string) arena.Judgement {
	return arena.Judgement{
		Judge:   judge,
		Outcome: arena.JudgeNotAsked,
		Detail:  "the attempt cannot become a row and was not drawn for grading",
	}
}
