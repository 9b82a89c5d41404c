package foreign

import (
	"slices"

	"github.com/trajectory-arena/arena"
)

// maxWaiting is the maximum total size in bytes of the prompts and answers that are kept in memory
// until all files are read and they can be joined. Prompts have a few KB, so that it suffices for
// those of 50,000 attempts.
const maxWaiting = 256 << 20

// The codes of the reasons for which a record is dropped: it has a held-out problem, or it is a
// prompt or an answer in a record of its own.
const (
	reasonCopied  = "copied_record"             // a record with the same bytes was read before
	reasonHeldOut = "protected_problem"         // the guard finds a held-out problem in it
	reasonJoined  = "joined_prompt"             // the prompt is in the row of its answer
	reasonAlone   = "answer_without_prompt"     // the prompt that it answers is missing
	reasonSeveral = "answer_to_several_prompts" // several prompts have its ID

	reasonUnselected = "not_selected" // --where does not select it
)

func isAgentStep(s arena.Step) bool { return s.Role == arena.RoleAgent }

func isOtherStep(s arena.Step) bool { return s.Role != arena.RoleAgent }

// isPrompt reports whether a trace is only a prompt: a request without a step of the model.
func isPrompt(t *arena.Trace) bool {
	return t.Query != "" && !slices.ContainsFunc(t.Steps, isAgentStep)
}

// isAnswer reports whether a trace has nothing but steps of the model: neither a request nor a
// system prompt.
func isAnswer(t *arena.Trace) bool {
	return t.Query == "" && t.System == "" && len(t.Steps) > 0 && !slices.ContainsFunc(t.Steps, isOtherStep)
}

// canWait reports whether a trace can be kept in memory until all files are read, to be joined with
// its other half. Data sets may have prompts and answers in separate files. The trace must be only
// a prompt or only an answer, have a problem ID, and fit into the remaining space of maxWaiting.
func (r *reader) canWait(t *arena.Trace) bool {
	isHalf := isPrompt(t) || isAnswer(t)
	return t.ProblemID != "" && isHalf && r.waitingBytes+t.Bytes <= maxWaiting
}

// join passes on the stored prompts and answers after all files were read. An answer is joined to
// the prompt with the same problem ID and passed on as one trace. A prompt that was joined, and an
// answer with no prompt or with several different ones, is passed on with a reason, for which it is
// dropped.
func (r *reader) join() error {
	prompts := map[string]*arena.Trace{}
	ambiguous := map[string]bool{}
	answered := map[string]bool{}
	for _, t := range r.waiting {
		id := t.ProblemID
		if !isPrompt(t) {
			answered[id] = true
			continue
		}
		if first := prompts[id]; first == nil {
			prompts[id] = t
		} else if first.Query != t.Query || first.System != t.System {
			ambiguous[id] = true
		}
	}
	for _, t := range r.waiting {
		id := t.ProblemID
		reason := ""
		switch {
		case isPrompt(t):
			if answered[id] && !ambiguous[id] {
				reason = reasonJoined
			}
		case prompts[id] == nil:
			reason = reasonAlone
		case ambiguous[id]:
			reason = reasonSeveral
		default:
			t = joinAnswer(prompts[id], t)
		}
		if err := r.emitTrace(t, reason); err != nil {
			return err
		}
	}
	return nil
}

// joinAnswer returns a copy of an answer with the system prompt, the request, the tools, the steps
// and the vetoes (reasons not to train) of its prompt. ID and hash are those of the answer.
func joinAnswer(prompt, answer *arena.Trace) *arena.Trace {
	t := *answer
	t.System = prompt.System
	t.Query = prompt.Query
	t.Tools = prompt.Tools
	t.Steps = slices.Concat(prompt.Steps, answer.Steps)
	t.Vetoes = slices.Concat(prompt.Vetoes, answer.Vetoes)
	return &t
}
