package pipeline

import (
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
)

// The stages of a run in order. A record leaves at the first that takes it
// out.
const (
	stageRead   = "read"
	stageFilter = "filter"
	stageScore  = "score"
	stageJudge  = "judge"
	stageGuard  = "guard"
	stageRank   = "rank"
	stageSplit  = "split"
)

var stages = []string{stageRead, stageFilter, stageScore, stageJudge, stageGuard, stageRank, stageSplit}

// fate is what became of one record: the stage that took it out and why, or
// its split and its rank where it stayed.
type fate struct {
	stage  string
	reason string
	// failed reports whether an instrument or the reading failed: the record itself
	// was not judged bad.
	failed bool
	split  string
	// rank counts from 1 among the attempts at the problem that stayed.
	rank int
	// axis is the verdict after the look at the agent's whole day.
	axis arena.Axis
}

func (f fate) kept() bool { return f.stage == "" }

// funnel counts fates stage by stage and checks that nothing got lost: In =
// Out + Failed + the sum of Dropped, at every stage and in all.
func funnel(stages []string, fates []fate) ([]corpus.Stage, error) {
	out := make([]corpus.Stage, len(stages))
	left := int64(len(fates))
	for i, name := range stages {
		s := corpus.Stage{Name: name, In: left, Dropped: map[string]int64{}, Failures: map[string]int64{}}
		for _, f := range fates {
			switch {
			case f.stage != name:
			case f.failed:
				s.Failed++
				s.Failures[f.reason]++
				left--
			default:
				s.Dropped[f.reason]++
				left--
			}
		}
		s.Out = left
		out[i] = s
	}
	kept := int64(0)
	for _, f := range fates {
		if f.kept() {
			kept++
		} else if !slices.Contains(stages, f.stage) {
			return nil, fmt.Errorf("count records: a record left at the unknown stage %q", f.stage)
		}
	}
	if kept != left {
		return nil, fmt.Errorf("count records: %d of %d are left, %d were kept", left, len(fates), kept)
	}
	return out, corpus.Balance(out)
}
