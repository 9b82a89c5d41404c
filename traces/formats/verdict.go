package formats

import (
	"cmp"
	"strings"

	"github.com/trajectory-arena/arena"
)

// verdict is the outcome of an episode according to its verifier. Three major versions of the
// runtime and the public feedback write it under different names.
type verdict struct {
	arena.Ruling
	// present reports whether the document has a verdict.
	present bool
	// environmentFailed and verifierFailed report whether the session recorded an error of the
	// environment or of the verifier.
	environmentFailed, verifierFailed bool
	// correct is 1 if the result is correct and 0 if not, independent of the paid reward. It is
	// nil if unknown.
	correct *float64
	// finishReason is the reason in the ledger (log) for which the episode finished.
	finishReason string
}

// readEpisodeVerdict reads the verdict of an episode into the current attempt: score, correctness,
// category, flags, and the names of its checks by whether they passed. Checks without a boolean are
// skipped.
func (r *reader) readEpisodeVerdict(episode *value) {
	fields := episode.object("verdict")
	v := r.readVerdict(episode, fields)
	v.present = episode.get("verdict").isObject()
	v.correct = fields.number("correct")
	v.Category = r.text(fields.get("category"))
	r.each(fields.get("flags"), func(flag *value) {
		v.Flags = append(v.Flags, r.text(flag))
	})

	checks := fields.object("checks")
	for _, name := range checks.names() {
		check := checks.get(name)
		if check.isTrue() {
			v.Passed = append(v.Passed, name)
		} else if check.isBool() {
			v.Failed = append(v.Failed, name)
		}
	}
}

// readVerdict reads the score from fields, and the ending and the errors from session. It
// returns the verdict of the current attempt, in which it stores them.
func (r *reader) readVerdict(session, fields *value) *verdict {
	v := &r.attempt().verdict
	v.Score = fields.number("paid_reward", "score")
	v.Ending = r.text(session.get("outcome"))
	v.environmentFailed = isError(session.get("environment_error"))
	v.verifierFailed = isError(session.get("verifier_error"))
	return v
}

// isError reports whether v records an error: it is true, a string or an object. It then marks all
// of v as read.
func isError(v *value) bool {
	isError := v.isTrue() || v.isString() || v.isObject()
	if isError {
		v.raw()
	}
	return isError
}

// Vetoes (reasons not to train on a trace) that follow from the outcome of an episode.
const (
	vetoEnvironment = "environment_error"     // the environment failed during the episode: it is no attempt
	vetoVerifier    = "verifier_error"        // the verifier failed on the episode: it is no attempt
	vetoWorld       = "world_error"           // the grader of the pack gave no grade that counts
	vetoDefect      = "possible_world_defect" // the pack's own code broke off the episode
	vetoLeakage     = "leakage"               // the session found that the agent was told the answer
	vetoExploit     = "exploit"               // the session found that the agent cheated
	vetoLedger      = "ledger_mismatch"       // the ledger is not the one that the verdict names
)

// agentError is the outcome that is recorded for an episode in which the agent's program failed.
const agentError = "agent_error"

// applyVerdict sets the ruling, reward and status of the trace from the verdict, and adds the
// vetoes (reasons not to train) that follow from it. It does nothing if the document has no
// outcome.
func (a *Attempt) applyVerdict() {
	v := &a.verdict
	if v.isEmpty() {
		return
	}
	v.Category = strings.ReplaceAll(v.Category, " ", "_")
	v.resolve()
	a.Ruling = new(v.Ruling)
	a.Declared = v.Score
	if v.Ending == agentError {
		a.Status = arena.StatusFailed
	}
	for _, reason := range append([]string{v.Void, v.Ending}, v.Flags...) {
		switch reason {
		case vetoEnvironment, vetoVerifier, vetoWorld, vetoDefect, vetoLeakage, vetoExploit:
			a.Veto(reason)
		}
	}
}

func (v *verdict) isEmpty() bool {
	hasFlag := v.present || v.environmentFailed || v.verifierFailed
	hasReason := v.Ending != "" || v.finishReason != ""
	return !hasFlag && !hasReason && v.Score == nil && v.correct == nil
}

// resolve sets the final score from 0 to 1 and Success, or Void, the reason why the episode has no
// score. An incorrect result has the score 0, and so has an agent that failed without a score, as
// the subnet counts it. A verdict with neither a valid score nor a reason counts as a failure of
// the verifier.
func (v *verdict) resolve() {
	switch {
	case v.isEnvironmentFailure():
		v.Void = vetoEnvironment
	case v.verifierFailed, v.Ending == vetoVerifier:
		v.Void = vetoVerifier
	case v.correct != nil && *v.correct == 0, v.Ending == agentError && v.Score == nil:
		v.Score = new(0.0)
	case v.Score == nil:
		v.Score = v.correct
	}
	if v.Void != "" {
		v.Score = nil
	}
	if v.Score != nil && (*v.Score < 0 || *v.Score > 1) {
		v.Score = nil
	}
	v.Success = v.isSuccess()
	if v.Score == nil && v.Void == "" && v.present {
		v.Void = vetoVerifier
	}
	v.Ending = cmp.Or(v.Ending, v.finishReason)
}

func (v *verdict) isEnvironmentFailure() bool {
	if v.environmentFailed || v.Ending == vetoEnvironment || v.finishReason == "environment" {
		return true
	}
	return v.Category == "environment_fault" || v.Category == "infrastructure"
}

// isSuccess reports whether the score is positive and the result is recorded as correct. Without a
// record of correctness the score must be 1. A correct result may have the score 0, if the agent
// did not notice that the world changed.
func (v *verdict) isSuccess() bool {
	if v.Score == nil || *v.Score <= 0 {
		return false
	}
	if v.correct != nil {
		return *v.correct == 1
	}
	return *v.Score == 1
}
