package main

import (
	"io"
	"sync"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/redact"
)

// rules are compiled when something is first said that a trace may have a part
// in.
var rules = sync.OnceValues(func() (*redact.Redactor, error) { return redact.New(redact.Options{}) })

// withoutSecrets is what may be shown of words that quote a trace: errors,
// explanations, passages that a judge cites. JSON stays JSON.
func withoutSecrets(text string) string {
	r, err := rules()
	if err != nil {
		return redact.Placeholder("text")
	}
	return r.Text(text, redact.Counts{})
}

// words is standard error: whatever is said on it, and whoever says it, passes
// the redactor.
type words struct{ to io.Writer }

// Write takes a whole piece of text, as each print of words is one.
func (w words) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, withoutSecrets(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// named is what lines say of a trace: its ids, of which one that is a secret
// becomes a placeholder, in the lines of every command alike.
func named(t *arena.Trace) *arena.Trace {
	out := arena.Trace{RunID: withoutSecrets(t.RunID), ProblemID: withoutSecrets(t.ProblemID)}
	out.Agent.VersionID = withoutSecrets(t.Agent.VersionID)
	return &out
}
