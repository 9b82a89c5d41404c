package evidence

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// Unsaid is how much of an attempt's thinking no model said.
type Unsaid struct {
	// Sentences counts the sentences of the dialogue's thinking that are long enough to be
	// recognised, Missing those of them that stand in no reply of the log. Both are 0 if the
	// log cannot tell.
	Sentences int
	Missing   int
}

// Share returns the part of the sentences that stand in no reply, NaN if the log cannot
// tell.
func (u Unsaid) Share() float64 { return ratio(u.Missing, u.Sentences) }

// A sentence is recognised by minSentenceWords words. Languages without blanks between
// words have few of them, so that minSentenceLetters letters are enough, too.
const (
	minSentenceWords   = 4
	minSentenceLetters = 24
)

// maxLabelWords is the number of words that a client may put before a sentence of the
// model, such as "Step 3:".
const maxLabelWords = 3

// maxThoughtWords is the limit of the words of a dialogue's thinking, and maxComparedThoughts
// that of their comparisons with replies; attempts of thirty steps have a hundredth. What
// exceeds it is not measured.
const (
	maxThoughtWords     = 1 << 18
	maxComparedThoughts = 1 << 26
)

// MeasureUnsaid returns how much of the thinking stands in no reply of the log. Words are
// compared, so that case, blanks, punctuation and markup do not matter, nor how a text is
// escaped. The log cannot tell if it lacks a reply or a part of one.
func (a *Attempt) MeasureUnsaid() Unsaid {
	if !a.hasWholeReplies() {
		return Unsaid{}
	}
	m := &a.scratch.thoughts
	m.read(a.Dialogue.Turns)
	for escapes := range maxEscapes + 1 {
		for i := range a.Log.Replies {
			m.searchReply(&a.Log.Replies[i], escapes)
		}
	}
	if m.tooMany {
		return Unsaid{}
	}
	return Unsaid{Sentences: len(m.thoughts), Missing: m.missing}
}

// hasWholeReplies reports whether the log has replies, as many as the sandbox counted, and
// each of them whole.
func (a *Attempt) hasWholeReplies() bool {
	if len(a.Log.Replies) == 0 || a.Lost > 0 || a.Readable < len(a.Log.Replies) {
		return false
	}
	if len(a.scratch.entries) >= MaxCalls {
		return false // further entries are not read
	}
	return !slices.ContainsFunc(a.Log.Replies, func(r Reply) bool { return r.Call.Truncated })
}

// thought is a sentence of thinking: the hashes of its words, and whether a reply holds it.
type thought struct {
	words  []uint64
	isSaid bool
}

// thoughtMatcher looks for the sentences of a dialogue's thinking in replies. Its memory is
// used again for the next dialogue.
type thoughtMatcher struct {
	thoughts []thought
	// words are those of all sentences.
	words []uint64
	// missing counts the sentences that were not found yet.
	missing int
	// mayStart has the last bits of each word with which a sentence may start.
	mayStart [1 << 10]bool
	// text are the words of the text that is searched.
	text []uint64
	// compared counts comparisons. tooMany reports whether there are more sentences or
	// comparisons than are examined.
	compared int
	tooMany  bool
}

// emptied returns the matcher without its sentences, with its memory.
func (m *thoughtMatcher) emptied() thoughtMatcher {
	return thoughtMatcher{
		thoughts: cleared(m.thoughts),
		words:    m.words[:0],
		text:     m.text[:0],
	}
}

// read sets the sentences to those of a dialogue.
func (m *thoughtMatcher) read(turns []arena.Turn) {
	*m = m.emptied()
	for i := range turns {
		for sentence := range sentences(withoutCutWord(turns[i].Think)) {
			m.add(sentence)
		}
	}
	m.missing = len(m.thoughts)
}

