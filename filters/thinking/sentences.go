package thinking

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/scripts"
)

// logged returns turns without what was not found, nil if that is nothing. If it was too much to
// search, no thinking remains.
func (m *matcher) logged(turns []arena.Turn) []arena.Turn {
	switch {
	case !m.tooMany && m.open == 0:
		return nil
	case !m.tooMany:
		return m.cut(turns)
	}
	turns = slices.Clone(turns)
	for i := range turns {
		turns[i].Think = ""
	}
	return turns
}

// cut returns turns, those that m.read read, without the sentences and words that were not found.
// If all were found, the result is turns itself.
func (m *matcher) cut(turns []arena.Turn) []arena.Turn {
	if m.open == 0 {
		return turns
	}
	for i := range m.thoughts[1:] {
		m.thoughts[i+1].missWith(&m.thoughts[i])
	}
	for i := range slices.Backward(m.thoughts[1:]) {
		m.thoughts[i].missWith(&m.thoughts[i+1])
	}
	var b strings.Builder
	turns = slices.Clone(turns)
	thoughts := m.thoughts
	for i := range turns {
		think := turns[i].Think
		start := b.Len()
		end := 0
		for len(thoughts) > 0 && thoughts[0].turn == i {
			t := &thoughts[0]
			b.WriteString(think[end:t.start])
			b.WriteString(t.matched(think))
			end = t.end
			thoughts = thoughts[1:]
		}
		b.WriteString(think[end:])
		turns[i].Think = strings.TrimSpace(b.String()[start:])
	}
	return turns
}

// missWith removes the match of a short sentence if its neighbour was not found: a reply may
// contain a figure or an id anywhere, and what a client inserts stands together.
func (t *thought) missWith(neighbour *thought) {
	if t.isShort && t.turn == neighbour.turn && !neighbour.match.isSaid {
		t.match = match{}
	}
}

// matched returns what a reply contains of the sentence, which is in the thinking think.
func (t *thought) matched(think string) string {
	if !t.match.isSaid {
		return ""
	}
	text := think[t.start:t.end]
	if t.match.isCut {
		text = think[t.start:t.cutAt]
	}
	return text[lengthOfWords(text, t.match.label):]
}

// lengthOfWords returns the length in bytes of the first n words of a text, with what precedes them.
func lengthOfWords(text string, n int) int {
	at := 0
	for n > 0 && at < len(text) {
		_, length := evidence.NextWord(text[at:])
		if length > 0 {
			n--
		}
		at += max(length, 1)
	}
	return at
}

// withoutCutWord returns a text without its last word, which a client that truncated the text may
// have cut. It returns the text unchanged if it ends with closing punctuation. An ellipsis at the
// end is removed together with the word before it, since it shows that the text was truncated.
func withoutCutWord(text string) string {
	whole := strings.TrimRightFunc(text, unicode.IsSpace)
	body := strings.TrimRight(whole, ".…")
	isMarked := strings.HasSuffix(whole, "…") || strings.HasSuffix(whole, "...")
	if body != whole && !isMarked {
		return text
	}
	return strings.TrimRightFunc(body, evidence.IsWordRune)
}

// sentenceEnd returns the byte offset of the end of the first sentence in a line. The end of the line
// and closing punctuation end a sentence, but no point within a word or a number.
func sentenceEnd(line string) int {
	for i, r := range line {
		if r != ';' && !scripts.EndsSentence(r) {
			continue
		}
		end := i + utf8.RuneLen(r)
		next, _ := utf8.DecodeRuneInString(line[end:])
		if r >= utf8.RuneSelf || end == len(line) || unicode.IsSpace(next) {
			return end
		}
	}
	return len(line)
}

func countLetters(text string) int {
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}
