package thinking

import (
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

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

// matcher searches replies for the sentences of a dialogue's thinking. Its memory is
// reused for the next dialogue.
type matcher struct {
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

// matchers stores matchers for reuse, since their memory is most of what a measurement needs.
var matchers = sync.Pool{New: func() any { return &matcher{} }}

// release returns the matcher to the pool, without references to the dialogue.
func (m *matcher) release() {
	clear(m.thoughts)
	*m = matcher{
		thoughts: m.thoughts[:0],
		words:    m.words[:0],
		text:     m.text[:0],
		decoded:  m.decoded,
	}
	matchers.Put(m)
}

// read adds the sentences of the thinking in turns, the turns of a dialogue, to m.
func (m *matcher) read(turns []arena.Turn) {
	for i := range turns {
		think := turns[i].Think
		cutAt := len(withoutCutWord(think))
		start := 0
		for line := range strings.Lines(think) {
			for line != "" {
				end := start + sentenceEnd(line)
				line = line[end-start:]
				m.add(think, thought{turn: i, start: start, end: end, cutAt: min(max(cutAt, start), end)})
				start = end
			}
		}
	}
	m.open = len(m.thoughts)
}

// add adds a sentence to m, at the place in a turn's thinking that t has. It ignores a sentence
// without words. It sets m.tooMany instead if m has more than maxThoughtWords words.
func (m *matcher) add(think string, t thought) {
	if len(m.words) > maxThoughtWords {
		m.tooMany = true
		return
	}
	sentence := think[t.start:t.cutAt]
	start := len(m.words)
	m.words = evidence.AppendWords(m.words, sentence)
	t.uncut = len(m.words) - start
	m.words = evidence.AppendWords(m.words, think[t.cutAt:t.end])
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
func (m *matcher) searchReply(r *evidence.Reply, escapes int) {
	if m.open == 0 || m.tooMany {
		return
	}
	body, _ := r.Body()
	gjson.Parse(body).ForEach(func(key, value gjson.Result) bool {
		if slices.Contains(answerKeys[:], key.Str) {
			m.search(value.Raw, escapes)
		}
		return true
	})
}

// unescape returns text after its escapes were decoded the given number of times. changed reports
// whether the last time changed it. The result is valid until the next call.
func (m *matcher) unescape(text string, times int) (decoded string, changed bool) {
	changed = true
	for i := range times {
		before := len(text)
		b := &m.decoded[i%len(m.decoded)]
		text, *b = evidence.Unescape(*b, text)
		changed = len(text) < before
	}
	return text, changed
}

// search searches text, a part of a model's reply, for the sentences of m, after its escapes were
// decoded the given number of times. It updates match for each sentence whose words appear in it
// consecutively. After maxComparedThoughts comparisons it sets m.tooMany and stops.
func (m *matcher) search(text string, escapes int) {
	text, changed := m.unescape(text, escapes)
	if !changed {
		return // it was searched before
	}
	m.text = evidence.AppendWords(m.text[:0], text)
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
func (m *matcher) origin(isWhole bool) arena.Origin {
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
func (m *matcher) count() Unsaid {
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
