package public

import (
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/guard"
)

// TestProtectedRequestsAreComparedAsInTheBuild checks that a text is compared with a protected
// request by the words of its domain, and not at all in other words if its requests are compared
// word for word.
func TestProtectedRequestsAreComparedAsInTheBuild(t *testing.T) {
	t.Parallel()
	crowns := &arena.Lexicon{Currencies: map[string]arena.Currency{"crown": {Rate: 1, Words: []string{"crowns"}}, "eur": {Rate: 11}}}
	e := guard.Entry{ID: "b", Text: "Book a berth for a sloop of teak with shore power, at most 550 crowns a night"}
	const reworded = "A berth with shore power for my teak sloop for 50 euros a night or less please"
	for name, tt := range map[string]struct {
		entry guard.Entry
		text  string
		want  bool
	}{
		"lexicon":       {guard.Entry{ID: "b", Text: e.Text, Lexicon: crowns}, reworded, true},
		"none":          {guard.Entry{ID: "b", Text: e.Text, Lexicon: &arena.Lexicon{}}, reworded, false},
		"word for word": {guard.Entry{ID: "b", Text: e.Text, Literal: true}, "A berth with shore power for my teak sloop, at most 550 crowns a night please", false},
		"title":         {guard.Entry{ID: "b", Text: e.Text, Titles: []string{"Blue Anchor Winch of Bronze with a Long Handle"}, ItemIDs: []string{"123456789"}}, "Blue Anchor Winch of Bronze with a Long Handle 123456789", false},
	} {
		c := &Closed{}
		if err := c.setRequests([]guard.Entry{tt.entry}); err != nil {
			t.Fatal(err)
		}
		if got := c.Asks("", []string{tt.text}); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
