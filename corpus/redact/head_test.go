package redact

import (
	"slices"
	"testing"
)

// TestEveryPrefixBeginsAMatch holds the rule of prefixes to its short cut: a
// build without it takes a third more.
func TestEveryPrefixBeginsAMatch(t *testing.T) {
	t.Parallel()
	own, err := ownRules(Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(own, func(r rule) bool { return r.kind == "token" })
	if got := len(own[i].heads); got < len(prefixes) {
		t.Errorf("%d heads for %d prefixes", got, len(prefixes))
	}
}
