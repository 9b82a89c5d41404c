package steps

import (
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/shopcalls"
)

// TeacherName is the versioned name of the rule of MatchTeachers.
const TeacherName = "teacher_tools_v1"

// Reasons of a verdict by MatchTeachers.
const (
	TeacherStep   Reason = "teacher_took_it"
	NoTeacherStep Reason = "no_teacher_took_it"
)

// MatchTeachers returns for each step of an attempt whether a teacher took the same step
// at the same problem. Steps are given as their calls. The teacher with the most
// matching steps counts, the first of equals.
//
// The matching steps are a longest common subsequence: students and teachers that find
// the same product need different numbers of searches, so that steps of one number
// rarely match, while their order has a meaning. Two steps match if they make a call of
// one name that, if the teacher's call names products, names one of them.
func MatchTeachers(attempt [][]arena.Call, teachers [][][]arena.Call) []arena.StepVerdict {
	var best []bool
	bestLength := -1
	for _, teacher := range teachers {
		matched, length := commonSteps(attempt, teacher)
		if length > bestLength {
			best = matched
			bestLength = length
		}
	}
	verdicts := make([]arena.StepVerdict, len(attempt))
	for i := range verdicts {
		v := arena.StepVerdict{
			Step:   i + 1,
			Need:   arena.StepWaste,
			Reason: string(NoTeacherStep),
		}
		if i < len(best) && best[i] {
			v.Need = arena.StepNeeded
			v.Reason = string(TeacherStep)
		}
		verdicts[i] = v
	}
	return verdicts
}

// commonSteps computes a longest common subsequence of the steps of a student (a) and of a teacher
// (b). It reports which steps of a are in the subsequence, and its length.
func commonSteps(a, b [][]arena.Call) (matched []bool, length int) {
	// longest[i][j] is the length of the subsequence of a[i:] and b[j:].
	longest := make([][]int, len(a)+1)
	longest[len(a)] = make([]int, len(b)+1)
	matches := make([][]bool, len(a))
	for i := len(a) - 1; i >= 0; i-- {
		longest[i] = make([]int, len(b)+1)
		matches[i] = make([]bool, len(b))
		for j := len(b) - 1; j >= 0; j-- {
			matches[i][j] = matchStep(a[i], b[j])
			if matches[i][j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	matched = make([]bool, len(a))
	i := 0
	j := 0
	for i < len(a) && j < len(b) {
		switch {
		case matches[i][j]:
			matched[i] = true
			i++
			j++
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return matched, longest[0][0]
}

// matchStep reports whether a step of a student's attempt matches one of a teacher's: both call a
// tool of the same name, and if the teacher's call has product ids as arguments, the student's call
// has one of them.
func matchStep(student, teacher []arena.Call) bool {
	for _, s := range student {
		for _, t := range teacher {
			if s.Name != t.Name {
				continue
			}
			products := shopcalls.ItemIDs(t.Arguments)
			named := func(id string) bool { return slices.Contains(products, id) }
			if len(products) == 0 || slices.ContainsFunc(shopcalls.ItemIDs(s.Arguments), named) {
				return true
			}
		}
	}
	return false
}
