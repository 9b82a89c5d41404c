package redact

import (
	"hash/maphash"
	"sync/atomic"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
)

// span is a part of a text by byte offsets.
type span struct{ start, end int }

// The rules name a secret at most reachBack bytes before their keyword and
// begin it at most reachOn bytes after. A window then goes on to the end of the
// token that it cuts, at most longest bytes on.
const (
	reachBack = 96
	reachOn   = 256
	longest   = 16 << 10
)

func places(text string, findings []hit) []span {
	seen := tokens{text: text}
	return slicesx.Map(findings, func(h hit) span {
		return span{h.start, seen.end(h.end + reachOn)}
	})
}

// windows returns the parts of a text around sorted words, merged where they overlap. They
// end where tokens do, so that no expression sees half of one.
func windows(text string, findings []hit) []span {
	var out []span
	seen := tokens{text: text}
	for _, h := range findings {
		before := -1
		if n := len(out); n > 0 {
			before = out[n-1].end
		}
		w := span{begin(text, h.start-reachBack, before), seen.end(h.end + reachOn)}
		if w.start <= before {
			out[len(out)-1].end = max(before, w.end)
		} else {
			out = append(out, w)
		}
	}
	return out
}

// begin returns the start of the token at an index, at most longest bytes before it, and
// never within a character or before the given index.
func begin(text string, index, before int) int {
	index = max(0, index)
	for floor := max(0, before, index-longest); index > floor && !separator(text[index-1]); {
		index--
	}
	for index > 0 && !utf8.RuneStart(text[index]) {
		index--
	}
	return index
}

// tokens finds the ends of a text's tokens. It knows the last stretch that it
// walked over, so that many places in one long token cost no more than one.
type tokens struct {
	text string
	// from and to bound a stretch without separators.
	from, to int
}

// end returns the end of the token at an index, at most longest bytes after it, and never
// within a character.
func (t *tokens) end(index int) int {
	index = min(index, len(t.text))
	if free := t.walk(index, t.from); index > t.to || free < t.from {
		t.from = index
		t.to = free
	}
	t.from = min(t.from, index)
	ceiling := min(len(t.text), index+longest)
	t.to = t.walk(t.to, ceiling)
	end := min(t.to, ceiling)
	for end < len(t.text) && !utf8.RuneStart(t.text[end]) {
		end++
	}
	return end
}

// walk moves from an index to the next separator, or to the other index.
func (t *tokens) walk(index, dst int) int {
	for index < dst && !separator(t.text[index]) {
		index++
	}
	return index
}

func separator(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '"' || c == '\'' }

func stretches(s string, set *charset, minimum int) []span {
	var out []span
	for start, end := range text.Runs(s, (*[256]bool)(set), minimum) {
		out = append(out, span{start, end})
	}
	return out
}

// clean remembers texts that hold no finding: the attempts of a day share most
// of theirs, such as a system prompt, what one search answers and the few words
// of a column, and a text is read when its tokens are counted and again in each
// file that it stands in. The seed is drawn by each process, so that nobody can
// write a text that is taken for another. There is room for few names until they take
// each other's: an evaluation has few clean texts, a day of 27,000 attempts 300,000.
type clean struct {
	seed maphash.Seed
	few  [1 << 13]atomic.Uint64
	many atomic.Pointer[[1 << 19]atomic.Uint64]
	// lost counts the names that others took the place of.
	lost atomic.Int64
}

// has reports whether a text was added, unless a later one took its place.
func (c *clean) has(text string) bool {
	index, name := c.entry(text)
	return index.Load() == name
}

func (c *clean) add(text string) {
	if index, name := c.entry(text); index.Swap(name) != 0 && c.lost.Add(1) == int64(len(c.few)/4) {
		c.many.Store(new([1 << 19]atomic.Uint64))
	}
}

func (c *clean) entry(text string) (*atomic.Uint64, uint64) {
	name := maphash.String(c.seed, text) | 1
	names := c.few[:]
	if many := c.many.Load(); many != nil {
		names = many[:]
	}
	return &names[name>>1%uint64(len(names))], name
}
