package evidence

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

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
	// Origin is who wrote the thinking, of sentences of any length.
	Origin arena.Origin
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

// MeasureUnsaid returns how much of the thinking is in no logged reply, and the turns of the
// dialogue without what no reply contains: sentences of any length, and words that a client put
// before a sentence or at the end of a turn. It compares words, so that case, blanks, punctuation,
// markup and escapes do not matter. If the log lacks a reply or a part of one, it returns only the
// origin, and the turns as they are.
func (a *Attempt) MeasureUnsaid() (Unsaid, []arena.Turn) {
	turns := a.Dialogue.Turns
	m := &a.scratch.thoughts
	m.read(turns)
	for escapes := range maxEscapes + 1 {
		for i := range a.Log.Replies {
			m.searchReply(&a.Log.Replies[i], escapes)
		}
	}
	isWhole := a.hasWholeReplies() && !m.tooMany
	origin := m.origin(isWhole)
	if !isWhole {
		return Unsaid{Origin: origin}, turns
	}
	u := m.count()
	u.Origin = origin
	return u, m.cut(turns)
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

// thought is a sentence of thinking: its turn, its byte offsets there and the hashes of its words.
type thought struct {
	turn, start, end int

	words []uint64
	// cutAt is the byte offset of the last word if the client may have cut it (see withoutCutWord),
	// otherwise end. uncut is the number of words before it.
	cutAt, uncut int
	// isShort reports whether the sentence is too short to show who wrote the thinking (see
	// minSentenceWords).
	isShort bool
	match   match
}

// match is how much of a sentence a reply contains.
type match struct {
	// isSaid reports whether a reply contains the sentence. It may lack the number label of words at
	// the start, and the last word if isCut is set.
	isSaid, isCut bool
	label         int
}

// isWhole reports whether a reply contains every word of the sentence.
func (m match) isWhole() bool { return m.isSaid && !m.isCut && m.label == 0 }

// thoughtMatcher searches replies for the sentences of a dialogue's thinking. Its memory is
// reused for the next dialogue.
type thoughtMatcher struct {
	thoughts []thought
	// words are the words of all sentences.
	words []uint64
	// open counts the sentences that were not found as a whole yet.
	open int
	// mayStart is indexed by the low bits of a word's hash. It is true for each word with which
	// a sentence may start.
	mayStart [1 << 10]bool
	// text has the words of the text that is being searched.
	text []uint64
	// decoded holds the text between and after the decoding of its escapes.
	decoded [2][]byte
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
		decoded:  m.decoded,
	}
}

// read replaces the sentences of m by those of the thinking in turns, the turns of a dialogue.
func (m *thoughtMatcher) read(turns []arena.Turn) {
	*m = m.emptied()
	for i := range turns {
		think := turns[i].Think
		cutAt := len(withoutCutWord(think))
		start := 0
		for sentence := range sentences(think) {
			end := start + len(sentence)
			m.add(think, thought{turn: i, start: start, end: end, cutAt: min(max(cutAt, start), end)})
			start = end
		}
	}
	m.open = len(m.thoughts)
}

// add adds a sentence to m, at the place in a turn's thinking that t has. It ignores a sentence
// without words. It sets m.tooMany instead if m has more than maxThoughtWords words.
func (m *thoughtMatcher) add(think string, t thought) {
	if len(m.words) > maxThoughtWords {
		m.tooMany = true
		return
	}
	sentence := think[t.start:t.cutAt]
	start := len(m.words)
	m.words = AppendWords(m.words, sentence)
	t.uncut = len(m.words) - start
	m.words = AppendWords(m.words, think[t.cutAt:t.end])
	t.words = m.words[start:len(m.words):len(m.words)]
	if len(t.words) == 0 {
		return
	}
	t.isShort = t.uncut < minSentenceWords && countLetters(sentence) < minSentenceLetters
	m.thoughts = append(m.thoughts, t)
	for _, word := range t.starts() {
		m.mayStart[word%uint64(len(m.mayStart))] = true
	}
}

