package evaluate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/environment"
	"github.com/trajectory-arena/arena/environment/reward"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/student"
)

type judge = judges.Judge

// TestServeCountsEqualRequestsOnce checks that the first line of a server says that reasoning is never paid
// if its problems have too few different requests, since passages are compared by request.
func TestServeCountsEqualRequestsOnce(t *testing.T) {
	t.Parallel()
	for requests, isNever := range map[int]bool{frames.MinProblems: false, frames.MinProblems - 1: true} {
		var p student.Problems
		for i := range frames.MinProblems + 50 {
			p.All = append(p.All, arena.Problem{Query: fmt.Sprint("a lamp ", i%requests)})
			p.IDs = append(p.IDs, fmt.Sprint(i))
		}
		e := &environment.Environment{Problems: p, Rewarder: &environment.Rewarder{Judge: struct{ judge }{}, Weights: reward.Weights{"judge": 1}}}
		if text := comparedText(e); strings.Contains(text, "more than there are") != isNever {
			t.Errorf("%d requests: %s", requests, text)
		}
	}
}
