// Package halves joins prompts and answers that sources store in records of their own.
package halves

import (
	"slices"
	"strconv"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Halves are the prompts and the answers that sources store in records of their own, with the ID of
// their problem. An answer is processed with the prompt of its ID as one attempt. The two may be in
// different files.
type Halves struct {
	// prompts are the prompts by ID, of equal ones that with the smallest hash, and bytes is their size.
	prompts map[string]*arena.Trace
	bytes   int
	// ambiguous has the IDs of several different prompts, and answered those of answers.
	ambiguous map[string]bool
	answered  map[string]bool
}

// New returns Halves without records.
func New() *Halves {
	return &Halves{
		prompts:   map[string]*arena.Trace{},
		ambiguous: map[string]bool{},
		answered:  map[string]bool{},
	}
}

// maxPrompts is the maximum total size in bytes of the prompts that are kept in memory. Prompts have
// a few KB, so that it suffices for those of 50,000 attempts.
const maxPrompts = 256 << 20

// The reasons for which a prompt or an answer in a record of its own is dropped.
const (
	reasonJoined  = "joined_prompt"             // the prompt is in the row of its answer
	reasonAlone   = "answer_without_prompt"     // the prompt that it answers is missing
	reasonSeveral = "answer_to_several_prompts" // several prompts have its ID
)

func isAgentStep(s arena.Step) bool { return s.Role == arena.RoleAgent }

func isOtherStep(s arena.Step) bool { return s.Role != arena.RoleAgent }

// isPrompt reports whether a trace is only the prompt of a problem: a request without a step of the
// model.
func isPrompt(t *arena.Trace) bool {
	return t.ProblemID != "" && t.Query != "" && !slices.ContainsFunc(t.Steps, isAgentStep)
}

// IsAnswer reports whether a trace has nothing but steps of the model: neither a request nor a
// system prompt.
func IsAnswer(t *arena.Trace) bool {
	hasPrompt := t.Query != "" || t.System != "" || slices.ContainsFunc(t.Steps, isOtherStep)
	return t.ProblemID != "" && len(t.Steps) > 0 && !hasPrompt
}

// Add stores t if it is a prompt or an answer in a record of its own. It does not store prompts beyond
// maxPrompts, whose answers then have none. The order of the records does not matter.
func (h *Halves) Add(t *arena.Trace) {
	id := t.ProblemID
	switch {
	case IsAnswer(t):
		h.answered[id] = true
		return
	case !isPrompt(t):
		return
	}
	first := h.prompts[id]
	switch {
	case first == nil && h.bytes+t.Bytes <= maxPrompts:
		h.prompts[id] = t
		h.bytes += t.Bytes
	case first == nil:
	case first.Query != t.Query || first.System != t.System:
		h.ambiguous[id] = true
	case t.RecordSHA256 < first.RecordSHA256:
		h.prompts[id] = t
		h.bytes += t.Bytes - first.Bytes
	}
}

// HasPairs reports whether there are answers whose prompt is known.
func (h *Halves) HasPairs() bool {
	for id := range h.answered {
		if h.prompts[id] != nil {
			return true
		}
	}
	return false
}

// Join returns t or, if t is an answer with a prompt, a copy of it with the system prompt, the
// request, the tools, the steps and the vetoes of its prompt. An answer without a prompt or with
// several different ones, and a prompt that is part of another attempt, have a veto. Join must not be
// called before all records were added.
func (h *Halves) Join(t *arena.Trace) *arena.Trace {
	id := t.ProblemID
	if !h.answered[id] {
		return t
	}
	prompt := h.prompts[id]
	switch {
	case isPrompt(t) && !h.ambiguous[id]:
		return withVeto(t, reasonJoined)
	case !IsAnswer(t):
		return t
	case prompt == nil:
		return withVeto(t, reasonAlone)
	case h.ambiguous[id]:
		return withVeto(t, reasonSeveral)
	}
	out := *t
	out.System = prompt.System
	out.Query = prompt.Query
	out.Tools = prompt.Tools
	out.Steps = slices.Concat(prompt.Steps, t.Steps)
	out.Vetoes = slices.Concat(prompt.Vetoes, t.Vetoes)
	return &out
}

// withVeto returns a copy of t that is dropped for reason.
func withVeto(t *arena.Trace, reason string) *arena.Trace {
	out := *t
	out.Vetoes = slices.Concat([]string{reason}, t.Vetoes)
	return &out
}

// Digest returns a hash of everything that Join depends on, nothing if no answer is in a record of
// its own.
func (h *Halves) Digest() []byte {
	var parts []string
	for _, id := range slicesx.SortedKeys(h.answered) {
		record := ""
		if prompt := h.prompts[id]; prompt != nil {
			record = prompt.RecordSHA256
		}
		parts = append(parts, id, record, strconv.FormatBool(h.ambiguous[id]))
	}
	if parts == nil {
		return nil
	}
	return []byte(finish.Digest(parts...))
}
