package gates

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trajectory-arena/arena"
)

// Thinking may repeat the text of a tool result. Such text is not the agent's own and analyses
// nothing. These limits decide which runs of words count as copied; copies are removed before the
// thinking is judged.
const (
	// minRun is the minimum number of consecutive words that a copy shares with an earlier result,
	// whatever punctuation separates them.
	minRun = 5
	// minFields is the minimum number of colons from which on words copied from a tool result count
	// as a list of fields, such as "id: 612 price: 90".
	minFields = 3
	// minOriginal is the minimum number of the agent's own words in the lines of a list of fields
	// that it copied from a tool result. With so many words of its own the list counts as a
	// citation and is kept.
	minOriginal = 3
	// minLine is the minimum number of bytes of words copied from a tool result, not a list of
	// fields, for them to count as a copy and be removed from the thinking.
	minLine = 24
	// maxListing is the maximum number of bytes of a list of fields, copied from a tool result into
	// the thinking, that is kept as a citation.
	maxListing = 400
)

// thought is the thinking of one turn.
type thought struct {
	// turn is the index of the turn in the dialogue.
	turn int
	text string
	// words are the byte ranges of the words of text, and hashes their hashes. Both are nil if the
	// text cannot contain a copy.
	words  []span
	hashes []uint64
}

// copyFinder finds the parts of the thinking that are copied from earlier tool results.
type copyFinder struct {
	turns []arena.Turn
	// runs has the hash of each run of minRun consecutive words in the thinking. The value is true
	// if a result that was read so far contains the run.
	runs map[uint64]bool
	// words is a set with at least the words of the thinking. Most words of results are not in it, so that
	// no run contains them.
	words wordSet
	// read is the number of turns whose results have been read.
	read int
}

func newCopyFinder(turns []arena.Turn, thoughts []thought) *copyFinder {
	isText := func(c arena.Call) bool {
		return c.Result.Kind() == arena.String
	}
	firstText := slices.IndexFunc(turns, func(t arena.Turn) bool {
		return slices.ContainsFunc(t.Calls, isText)
	})
	count := 0
	for i := range thoughts {
		t := &thoughts[i]
		followsText := firstText >= 0 && firstText < t.turn
		if !followsText && strings.Count(t.text, ":") < minFields {
			continue
		}
		eachWord(t.text, func(word span) {
			t.words = append(t.words, word)
			t.hashes = append(t.hashes, maphash.String(seed, t.text[word.start:word.end]))
		})
		count += len(t.words)
	}
	f := &copyFinder{turns: turns, runs: make(map[uint64]bool, count)}
	for i := range thoughts {
		hashes := thoughts[i].hashes
		for k := 0; k+minRun <= len(hashes); k++ {
			f.runs[hashRun(hashes[k:])] = false
		}
		for _, word := range thoughts[i].words {
			f.words.add(thoughts[i].text[word.start:word.end])
		}
	}
	return f
}

// seed makes equal words have equal hashes. It differs from process to process, but no grade
// depends on it.
var seed = maphash.MakeSeed()

// eachWord calls f with the byte range of each word of a text, where a character of a script
// without blanks is a word. It skips a word that is only "0", since some JSON writers write 61.0
// for 61.
func eachWord(text string, f func(word span)) {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf && !isWordByte(c) {
			i++
			continue
		}
		end := wordOrRuneEnd(text, i)
		if end > i && text[i:end] != "0" {
			f(span{int32(i), int32(end)})
		}
		i = max(end, i+1)
	}
}

// hashRun combines the first minRun hashes, each of one word, into one hash.
func hashRun(hashes []uint64) uint64 {
	sum := uint64(0)
	for _, h := range hashes[:minRun] {
		sum = sum*0x9E3779B97F4A7C15 + h
	}
	return sum
}

// readBefore reads the tool results of all turns before the given one that have not been read yet.
// f.runs has every run of minRun words in the agent's thinking; readBefore marks those that a
// result contains as true, since they may be copied from it.
func (f *copyFinder) readBefore(turn int) {
	for ; f.read < turn; f.read++ {
		for _, call := range f.turns[f.read].Calls {
			f.readResult(call.Result.Text())
		}
	}
}

