package steps

import (
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
)

// TeacherName is the versioned name of the rule of Matched.
const TeacherName = "teacher_tools_v1"

// Reasons of a verdict by Matched.
const (
	Teachers  Reason = "teacher_took_it"
	OwnDetour Reason = "no_teacher_took_it"
)

// Matched says of each step of an attempt, given as its calls, whether a
// teacher took the same step at the same problem. Of several teachers the one
// counts who shares the most steps, the first of equals.
//
// The steps that both share are a longest common subsequence: students and
// teachers that find the same product take a different number of searches to
// it, so that steps of one number are rarely the same step, while their order
// means something. Two steps are the same if they make a call of one name that,
// where the teacher's names products, names one of them.
func Matched(attempt [][]arena.Call, teachers [][][]arena.Call) []arena.StepVerdict {
	var best []bool
	most := -1
	for _, teacher := range teachers {
		labels, shared := common(attempt, teacher)
		if shared > most {
			best, most = labels, shared
		}
	}
	verdicts := make([]arena.StepVerdict, len(attempt))
	for i := range verdicts {
		verdicts[i] = arena.StepVerdict{Step: i + 1, Need: arena.StepWaste, Reason: string(OwnDetour)}
		if i < len(best) && best[i] {
			verdicts[i].Need, verdicts[i].Reason = arena.StepNeeded, string(Teachers)
		}
	}
	return verdicts
}

// common marks the steps of a that are in a longest common subsequence with b.
func common(a, b [][]arena.Call) (labels []bool, shared int) {
	// longest[i][j] is the length of the subsequence of a[i:] and b[j:].
	longest := make([][]int, len(a)+1)
	longest[len(a)] = make([]int, len(b)+1)
	same := make([][]bool, len(a))
	for i := len(a) - 1; i >= 0; i-- {
		longest[i], same[i] = make([]int, len(b)+1), make([]bool, len(b))
		for j := len(b) - 1; j >= 0; j-- {
			if same[i][j] = sameStep(a[i], b[j]); same[i][j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	labels = make([]bool, len(a))
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case same[i][j]:
			labels[i] = true
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return labels, longest[0][0]
}

func sameStep(mine, teachers []arena.Call) bool {
	for _, m := range mine {
		for _, t := range teachers {
			if m.Name != t.Name {
				continue
			}
			wanted := calls.Products(t.Arguments)
			shared := func(id string) bool { return slices.Contains(wanted, id) }
			if len(wanted) == 0 || slices.ContainsFunc(calls.Products(m.Arguments), shared) {
				return true
			}
		}
	}
	return false
}
