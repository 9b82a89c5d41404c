package pipeline

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// weights turn the judgements in the blocks into factors on the outcome. They
// belong to the configuration of the corpus: a block keeps the judgement alone.
type weights struct {
	config multiplier.Config
	// runs are the qualities of the runs by their id; nil where no factor
	// depends on them.
	runs map[string]multiplier.Quality
}

// score is the judge's grade of an attempt; nil where it gave none.
func score(x *block.Entry) *float64 {
	if x.Judgement.Outcome != arena.JudgeScored {
		return nil
	}
	return x.Judgement.Score
}

// factor is what an attempt's outcome is weighed with; nil where it is left
// out.
func (w *weights) factor(x *block.Entry) *float64 {
	if !x.Attempt.HasDialogue {
		return nil
	}
	return w.config.Factor(score(x), w.runs[x.Attempt.RunID])
}

// quality is what an attempt's reasoning counts as beside another's at the same
// problem: its own grade, or that of its run where the researcher lets this
// stand for a missing one.
func (w *weights) quality(x *block.Entry) *float64 {
	if own := score(x); own != nil || w.config.Unscored == multiplier.Excluded {
		return own
	}
	return w.runs[x.Attempt.RunID].Mean()
}

// reward is the outcome times the quality of the reasoning, 0 to 1.
func (w *weights) reward(x *block.Entry) float64 {
	if m := w.factor(x); m != nil && x.Outcome.Success {
		return *m
	}
	return 0
}
