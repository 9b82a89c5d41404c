package evidence

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/scripts"
)

// Unsaid is how much of the thinking in a dialogue no model wrote.
type Unsaid struct {
	// Sentences counts the sentences of the thinking that are long enough to be recognised.
	// Missing counts those that are in no logged reply. Both are 0 if the log is incomplete.
	Sentences int
	Missing   int
}

// Share returns the share of the sentences that are in no logged reply, NaN if the log is
// incomplete.
func (u Unsaid) Share() float64 { return ratio(u.Missing, u.Sentences) }

// The minimum length of a sentence that can be recognised: minSentenceWords words or, since some
// languages write few blanks, minSentenceLetters letters.
const (
	minSentenceWords   = 4
	minSentenceLetters = 24
)

// maxLabelWords is the maximum number of words, such as "Step 3:", that a client may prepend to
// a sentence of the model.
const maxLabelWords = 3

// maxThoughtWords is the maximum number of words of a dialogue's thinking that are searched for,
// and maxComparedThoughts that of their comparisons with replies. Attempts of thirty steps have
// a hundredth. Larger ones are not measured.
const (
	maxThoughtWords     = 1 << 18
	maxComparedThoughts = 1 << 26
)

// MeasureUnsaid returns how much of the thinking is in no logged reply. It compares words, so
// that case, blanks, punctuation, markup and escapes do not matter. It returns the zero value if
// the log lacks a reply or a part of one.
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

// WithoutUnsaid returns the turns of the dialogue without the sentences of thinking that are in no
// logged reply. If MeasureUnsaid cannot tell, it returns the turns unchanged.
func (a *Attempt) WithoutUnsaid() []arena.Turn {
	turns := slices.Clone(a.Dialogue.Turns)
	if a.MeasureUnsaid().Missing == 0 {
		return turns
	}
	for _, t := range slices.Backward(a.scratch.thoughts.thoughts) {
		if !t.isSaid {
			turn := &turns[t.turn]
			turn.Think = turn.Think[:t.start] + turn.Think[t.end:]
		}
	}
	return turns
}

// hasWholeReplies reports whether the log has at least one reply, all replies that the sandbox
// counted, and all of them readable and not truncated.
func (a *Attempt) hasWholeReplies() bool {
	if len(a.Log.Replies) == 0 || a.Lost > 0 || a.Readable < len(a.Log.Replies) {
		return false
	}
	if len(a.scratch.entries) >= MaxCalls {
		return false // further entries are not read
	}
	return !slices.ContainsFunc(a.Log.Replies, func(r Reply) bool { return r.Call.Truncated })
}

// thought is a sentence of thinking: its turn and its byte offsets there, the hashes of its words,
// and whether a reply contains it.
type thought struct {
	turn, start, end int

	words  []uint64
	isSaid bool
}

// thoughtMatcher searches replies for the sentences of a dialogue's thinking. Its memory is
// reused for the next dialogue.
type thoughtMatcher struct {
	thoughts []thought
	// words are the words of all sentences.
	words []uint64
	// missing counts the sentences that were not found yet.
	missing int
	// mayStart is indexed by the low bits of a word's hash. It is true for each word with which
	// a sentence may start.
	mayStart [1 << 10]bool
	// text has the words of the text that is being searched.
	text []uint64
	// compared counts comparisons. tooMany reports whether the sentences or comparisons exceed
	// their limit.
	compared int
	tooMany  bool
}

// emptied returns an empty matcher of thoughts that reuses the memory of m.
func (m *thoughtMatcher) emptied() thoughtMatcher {
	return thoughtMatcher{
		thoughts: cleared(m.thoughts),
		words:    m.words[:0],
		text:     m.text[:0],
	}
}

// read replaces the sentences of m by those of the thinking in turns, the turns of a dialogue.
func (m *thoughtMatcher) read(turns []arena.Turn) {
	*m = m.emptied()
	for i := range turns {
		start := 0
		for sentence := range sentences(withoutCutWord(turns[i].Think)) {
			end := start + len(sentence)
			m.add(sentence, thought{turn: i, start: start, end: end})
			start = end
		}
	}
	m.missing = len(m.thoughts)
}

// add adds a sentence to m, at the place that t has. It ignores a sentence that is too short to be recognised (see
// minSentenceWords). It sets m.tooMany instead if m has more than maxThoughtWords words.
func (m *thoughtMatcher) add(sentence string, t thought) {
	if len(m.words) > maxThoughtWords {
		m.tooMany = true
		return
	}
	start := len(m.words)
	m.words = AppendWords(m.words, sentence)
	words := m.words[start:len(m.words):len(m.words)]
	t.words = words
	if len(words) < minSentenceWords && countLetters(sentence) < minSentenceLetters {
		m.words = m.words[:start]
		return
	}
	m.thoughts = append(m.thoughts, t)
	for _, word := range startsOf(words) {
		m.mayStart[word%uint64(len(m.mayStart))] = true
	}
}

// startsOf returns the words of a sentence with which the model may have begun it: the first word,
// and the following ones up to maxLabelWords, since a client may have put a label such as "Step 3:"
// before the sentence. At least minSentenceWords words remain after a label. The result has at
// least the first word.
func startsOf(words []uint64) []uint64 {
	n := min(maxLabelWords, len(words)-minSentenceWords)
	return words[:max(n, 0)+1]
}

// answerKeys are the keys of a completion whose values contain what the model wrote, in the
// forms of OpenAI's chats, Anthropic's messages, OpenAI's responses and Gemini. The values of
// other keys may repeat the prompt.
var answerKeys = [...]string{"choices", "content", "output", "candidates"}

// maxEscapes is how many times the escapes of a reply are decoded. The reply is JSON, arguments
// are JSON in a string of the reply, and a call may be quoted in the arguments.
const maxEscapes = 3

// searchReply marks the sentences that are in the texts, the reasoning or the call arguments of
// a reply, after its escapes were decoded the given number of times.
func (m *thoughtMatcher) searchReply(r *Reply, escapes int) {
	if m.missing == 0 || m.tooMany {
		return
	}
	body := r.Call.Response.Text()
	if !strings.HasPrefix(body, "{") {
		body = joinStream(body)
	}
	gjson.Parse(body).ForEach(func(key, value gjson.Result) bool {
		if slices.Contains(answerKeys[:], key.Str) {
			text := value.Raw
			for range escapes {
				text = unescape(text)
			}
			m.search(text)
		}
		return true
	})
}

// search searches text, a part of a model's reply, for the sentences of m. It sets isSaid for each
// sentence whose words appear in it consecutively. After maxComparedThoughts comparisons it sets
// m.tooMany and stops.
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

// begins reports whether text, as word hashes, begins with the words of the sentence. A label that
// a client put before the sentence may be missing.
func (t *thought) begins(text []uint64) bool {
	for label, start := range startsOf(t.words) {
		words := t.words[label:]
		if start == text[0] && len(text) >= len(words) && slices.Equal(text[:len(words)], words) {
			return true
		}
	}
	return false
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
	return strings.TrimRightFunc(body, isWordRune)
}

// sentences yields the sentences of a text. Line breaks and closing punctuation end a sentence.
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

// sentenceEnd returns the byte offset of the end of the first sentence in a line. A point within a
// word or a number does not end a sentence.
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
