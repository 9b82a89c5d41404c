package pipeline

import (
	"context"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/records"
	"github.com/trajectory-arena/arena/pipeline/reports"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
	"github.com/trajectory-arena/arena/traces"
)

// The names of the stages of a build, in order. A dropped record is counted at the first stage that
// drops it.
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

// recordedStages are the stages if attempts are taken as they were recorded. The stage filter drops
// what no row can represent.
var recordedStages = []string{stageRead, stageFilter, stageGuard, stageRank}

// stages returns the names of the stages of the run.
func (r *Run) stages() []string {
	if r.Config.Recorded {
		return recordedStages
	}
	return stages
}

// The codes of the reasons for which a build drops a record, in addition to those of the reader, the
// filter and the judge.
const (
	reasonDuplicate    = "duplicate_attempt"    // the same record was read before
	reasonCollision    = "id_collision"         // another attempt with other content has its ID
	reasonNoRow        = "no_row"               // no row can be made from it
	reasonProblem      = "unknown_problem"      // problems.jsonl lacks its problem
	reasonNoScore      = "no_score"             // the outcome cannot be scored
	reasonUndeclared   = "undeclared_outcome"   // the source states no reward
	reasonBroken       = "infrastructure_error" // the attempt ended in an error that is not the agent's
	reasonEnvironment  = "environment_error"    // the environment failed during the episode: it is no attempt
	reasonVerifier     = "verifier_error"       // the verifier failed on the episode: it is no attempt
	reasonUnsuccessful = "unsuccessful"         // the outcome is no success
	reasonReward       = "below_min_reward"     // the reward is under select.min_reward
	reasonUnselected   = "not_selected"         // select.where does not select it
	reasonTop          = "beyond_top"           // the problem already has select.top better attempts
	reasonNeverTouch   = "never_touch"          // its problem is in the pool that is neither trained on nor evaluated on
	reasonHeldOut      = "held_out"             // its problem is in a cluster with a problem of a held-out file
)

// decider decides on the records of one partition of the inputs.
type decider struct {
	*grouper
	// odds are the filter's evidence on who made the calls of each attempt (a model or a program), from
	// all attempts of its agent, by input and entry.
	odds map[int][]habits.Odds
	// files has the number of records of each trace file of the inputs, and counts all other counts.
	files  map[int][]traces.Summary
	counts reports.Counts
	out    *shuffle.Store
}

// decisionOn returns the decision on the record at pos, without regard to other attempts at its
// problem. The decision's field Stage is empty if the record is kept.
func (g *decider) decisionOn(pos records.Position, x *block.Entry) choose.Decision {
	if x.Fault != nil {
		return choose.Decision{Stage: stageRead, Reason: x.Fault.Reason, Failed: true}
	}
	switch g.CopyOf(pos) {
	case records.Duplicate:
		return choose.Decision{Stage: stageRead, Reason: reasonDuplicate}
	case records.Collision:
		if !g.session.Config.Recorded {
			return choose.Decision{Stage: stageRead, Reason: reasonCollision}
		}
	case records.Original:
	}
	s := g.revised(pos, x)
	d := g.stageDecision(x, &s)
	d.Axis = s.Axis
	d.Stripped = s.ThinkingStripped
	return d
}

// isSelected reports whether the expression select.where of the configuration selects the attempt
// at pos, with d as the decision on it. It is true if there is no expression. Otherwise isSelected
// reads the attempt's stored results again.
func (g *decider) isSelected(pos records.Position, d choose.Decision) (bool, error) {
	s := g.session
	if s.where == nil {
		return true, nil
	}
	r, err := s.openBlock(pos.Input)
	if err != nil {
		return false, err
	}
	defer r.Close()
	x, err := r.Entry(pos.Place, block.PartFound|block.PartStructure)
	if err != nil {
		return false, err
	}
	r.complete(x, pos.Entry)
	structure := g.revised(pos, x)
	if s.Config.Recorded { // there is one split
		d.Split = corpus.SplitTrain
	}
	line := &where.Line{
		Attempt:  s.attemptRow(x, d),
		Outcome:  s.outcomeRow(x),
		Leak:     finish.LeakRow(x.TraceID, x.Query, &x.Leak),
		Declared: s.declaredRow(x),
	}
	if !s.Config.Recorded {
		line.Verdict = rows.NewVerdict(&x.Attempt, &structure)
		line.Judgement = rows.NewJudgement(
			&x.Attempt,
			&x.Judgement,
			g.weights.factor(x),
		)
	}
	return s.where.Match(line.Values())
}

