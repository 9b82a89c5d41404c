package frames

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

const (
	// minTitle is the number of bytes from which on a part of a title is recognised where a passage
	// begins or ends.
	minTitle = 16
	// minTitleWords is the number of words from which on a title is recognised. A shorter one, such as
	// “Lamp”, may be the common noun of a sentence, and whoever controls a result could remove the
	// words of a sentence by it.
	minTitleWords = 3
)

// WithoutTitles returns a text with "0" in place of each title that the results in turns have. A title
// is data, as a price is: with other titles, the sentences of one template have other words. A part of
// minTitle bytes or more counts too if the text, which may be cut, begins or ends with it. A title of
// fewer than minTitleWords words remains, since it may be a word of the sentence itself.
func WithoutTitles(text string, turns []arena.Turn) string {
	if text == "" {
		return ""
	}
	for _, title := range titlesOf(text, turns) {
		text = withoutTitle(text, title)
		for n := minTitle; n < len(title); n++ {
			if before, ok := strings.CutSuffix(text, title[:n]); ok && !endsInWord(before) {
				text = before + "0"
				break
			}
			if after, ok := strings.CutPrefix(text, title[len(title)-n:]); ok && !beginsInWord(after) {
				text = "0" + after
				break
			}
		}
	}
	return text
}

// withoutTitle returns a text with "0" in place of a title where it is no part of a longer word.
func withoutTitle(text, title string) string {
	done := ""
	for {
		before, after, found := strings.Cut(text, title)
		if !found {
			return done + text
		}
		if endsInWord(done+before) || beginsInWord(after) {
			done += before + title
		} else {
			done += before + "0"
		}
		text = after
	}
}

func beginsInWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func endsInWord(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// titlesOf returns the titles of minTitleWords words or more that the results in turns have and of
// which a text may have a part, a longer one before those that it may contain.
func titlesOf(text string, turns []arena.Turn) []string {
	var titles []string
	c := cursor.New("", cursor.Limits{Depth: math.MaxInt, StringBytes: math.MaxInt, Elements: math.MaxInt})
	item := func(key string) {
		if key != "title" {
			c.Skip()
			return
		}
		title, _ := c.String()
		if words := strings.Fields(title); len(words) >= minTitleWords {
			titles = append(titles, strings.Join(words, " "))
		}
	}
	for i := range turns {
		for k := range turns[i].Calls {
			c.Next(string(turns[i].Calls[k].Result))
			c.Array(func() { c.Object(item) })
		}
	}
	titles = slices.DeleteFunc(titles, func(title string) bool {
		n := min(minTitle, len(title))
		return !strings.Contains(text, title[:n]) && !strings.Contains(text, title[len(title)-n:])
	})
	slicesx.SortFunc(titles, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return slices.Compact(titles)
}
