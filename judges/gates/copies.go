package gates

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
)

// What stands in the thinking as a tool wrote it is the tool's word and not the
// agent's: it analyses nothing. A copy is a run of minRun or more words of an
// earlier result in its own order, whatever the signs between them, that lays out
// minFields or more fields, or is a whole line of a result that is text. One that
// is no longer than a listing and stands in a line of minOwn own words is cited
// and stays.
const (
	minRun    = 5
	minFields = 3
	minOwn    = 3
	// minLine is the least length in bytes of a copied line, maxListing the most of
	// a listing that is cited.
	minLine    = 24
	maxListing = 400
)

// thought is the thinking of one turn. Words are those that are looked for in
// results, nil where nothing can be a copy, hashes what each hashes to.
type thought struct {
	turn   int
	text   string
	words  []span
	hashes []uint64
}

// copies finds what the thinking copies from earlier results.
type copies struct {
	turns []arena.Turn
	// runs are those of minRun words in the thinking, and whether the results of the
	// turns before read hold them.
	runs map[uint64]bool
	read int
}

func newCopies(turns []arena.Turn, thoughts []thought) *copies {
	isText := func(c arena.Call) bool { return c.Result.Kind() == arena.String }
	firstText := slices.IndexFunc(turns, func(t arena.Turn) bool { return slices.ContainsFunc(t.Calls, isText) })
	c := &copies{turns: turns, runs: map[uint64]bool{}}
	for i := range thoughts {
		t := &thoughts[i]
		if textBefore := firstText >= 0 && firstText < t.turn; !textBefore && strings.Count(t.text, ":") < minFields {
			continue
		}
		eachWord(t.text, func(at span) {
			t.words, t.hashes = append(t.words, at), append(t.hashes, maphash.String(seed, t.text[at.start:at.end]))
		})
		for k := 0; k+minRun <= len(t.hashes); k++ {
			c.runs[runOf(t.hashes[k:])] = false
		}
	}
	return c
}

// seed makes the hashes of words alike within a process; no answer depends on it.
var seed = maphash.MakeSeed()

// eachWord calls f for the words of a text. A lone 0 is none: other writers of JSON
// have 61 for 61.0.
func eachWord(text string, f func(at span)) {
	for i := 0; i < len(text); {
		end := spelledRun(text, i)
		if end > i && text[i:end] != "0" {
			f(span{int32(i), int32(end)})
		}
		i = max(end, i+1)
	}
}

func runOf(hashes []uint64) (sum uint64) {
	for _, h := range hashes[:minRun] {
		sum = sum*0x9E3779B97F4A7C15 + h
	}
	return sum
}

// before reads the results of the turns before turn.
func (c *copies) before(turn int) {
	for ; c.read < turn; c.read++ {
		for _, call := range c.turns[c.read].Calls {
			c.find(call.Result.Text())
		}
	}
}

func (c *copies) find(text string) {
	var last [minRun]uint64
	eachWord(text, func(at span) {
		copy(last[:], last[1:])
		last[minRun-1] = maphash.String(seed, text[at.start:at.end])
		if _, wanted := c.runs[runOf(last[:])]; wanted {
			c.runs[runOf(last[:])] = true
		}
	})
}

// without is the text of a thought with line ends in place of all copies, so that
// nothing joins across them. Thoughts come in the order of their turns.
func (c *copies) without(t *thought) string {
	if t.words == nil {
		return t.text
	}
	c.before(t.turn)
	text, words := t.text, t.words
	copied := make([]bool, len(words)+1) // the last is none, and ends every run
	for i := 0; i+minRun <= len(words); i++ {
		for k := i; c.runs[runOf(t.hashes[i:])] && k < i+minRun; k++ {
			copied[k] = true
		}
	}
	b := []byte(text)
	for from := 0; from < len(words); from++ {
		to := from
		for copied[to] {
			to++
		}
		if to == from {
			continue
		}
		at, own := span{words[from].start, words[to-1].end}, ownWords(text, words, copied, from)
		if isCopy(text, at, own) {
			blank(b, at, own < minOwn)
		}
		from = to
	}
	return string(b)
}

// blank puts line ends in place of a run, or of its whole lines.
func blank(b []byte, at span, lines bool) {
	for i := at.start; i < at.end; i++ {
		b[i] = '\n'
	}
	for i := at.start - 1; lines && i >= 0 && b[i] != '\n'; i-- {
		b[i] = '\n'
	}
	for i := int(at.end); lines && i < len(b) && b[i] != '\n'; i++ {
		b[i] = '\n'
	}
}

// isCopy reports whether a run that stands in a line of so many own words is a copy.
func isCopy(text string, run span, own int) bool {
	at := text[run.start:run.end]
	if strings.Count(at, ":") >= minFields {
		return own < minOwn || len(at) > maxListing
	}
	return own == 0 && len(at) >= minLine && strings.ContainsAny(at, "0123456789") && !strings.Contains(at, "\n")
}

// ownWords counts the words that are not copied in the lines that a run of copied
// words, from one of them on, stands in.
func ownWords(text string, words []span, copied []bool, from int) (own int) {
	joined := func(i int) bool { return !strings.Contains(text[words[i].end:words[i+1].start], "\n") }
	for i := from; i > 0 && joined(i-1) && own < minOwn; i-- {
		if !copied[i-1] {
			own++
		}
	}
	for i := from; i+1 < len(words) && (copied[i+1] || joined(i)) && own < minOwn; i++ {
		if !copied[i+1] {
			own++
		}
	}
	return own
}
