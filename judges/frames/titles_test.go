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

// TestTitlesAreNoWording checks that titles of results are left out of a text, a longer one before those in
// it, and a part of one where the text is cut, but no part of a word and no title of one or two words.
func TestTitlesAreNoWording(t *testing.T) {
	t.Parallel()
	turns := searched(t, "big oak desk", "big oak desk  with a drawer", "small lamp for the night table", "", "Lamp Red Deluxe", "Big Lamp Red Deluxe", "desk", "a desk")
	for text, want := range map[string]string{
		"": "",
		"“big oak desk with a drawer” is the one.":             "“0” is the one.",
		"I take big oak desk, not big oak desk with a drawer.": "I take 0, not 0.",
		"Big Lamp Red Deluxe, or Lamp Red Deluxe?":             "0, or 0?",
		"two big oak desks and a big oak desk":                 "two big oak desks and a 0",
		"not abig oak desk, big oak desk-like":                 "not abig oak desk, 0-like",
		"for the night table is less clear than oak":           "0 is less clear than oak",
		"big oak desk beats small lamp for the n":              "0 beats 0",
		"a desk of oak": "a desk of oak",
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
		isFrame, _ := w.Check(fmt.Sprint(i), "", frames.DecidingPassage(j, "", searched(t, chosen, rival)))
		if isFrame != (i > 2) {
			t.Errorf("episode %d: %t", i, isFrame)
		}
	}
}