// stageDecision returns the decision on an attempt by the stages filter, score, judge and guard, in
// this order: the first stage that drops the attempt is named with its reason. If none does, the
// field Stage is empty. s is the filter's final result, which takes all attempts of the agent into
// account.
func (g *grouper) stageDecision(x *block.Entry, s *arena.Structure) choose.Decision {
	sel := g.session.Config.Select
	isRecorded := g.session.Config.Recorded
	isUsable := usable(g.session.filter, s, x.Outcome.Success)
	if isRecorded {
		isUsable = s.Keep
	}
	isUnrendered := x.Body.Bytes == 0 && (x.Problem >= 0 || isRecorded)
	switch {
	case !isUsable || isUnrendered:
		d := choose.Decision{Stage: stageFilter, Reason: reasonNoRow}
		if len(s.Reasons) > 0 {
			d.Reason = s.Reasons[0]
		}
		return d
	case x.Problem < 0:
		return choose.Decision{Stage: stageScore, Reason: reasonProblem}
	case !x.Outcome.Scored() && !isRecorded:
		return choose.Decision{Stage: stageScore, Reason: unscored(&x.Outcome)}
	case !x.Outcome.Success && (sel.SuccessOnly || !s.Keep):
		return choose.Decision{Stage: stageScore, Reason: reasonUnsuccessful}
	case g.weights.factor(x) == nil:
		return choose.Decision{
			Stage:  stageJudge,
			Reason: string(x.Judgement.Outcome),
			Failed: true,
		}
	case g.weights.reward(x) < sel.MinReward && !isRecorded:
		return choose.Decision{Stage: stageJudge, Reason: reasonReward}
	case g.session.isHeldOut(x.Problem):
		// the guard finds the problem itself, which is no leak
		return choose.Decision{Stage: stageGuard, Reason: reasonHeldOut}
	case x.Leak.Drop:
		return choose.Decision{
			Stage:  stageGuard,
			Reason: "leak_" + string(x.Leak.Tier),
		}
	default:
		return choose.Decision{}
	}
}

// isHeldOut reports whether the problem at this index is held out. A corpus of attempts as they were
// recorded has no eval split, so that it holds out everything that a bank protects.
func (s *session) isHeldOut(problem int) bool {
	pool := s.protection.Pools[problem]
	return pool == guard.PoolHeldOut || s.Config.Recorded && pool != guard.PoolTrain
}

// isCandidate reports whether an attempt may become a row of the configs sft, pref and kto. An
// attempt that d drops only because it failed or has a low reward still may, since pref and kto need
// such attempts. It may not if the guard drops it, if it has no rendered text, or if the judge's
// grade is required and missing.
func (g *grouper) isCandidate(d choose.Decision, x *block.Entry) bool {
	isWanted := d.IsKept() || d.Reason == reasonUnsuccessful || d.Reason == reasonReward
	return isWanted && x.Body.Bytes > 0 && !x.Leak.Drop && g.weights.factor(x) != nil
}

// revised returns the filter's final result for the attempt at pos. The first result was made from
// the attempt alone; the final one takes into account how the agent behaved in all its attempts.
func (g *decider) revised(pos records.Position, x *block.Entry) arena.Structure {
	if g.session.Config.Recorded {
		return x.Structure
	}
	return g.session.filterOf(x).Revise(
		x.Structure,
		g.odds[pos.Input][pos.Entry],
		g.Agents[x.Agent],
	)
}

