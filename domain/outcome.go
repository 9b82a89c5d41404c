package domain

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
)

// The reasons why a declared outcome is unknown.
const (
	VoidUndeclared     = "undeclared_outcome"   // the source states no reward
	VoidInfrastructure = "infrastructure_error" // the attempt ended in an error that is not the agent's
)

// Ruled returns the attempt with the outcome that its source declares as its ruling. It returns the
// attempt unchanged if the attempt has a ruling, or if the outcomes of the domain are not declared.
func (d *Domain) Ruled(t *arena.Trace) *arena.Trace {
	if d.Outcome.From != FromDeclared || t.Ruling != nil {
		return t
	}
	out := *t
	out.Ruling = d.Outcome.ruling(t)
	return &out
}

// ruling returns the outcome (success, score) that the trace of an attempt itself declares, by the
// rules of the domain. What the trace does not declare is unknown: the score is then nil, never 0.
func (o *Outcome) ruling(t *arena.Trace) *arena.Ruling {
	r := &arena.Ruling{Declared: true, Ending: ending(t)}
	passes := t.Declared != nil && *t.Declared >= o.Pass
	switch {
	case !passes && t.Error != nil && !o.isAgentError(t.Error):
		r.Void = VoidInfrastructure
	case t.Declared == nil:
		r.Void = VoidUndeclared
	default:
		r.Success = passes
		r.Score = new(min(max(*t.Declared, 0), 1))
	}
	return r
}

// EpisodeFamily is the category of a problem whose attempts were scored by a verifier and state none.
const EpisodeFamily = "environment"

// Family returns the category of the problem of an attempt that Ruled returned: the one that its
// source states, otherwise the name of the domain or EpisodeFamily. It is empty if neither a verifier
// nor the source decides the outcome, since the problem is then unknown.
func (d *Domain) Family(t *arena.Trace) string {
	switch {
	case t.Ruling == nil:
		return ""
	case t.Ruling.Declared:
		return cmp.Or(t.Family, d.Name)
	}
	return cmp.Or(t.Family, EpisodeFamily)
}

// ending returns how an attempt ended, for the domain's rules: the type of its error or, if it has
// none, its status in lower case.
func ending(t *arena.Trace) string {
	if t.Error != nil {
		return cmp.Or(t.Error.Type, "error")
	}
	return strings.ToLower(string(t.Status))
}

// isAgentError reports whether an error that ended an attempt is the fault of the agent, so that
// the attempt counts as failed. The domain lists the types of such errors. All other errors are of
// the system around the agent.
func (o *Outcome) isAgentError(e *arena.AttemptError) bool {
	name := strings.ToLower(e.Type)
	return slices.ContainsFunc(o.AgentErrors, func(pattern string) bool {
		ok, _ := path.Match(pattern, name) // Parse has checked the patterns
		return ok
	})
}
