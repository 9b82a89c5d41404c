package frames_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/frames"
)

func searched(t *testing.T, titles ...string) []arena.Turn {
	t.Helper()
	var found []map[string]string
	for _, title := range titles {
		found = append(found, map[string]string{"title": title})
	}
	b, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	return []arena.Turn{{Calls: []arena.Call{{Result: arena.Raw(b)}}}}
}

// TestTitlesAreNoWording checks that titles of results are left out of a text, a longer one before its
// beginning, and a part of one where the text is cut.
func TestTitlesAreNoWording(t *testing.T) {
	t.Parallel()
	turns := searched(t, "oak desk", "oak desk  with a drawer", "small lamp for the night table", "")
	for text, want := range map[string]string{
		"": "",
		"“oak desk with a drawer” is the one.":         "“0” is the one.",
		"I take oak desk, not oak desk with a drawer.": "I take 0, not 0.",
		"for the night table is less clear than oak":   "0 is less clear than oak",
		"oak desk beats small lamp for the n":          "0 beats 0",
		"a desk of oak":                                "a desk of oak",
	} {
		if got := frames.WithoutTitles(text, turns); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestSentencesWithTitlesRepeat checks that an environment recognises a sentence into which a program
// writes the titles of each episode's results.
func TestSentencesWithTitlesRepeat(t *testing.T) {
	t.Parallel()
	nouns := strings.Fields("lamp desk shelf mug kettle tray chair mirror clock basket")
	var w frames.Window
	for i, noun := range nouns {
		chosen := "small " + noun + " with a cover"
		rival := "large box and " + noun
		j := &arena.Judgement{Spans: []arena.Span{{Gate: 4, Quote: fmt.Sprintf("The words of %q suit the request, and %q is out.", chosen, rival)}}}
		isFrame, _ := w.Check(fmt.Sprint(i), frames.DecidingPassage(j, "", searched(t, chosen, rival)))
		if isFrame != (i > 2) {
			t.Errorf("episode %d: %t", i, isFrame)
		}
	}
}
