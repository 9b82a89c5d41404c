package main

import (
	"sync"

	"github.com/trajectory-arena/arena/corpora/redact"
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