func (f *copyFinder) readResult(text string) {
	var window [minRun]uint64
	count := 0 // consecutive words that the thinking may have
	eachWord(text, func(word span) {
		w := text[word.start:word.end]
		if !f.words.mayHave(w) {
			count = 0
			return
		}
		count++
		copy(window[:], window[1:])
		window[minRun-1] = maphash.String(seed, w)
		if count < minRun {
			return
		}
		run := hashRun(window[:])
		if _, ok := f.runs[run]; ok {
			f.runs[run] = true
		}
	})
}

// blankCopies returns the thinking t without what the agent only copied from earlier tool results,
// since a copy shows no reasoning. Every byte of a copy is replaced by a newline, and so are the
// rest of its lines if these have fewer than minOriginal words of the agent's own. Byte offsets
// stay the same, and no sentence continues across a copy. It must be called for the thoughts in the
// order of their turns.
func (f *copyFinder) blankCopies(t *thought) string {
	if t.words == nil {
		return t.text
	}
	f.readBefore(t.turn)
	copied := f.copiedWords(t)
	b := []byte(t.text)
	for start := 0; start < len(t.words); start++ {
		end := start
		for copied[end] {
			end++
		}
		if end == start {
			continue
		}
		run := span{t.words[start].start, t.words[end-1].end}
		original := countOriginal(t, copied, start)
		if isCopy(t.text, run, original) {
			blank(b, run, original < minOriginal)
		}
		start = end
	}
	return string(b)
}

// copiedWords reports for each word of a thought whether it is in a run of minRun words that a
// result contains. The result has one item more than there are words, which is false, so that every
// run of true items ends.
func (f *copyFinder) copiedWords(t *thought) []bool {
	copied := make([]bool, len(t.words)+1)
	for i := 0; i+minRun <= len(t.words); i++ {
		if !f.runs[hashRun(t.hashes[i:])] {
			continue
		}
		for k := i; k < i+minRun; k++ {
			copied[k] = true
		}
	}
	return copied
}

// blank overwrites a range of bytes with newlines or, if lines is true, all bytes of the lines that
// the range touches.
func blank(b []byte, run span, lines bool) {
	start := int(run.start)
	end := int(run.end)
	if lines {
		for start > 0 && b[start-1] != '\n' {
			start--
		}
		for end < len(b) && b[end] != '\n' {
			end++
		}
	}
	for i := start; i < end; i++ {
		b[i] = '\n'
	}
}

// isCopy reports whether words that a tool result also contains are only copied, and not cited in
// the agent's own sentence. original is the number of the agent's own words in the same lines,
// counted up to minOriginal. A list of fields, with at least minFields colons, is a copy if there
// are fewer than minOriginal such words or the list is longer than maxListing bytes. Other words
// are a copy if their line has no other words, they have a digit and are at least minLine bytes
// long.
func isCopy(text string, run span, original int) bool {
	copied := text[run.start:run.end]
	if strings.Count(copied, ":") >= minFields {
		return original < minOriginal || len(copied) > maxListing
	}
	if original > 0 || len(copied) < minLine {
		return false
	}
	return strings.ContainsAny(copied, "0123456789") && !strings.Contains(copied, "\n")
}

// countOriginal counts, up to minOriginal, the words that are the agent's own in the lines of a
// copied run. copied reports for each word of t whether it is copied, and i is the index of the
// run's first word.
func countOriginal(t *thought, copied []bool, i int) int {
	sameLine := func(i int) bool {
		return !strings.Contains(t.text[t.words[i].end:t.words[i+1].start], "\n")
	}
	count := 0
	for k := i; k > 0 && sameLine(k-1) && count < minOriginal; k-- {
		if !copied[k-1] {
			count++
		}
	}
	for k := i; k+1 < len(t.words) && count < minOriginal; k++ {
		if !copied[k+1] && !sameLine(k) {
			break
		}
		if !copied[k+1] {
			count++
		}
	}
	return count
}
