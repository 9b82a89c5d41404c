package gates

import (
	"hash/maphash"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

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

// copies finds what the thinking copies from earlier results.
type copies struct {
	turns []arena.Turn
	// firstText is the first turn with a result that is text.
	firstText int
	// seen are the runs of minRun words in the results of the turns before read,
	// as far as they were needed.
	seen map[uint64]bool
	read int
}

func newCopies(turns []arena.Turn) *copies {
	isText := func(c arena.Call) bool { return c.Result.Kind() == arena.String }
	first := slices.IndexFunc(turns, func(t arena.Turn) bool { return slices.ContainsFunc(t.Calls, isText) })
	if first < 0 {
		first = len(turns)
	}
	return &copies{turns: turns, firstText: first, seen: map[uint64]bool{}}
}

// seed makes the hashes of words alike within a process; no answer depends on it.
var seed = maphash.MakeSeed()

// wordsOf are the words of a text and what each hashes to. A lone 0 is none: other
// writers of JSON have 61 for 61.0.
func wordsOf(text string) (at []span, hashes []uint64) {
	for i := 0; i < len(text); {
		end := spelledRun(text, i)
		if word := text[i:max(end, i+1)]; end > i && word != "0" {
			at, hashes = append(at, span{int32(i), int32(end)}), append(hashes, maphash.String(seed, word))
		}
		i = max(end, i+1)
	}
	return at, hashes
}

// runOf is a hash of the first minRun words.
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
			text := string(call.Result)
			if call.Result.Kind() == arena.String {
				text = gjson.Parse(text).String()
			}
			for _, hashes := wordsOf(text); len(hashes) >= minRun; hashes = hashes[1:] {
				c.seen[runOf(hashes)] = true
			}
		}
	}
}

// keyForm is what may be the key of a field; maxKeys bounds those that are looked up.
var keyForm = regexp.MustCompile(`(\w+)["']?:`)

const maxKeys = 32

// laidOut reports whether a text has a key of an earlier result: few have, and only
// for these are results read word by word.
func (c *copies) laidOut(turn int, text string) bool {
	asked := map[string]bool{}
	for _, m := range keyForm.FindAllStringSubmatch(text, -1) {
		holds := func(call arena.Call) bool { return strings.Contains(string(call.Result), m[1]+`":`) }
		held := func(t arena.Turn) bool { return slices.ContainsFunc(t.Calls, holds) }
		if !asked[m[1]] && (len(asked) == maxKeys || slices.ContainsFunc(c.turns[:turn], held)) {
			return true
		}
		asked[m[1]] = true
	}
	return false
}

// without is text, thinking of a turn, with line ends in place of all copies, so
// that nothing joins across them.
func (c *copies) without(turn int, text string) string {
	if turn <= c.firstText && (strings.Count(text, ":") < minFields || !c.laidOut(turn, text)) {
		return text
	}
	c.before(turn)
	words, hashes := wordsOf(text)
	copied := make([]bool, len(words)+1) // the last is none, and ends every run
	for i := 0; i+minRun <= len(words); i++ {
		for k := i; c.seen[runOf(hashes[i:])] && k < i+minRun; k++ {
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
