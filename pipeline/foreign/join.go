package foreign

import (
	"slices"

	"github.com/trajectory-arena/arena"
)

// maxWaiting bounds the bytes of the records that wait for their other half.
// Prompts are a few KB: it holds those of 50,000 attempts.
const maxWaiting = 256 << 20

// Why a record is no row: half ones, and those that ask for what is held out.
const (
	reasonHeldOut = "protected_problem"         // it asks for a problem that is held out
	reasonJoined  = "joined_prompt"             // the prompt is in the row of its answer
	reasonAlone   = "answer_without_prompt"     // the prompt that it answers is not there
	reasonSeveral = "answer_to_several_prompts" // more than one prompt could be the one that it answers
)

// promptAlone reports whether a record is a request in which the model has not spoken.
func promptAlone(t *arena.Trace) bool {
	return t.Query != "" && !slices.ContainsFunc(t.Steps, ofAgent)
}

// answerAlone reports whether a record is what a model said to a request that it does not
// hold.
func answerAlone(t *arena.Trace) bool {
	return t.Query == "" && t.System == "" && len(t.Steps) > 0 && !slices.ContainsFunc(t.Steps, func(s arena.Step) bool { return !ofAgent(s) })
}

func ofAgent(s arena.Step) bool { return s.Role == arena.RoleAgent }

// waits keeps back half a record with an id until all have been read: data sets
// hold prompts and predictions in files of their own.
func (r *reader) waits(t *arena.Trace) bool {
	if t.ProblemID == "" || !promptAlone(t) && !answerAlone(t) || r.waitingBytes+t.Bytes > maxWaiting {
		return false
	}
	r.waitingBytes += t.Bytes
	r.waiting = append(r.waiting, t)
	return true
}

// join enters the records that waited, each answer behind the prompt of its id.
// An id under which different things are asked names none of them.
func (r *reader) join() error {
	prompts, several := map[string]*arena.Trace{}, map[string]bool{}
	answered := map[string]bool{}
	for _, t := range r.waiting {
		if first := prompts[t.ProblemID]; promptAlone(t) && first == nil {
			prompts[t.ProblemID] = t
		} else if promptAlone(t) {
			several[t.ProblemID] = several[t.ProblemID] || first.Query != t.Query || first.System != t.System
		} else {
			answered[t.ProblemID] = true
		}
	}
	for _, t := range r.waiting {
		var err error
		switch prompt := prompts[t.ProblemID]; {
		case promptAlone(t) && answered[t.ProblemID] && !several[t.ProblemID]:
			err = r.leaveOut(t, reasonJoined)
		case promptAlone(t):
			err = r.pass(t)
		case prompt == nil:
			err = r.leaveOut(t, reasonAlone)
		case several[t.ProblemID]:
			err = r.leaveOut(t, reasonSeveral)
		default:
			err = r.pass(joined(prompt, t))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// joined is an answer with the prompt that it answers. Its record stays the
// answer's.
func joined(prompt, answer *arena.Trace) *arena.Trace {
	t := *answer
	t.System, t.Query, t.Tools = prompt.System, prompt.Query, prompt.Tools
	t.Steps = slices.Concat(prompt.Steps, answer.Steps)
	t.Vetoes = slices.Concat(prompt.Vetoes, answer.Vetoes)
	return &t
}
