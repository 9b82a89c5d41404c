package judges_test

import (
	"context"
	"errors"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges"
)

// scores is a judge that gives the attempts' grades by their thinking. It counts its answers.
type scores struct {
	byThought map[string]float64
	n         int
}

func (s *scores) Judge(_ context.Context, _ *arena.Trace, d *arena.Dialogue) (arena.Judgement, error) {
	s.n++
	score, ok := s.byThought[d.Turns[0].Think]
	switch {
	case d.Turns[0].Think == "unreachable":
		return arena.Judgement{Outcome: arena.JudgeFailed}, nil
	case !ok:
		return arena.Judgement{}, errors.New("unknown thought")
	}
	return arena.Judgement{Outcome: arena.JudgeScored, Score: &score, Spans: []arena.Span{{Gate: 2}}}, nil
}

// TestAGradeThatNoReplyShowsIsWithheld holds that an attempt whose log lacks replies has the grade
// that it has with and without what they may contain, or none.
func TestAGradeThatNoReplyShowsIsWithheld(t *testing.T) {
	t.Parallel()
	thinking := func(text string) *arena.Dialogue { return &arena.Dialogue{Turns: []arena.Turn{{Think: text}}} }
	for name, c := range map[string]struct {
		logged *arena.Dialogue
		want   arena.JudgeOutcome
		asked  int
		hasLow bool
	}{
		"all is logged":      {nil, arena.JudgeScored, 1, false},
		"the rest is enough": {thinking("reason"), arena.JudgeScored, 2, false},
		"the second fails":   {thinking("unreachable"), arena.JudgeFailed, 2, false},
		"the rest is less":   {thinking(""), arena.JudgeUndecided, 2, true},
	} {
		judge := &scores{byThought: map[string]float64{"reason more": 0.9, "reason": 0.9, "": 0.3}}
		j, low, err := judges.Ask(t.Context(), judge, &arena.Trace{}, thinking("reason more"), c.logged)
		if err != nil || j.Outcome != c.want || judge.n != c.asked {
			t.Errorf("%s: %+v, %d questions, %v", name, j, judge.n, err)
		}
		if (low != nil) != c.hasLow || (j.Score == nil) != (j.Outcome != arena.JudgeScored) {
			t.Errorf("%s: grade %+v, of what is logged %+v", name, j, low)
		}
	}
	if _, _, err := judges.Ask(t.Context(), &scores{}, &arena.Trace{}, thinking("a"), nil); err == nil {
		t.Error("a failure is a grade")
	}
}
