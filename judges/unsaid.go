package judges

import (
	"fmt"

	"github.com/trajectory-arena/arena"
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

// IsUndecided reports whether the reasons of an attempt may be those of its agent's client, so that its grade
// is withheld: the client adds sentences (frames.Origins), and the log cannot show which.
func IsUndecided(origin arena.Origin, isAdding bool) bool {
	return isAdding && origin == arena.OriginOpen
}

// Undecided returns a judgement without its grade, since the log cannot show whether a model or the
// agent's client wrote what was graded. It retains what the judge's answer cost.
func Undecided(j arena.Judgement) arena.Judgement {
	j.Outcome = arena.JudgeUndecided
	j.Detail = "the agent's client adds sentences to most of its thinking, and the log lacks replies that would show which sentences of this attempt a model wrote"
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