// starts returns the words of a sentence with which the model may have begun it: the first word,
// and the following ones up to maxLabelWords, since a client may have put a label such as "Step 3:"
// before the sentence. At least minSentenceWords words remain after a label. The result has at
// least the first word.
func (t *thought) starts() []uint64 {
	n := min(maxLabelWords, t.uncut-minSentenceWords)
	return t.words[:max(n, 0)+1]
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
	if m.open == 0 || m.tooMany {
		return
	}
	body := r.Call.Response.Text()
	if !strings.HasPrefix(body, "{") {
		body = joinStream(body)
	}
	gjson.Parse(body).ForEach(func(key, value gjson.Result) bool {
		if slices.Contains(answerKeys[:], key.Str) {
			m.search(value.Raw, escapes)
		}
		return true
	})
}

// unescape returns text after its escapes were decoded the given number of times. changed reports whether the last
// time changed it. The result is valid until the next call.
func (m *thoughtMatcher) unescape(text string, times int) (decoded string, changed bool) {
	changed = true
	for i := range times {
		before := len(text)
		text = decodeSigns(text)
		if strings.IndexByte(text, '\\') >= 0 {
			b := &m.decoded[i%len(m.decoded)]
			*b = appendUnescaped((*b)[:0], text)
			text = unsafe.String(unsafe.SliceData(*b), len(*b))
		}
		changed = len(text) < before
	}
	return text, changed
}

// search searches text, a part of a model's reply, for the sentences of m, after its escapes were
// decoded the given number of times. It updates match for each sentence whose words appear in it
// consecutively. After maxComparedThoughts comparisons it sets m.tooMany and stops.
func (m *thoughtMatcher) search(text string, escapes int) {
	text, changed := m.unescape(text, escapes)
	if !changed {
		return // it was searched before
	}
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
			if t.match.isWhole() {
				continue
			}
			if f := t.begins(m.text[at:]); f.isWhole() {
				t.match = f
				m.open--
			} else if !t.match.isSaid {
				t.match = f
			}
		}
	}
}

// begins returns how much of the sentence is at the start of text, which has hashes of words: all,
// all but a label that a client put before it, or all but a last word that a client may have cut.
func (t *thought) begins(text []uint64) match {
	for label, start := range t.starts() {
		if start != text[0] {
			continue
		}
		words := t.words[label:]
		n := 1
		for n < min(len(words), len(text)) && words[n] == text[n] {
			n++
		}
		if label+n >= t.uncut {
			return match{isSaid: true, isCut: n < len(words), label: label}
		}
	}
	return match{}
}

// origin returns who wrote the sentences. isWhole reports whether the log has all replies, and all
// were searched.
func (m *thoughtMatcher) origin(isWhole bool) arena.Origin {
	isMissing := slices.ContainsFunc(m.thoughts, func(t thought) bool { return !t.match.isSaid })
	switch {
	case len(m.thoughts) == 0:
		return arena.OriginNone
	case isMissing && isWhole:
		return arena.OriginClient
	case isMissing || m.tooMany:
		return arena.OriginOpen
	}
	return arena.OriginModel
}

// count returns the number of sentences that are no short ones, and of the missing among them.
func (m *thoughtMatcher) count() Unsaid {
	var u Unsaid
	for i := range m.thoughts {
		t := &m.thoughts[i]
		if t.isShort {
			continue
		}
		u.Sentences++
		if !t.match.isSaid {
			u.Missing++
		}
	}
	return u
}

// cut returns turns, those that m.read read, without the sentences and words that were not found.
// If all were found, the result is turns itself.
func (m *thoughtMatcher) cut(turns []arena.Turn) []arena.Turn {
	if m.open == 0 {
		return turns
	}
	for i := range m.thoughts[1:] {
		m.thoughts[i+1].missWith(&m.thoughts[i])
	}
	for i := range slices.Backward(m.thoughts[1:]) {
		m.thoughts[i].missWith(&m.thoughts[i+1])
	}
	size := 0
	for i := range turns {
		size += len(turns[i].Think)
	}
	var b strings.Builder
	b.Grow(size)
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
		_, length := NextWord(text[at:])
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