// add adds a sentence that is long enough to be recognised.
func (m *thoughtMatcher) add(sentence string) {
	if len(m.words) > maxThoughtWords {
		m.tooMany = true
		return
	}
	start := len(m.words)
	m.words = AppendWords(m.words, sentence)
	words := m.words[start:len(m.words):len(m.words)]
	if len(words) < minSentenceWords && countLetters(sentence) < minSentenceLetters {
		m.words = m.words[:start]
		return
	}
	m.thoughts = append(m.thoughts, thought{words: words})
	for _, word := range startsOf(words) {
		m.mayStart[word%uint64(len(m.mayStart))] = true
	}
}

// startsOf returns the words with which a sentence may start in a reply: its first one, or
// one after a label of the client. What follows a label is long enough to be recognised.
func startsOf(words []uint64) []uint64 {
	n := min(maxLabelWords, len(words)-minSentenceWords)
	return words[:max(n, 0)+1]
}

// answerKeys are the members of a completion that hold what the model wrote, in the forms
// of OpenAI's chats, Anthropic's messages, OpenAI's responses and Gemini. Other members may
// repeat the prompt.
var answerKeys = [...]string{"choices", "content", "output", "candidates"}

// maxEscapes is how often the escapes of a reply are undone: the reply is JSON, arguments
// are JSON in a string of it, and a call may be quoted in these once more.
const maxEscapes = 3

// searchReply marks the sentences that a reply holds in its texts, its reasoning or the
// arguments of its calls, after its escapes were undone so often.
func (m *thoughtMatcher) searchReply(r *Reply, escapes int) {
	if m.missing == 0 || m.tooMany {
		return
	}
	body := r.Call.Response.Text()
	if !strings.HasPrefix(body, "{") {
		body = joinStream(body)
	}
	for _, key := range answerKeys {
		text := gjson.Get(body, key).Raw
		for range escapes {
			text = unescape(text)
		}
		m.search(text)
	}
}

// search marks the sentences whose words stand in a text one after the other.
func (m *thoughtMatcher) search(text string) {
	m.text = AppendWords(m.text[:0], text)
	for at, word := range m.text {
		if !m.mayStart[word%uint64(len(m.mayStart))] {
			continue
		}
		m.compared += len(m.thoughts)
		if m.compared > maxComparedThoughts {
			m.tooMany = true
			return
		}
		for i := range m.thoughts {
			t := &m.thoughts[i]
			if !t.isSaid && t.begins(m.text[at:]) {
				t.isSaid = true
				m.missing--
			}
		}
	}
}

// begins reports whether a text begins with the sentence, with or without the label before
// it.
func (t *thought) begins(text []uint64) bool {
	for label, start := range startsOf(t.words) {
		words := t.words[label:]
		if start == text[0] && len(text) >= len(words) && slices.Equal(text[:len(words)], words) {
			return true
		}
	}
	return false
}

// withoutCutWord returns a text without its last word if the text does not end as a
// sentence does: the client cut it, perhaps within a word.
func withoutCutWord(text string) string {
	whole := strings.TrimRightFunc(text, unicode.IsSpace)
	body := strings.TrimRight(whole, ".…")
	isMarked := strings.HasSuffix(whole, "…") || strings.HasSuffix(whole, "...")
	if body != whole && !isMarked {
		return text
	}
	return strings.TrimRightFunc(body, isWordRune)
}

// sentences yields the sentences of a text: what stands between line breaks, and between
// the signs that end a sentence.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			for line != "" {
				end := sentenceEnd(line)
				if !yield(line[:end]) {
					return
				}
				line = line[end:]
			}
		}
	}
}

// sentenceEnd returns the end of the first sentence of a line. A point within a word or a
// number ends none.
func sentenceEnd(line string) int {
	for i, r := range line {
		end := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？', '।':
			return end
		case '.', '!', '?', ';':
			next, _ := utf8.DecodeRuneInString(line[end:])
			if end == len(line) || unicode.IsSpace(next) {
				return end
			}
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