// decide reads the stored results of the inputs in a partition again, and writes the decision on every
// record and the counts.
func (g *grouper) decide(ctx context.Context, part int, out *shuffle.Store) error {
	odds, err := g.Odds(part)
	if err != nil {
		return err
	}
	d := &decider{
		grouper: g,
		odds:    odds,
		files:   map[int][]traces.Summary{},
		counts:  reports.NewCounts(len(g.session.day.Problems.All)),
		out:     out,
	}
	first, end := shuffle.Range(part, len(g.session.inputs))
	for i := first; i < end; i++ {
		d.files[i] = make([]traces.Summary, len(g.session.inputs[i].files))
	}
	if err := g.session.eachEntryIn(ctx, part, block.PartFound, d.decideEntry); err != nil || first == end {
		return err
	}
	d.addCounts(part)
	return nil
}

// decideEntry writes the decision on one record, and adds the record to the counts. If the record may
// become a training row and the user's expression select.where selects it, decideEntry also writes it
// as a candidate, from which rows are selected later.
func (g *decider) decideEntry(pos records.Position, x *block.Entry) error {
	d := g.decisionOn(pos, x)
	isCandidate := g.isCandidate(d, x)
	if isCandidate {
		var err error
		if isCandidate, err = g.isSelected(pos, d); err != nil {
			return err
		}
		if !isCandidate && d.IsKept() {
			d = choose.Decision{
				Stage:    stageRank,
				Reason:   reasonUnselected,
				Axis:     d.Axis,
				Stripped: d.Stripped,
			}
		}
	}
	if isCandidate {
		g.addCandidate(pos, x, &d)
	}
	if g.CopyOf(pos) == records.Collision {
		g.counts.Collisions++
	}
	count(&g.files[pos.Input][x.File], x.Fault)
	if x.Fault != nil {
		g.counts.AddFault(pos.Input, x)
	}
	if d.Stage != stageRead {
		g.counts.AddAttempt(x)
	}
	if x.Judgement.Outcome == arena.JudgeNotMeasured && reachesJudge(&d) {
		g.counts.NotMeasured++
	}
	g.out.Add(decisionStream, g.Partition(pos), func(b []byte) []byte {
		return records.AppendDecision(pos.Append(b), &d)
	})
	return nil
}

// reachesJudge reports whether a record reached the judge, because no earlier stage dropped the
// record.
func reachesJudge(d *choose.Decision) bool {
	return d.IsKept() || slices.Index(stages, d.Stage) >= slices.Index(stages, stageJudge)
}

// addCounts writes the counts of a partition.
func (g *decider) addCounts(part int) {
	tallies := g.counts.Tallies
	g.counts.Tallies = nil
	g.out.Add(countStream, part, func(b []byte) []byte {
		return habits.AppendText(b, asjson.Bytes(g.counts))
	})
	for problem, t := range tallies {
		if t.Attempts == 0 {
			continue
		}
		g.out.Add(tallyStream, part, func(b []byte) []byte {
			return records.AppendInts(b, problem, int(t.Attempts), int(t.Successes))
		})
	}
	for i, files := range g.files {
		for n, f := range files {
			g.out.Add(fileStream, part, func(b []byte) []byte {
				return habits.AppendFlag(records.AppendInts(b, i, n, f.Traces, f.Faults), f.Cut)
			})
		}
	}
}

func count(s *traces.Summary, f *block.Fault) {
	if f == nil {
		s.Traces++
		return
	}
	s.Faults++
	s.Cut = s.Cut || f.Cut
}

// unscored returns the reason for which an outcome is unknown.
func unscored(o *arena.Outcome) string {
	switch o.Error {
	case reasonUndeclared, reasonBroken, reasonEnvironment, reasonVerifier:
		return o.Error
	}
	return reasonNoScore
}
