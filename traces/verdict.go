package traces

import (
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// Vetoes of episodes that tell nothing of their agent, or too much.
const (
	vetoEnvironment = "environment_error"     // the environment failed during the episode: it is no attempt
	vetoVerifier    = "verifier_error"        // the verifier failed on the episode: it is no attempt
	vetoWorld       = "world_error"           // the grader of the pack gave no grade that counts
	vetoDefect      = "possible_world_defect" // the pack's own code broke off the episode
	vetoLeakage     = "leakage"               // the session found that the agent was told the answer
	vetoExploit     = "exploit"               // the session found that the agent cheated
	vetoLedger      = "ledger_mismatch"       // the ledger is not the one that the verdict names
	vetoContent     = "content_mismatch"      // the file is not the content that its name is the sha256 of
)

// verdict is what an episode says of its outcome, in the words of three major
// versions of the runtime and of the public feedback.
type verdict struct {
	arena.Ruling
	given          bool
	task, pack     string
	ledgerSHA256   string
	gradingSHA256  string
	correct        *float64
	checks         map[string]bool
	fault, checker bool
	// reason is the ledger's own of how it finished.
	reason string
}

// session adds the fields that stand beside the verdict.
func (v *verdict) session(d *decoder, fields cursor.Fields) {
	fields["outcome"] = &v.Ending
	fields["environment_error"] = func() { v.fault = d.happened() }
	fields["verifier_error"] = func() { v.checker = d.happened() }
}

// happened takes what a session writes of an error: a flag, or the error itself.
func (d *decoder) happened() bool {
	kind := d.c.Kind()
	return d.c.Bool() || kind == arena.String || kind == arena.Object
}

// read takes a verdict.
func (v *verdict) read(d *decoder) {
	c := d.c
	v.checks = map[string]bool{}
	v.given = c.Fields(cursor.Fields{
		"score":          func() { v.Score = d.reward() },
		"paid_reward":    func() { v.Score = d.reward() },
		"correct":        func() { v.correct = d.reward() },
		"category":       func() { v.Category, _ = c.String() },
		"flags":          func() { v.Flags = d.words() },
		"checks":         func() { c.Object(func(name string) { v.check(d, name) }) },
		"task_id":        cursor.AsID(&v.task),
		"pack_id":        cursor.AsID(&v.pack),
		"ledger_sha256":  &v.ledgerSHA256,
		"grading_sha256": &v.gradingSHA256,
	})
}

func (v *verdict) check(d *decoder, name string) {
	if d.c.Kind() != arena.Bool {
		d.c.Skip()
		return
	}
	v.checks[name] = d.c.Bool()
}

func (d *decoder) words() (all []string) {
	d.c.Array(func() {
		word, _ := d.c.String()
		all = append(all, word)
	})
	return all
}

// told reports whether the episode says anything of its outcome.
func (v *verdict) told() bool {
	return v.given || v.fault || v.checker || v.Ending+v.reason != "" || v.Score != nil || v.correct != nil
}

// rule makes the ruling of what was read, and the vetoes that follow from it.
func (v *verdict) rule(t *arena.Trace) {
	if !v.told() {
		return
	}
	r := &v.Ruling
	r.Category = strings.ReplaceAll(r.Category, " ", "_")
	for name, passed := range v.checks {
		if passed {
			r.Passed = append(r.Passed, name)
		} else {
			r.Failed = append(r.Failed, name)
		}
	}
	slices.Sort(r.Passed)
	slices.Sort(r.Failed)
	v.settle()
	t.Ruling, t.Declared = r, r.Score
	if r.Ending == "agent_error" {
		t.Status = arena.StatusFailed
	}
	for _, word := range append([]string{r.Void, r.Ending}, r.Flags...) {
		switch word {
		case vetoEnvironment, vetoVerifier, vetoWorld, vetoDefect, vetoLeakage, vetoExploit:
			addVeto(t, word)
		}
	}
}

// settle decides between score, failure and no attempt. An agent that broke off has
// 0, as the subnet counts it; an episode without a score that nobody explains is the
// verifier's.
func (v *verdict) settle() {
	r, zero := &v.Ruling, 0.0
	switch {
	case v.fault, r.Ending == vetoEnvironment, v.reason == "environment", r.Category == "environment_fault", r.Category == "infrastructure":
		r.Void = vetoEnvironment
	case v.checker, r.Ending == vetoVerifier:
		r.Void = vetoVerifier
	case v.correct != nil && *v.correct == 0, r.Ending == "agent_error" && r.Score == nil:
		r.Score = &zero
	case r.Score == nil:
		r.Score = v.correct
	}
	if r.Void != "" {
		r.Score = nil
	}
	if r.Score != nil && (*r.Score < 0 || *r.Score > 1) {
		r.Score = nil
	}
	// All hard checks may pass and nothing be paid: the world changed and the agent did
	// not see it.
	r.Success = r.Score != nil && *r.Score > 0 && (v.correct != nil && *v.correct == 1 || v.correct == nil && *r.Score == 1)
	if r.Score == nil && r.Void == "" && v.given {
		r.Void = vetoVerifier
	}
	if r.Ending == "" {
		r.Ending = v.reason
	}
}
