package gates

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
)

// Text in the thinking that a tool wrote is not the agent's: it analyses nothing.
// A copy is a run of minRun or more words of an earlier result in the result's
// order, whatever the signs between them, that contains minFields or more fields,
// or is a line of a result that is text. A run that is no longer than maxListing
// and is in a line with minOriginal other words is a citation and stays.
const (
	minRun      = 5
	minFields   = 3
	minOriginal = 3
	// minLine is the minimum length in bytes of a copied line, maxListing the
	// maximum length of a listing that is cited.
	minLine    = 24
	maxListing = 400
)

// thought is the thinking of one turn.
type thought struct {
	turn int
	text string
	// words are those that are looked for in results, nil if nothing can be a
	// copy; hashes are their hashes.
	words  []span
	hashes []uint64
}

// copyFinder finds what the thinking copies from earlier results.
type copyFinder struct {
	turns []arena.Turn
	// runs has the hash of each run of minRun words in the thinking, with whether
	// it is in the results read so far.
	runs map[uint64]bool
	// read is the number of turns whose results are read.
	read int
}

func newCopyFinder(turns []arena.Turn, thoughts []thought) *copyFinder {
	isText := func(c arena.Call) bool {
		return c.Result.Kind() == arena.String
	}
	firstText := slices.IndexFunc(turns, func(t arena.Turn) bool {
		return slices.ContainsFunc(t.Calls, isText)
	})
	f := &copyFinder{turns: turns, runs: map[uint64]bool{}}
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
		for k := 0; k+minRun <= len(t.hashes); k++ {
			f.runs[hashRun(t.hashes[k:])] = false
		}
	}
	return f
}

// seed makes equal words hash alike within a process. No grade depends on it.
var seed = maphash.MakeSeed()

// eachWord calls f for the words of a text. A 0 alone is no word: some writers of
// JSON write 61.0 for 61.
func eachWord(text string, f func(word span)) {
	for i := 0; i < len(text); {
		end := wordOrRuneEnd(text, i)
		if end > i && text[i:end] != "0" {
			f(span{int32(i), int32(end)})
		}
		i = max(end, i+1)
	}
}

// hashRun returns the hash of the first minRun words.
func hashRun(hashes []uint64) uint64 {
	sum := uint64(0)
	for _, h := range hashes[:minRun] {
		sum = sum*0x9E3779B97F4A7C15 + h
	}
	return sum
}

// readBefore reads the results of the turns before turn.
func (f *copyFinder) readBefore(turn int) {
	for ; f.read < turn; f.read++ {
		for _, call := range f.turns[f.read].Calls {
			f.readResult(call.Result.Text())
		}
	}
}

func (f *copyFinder) readResult(text string) {
	var window [minRun]uint64
	eachWord(text, func(word span) {
		copy(window[:], window[1:])
		window[minRun-1] = maphash.String(seed, text[word.start:word.end])
		run := hashRun(window[:])
		if _, ok := f.runs[run]; ok {
			f.runs[run] = true
		}
	})
}

// blankCopies returns the text of a thought with line ends in place of all
// copies, so that nothing joins across them. It must be called for the thoughts
// in the order of their turns.
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

// copiedWords reports for each word whether it is part of a copied run. The last
// item stands for no word, is false and ends every run.
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

// blank writes line ends over a run, or over all lines that it is part of.
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

// isCopy reports whether a run in a line with that many original words is a copy.
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

// countOriginal returns the number of words that are not copied, at most
// minOriginal, in the lines of the run of copied words that word i is in.
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
