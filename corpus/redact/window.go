package redact

import (
	"hash/maphash"
	"sync/atomic"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
)

// span is a part of a text from byte offset start to before byte offset end.
type span struct{ start, end int }

// The match of a rule begins at most reachBack bytes before its keyword, and its secret begins
// at most reachOn bytes after the keyword. The searched part of the text is extended at both
// ends to whole tokens, by at most longest bytes.
const (
	reachBack = 96
	reachOn   = 256
	longest   = 16 << 10
)

// places returns the parts of a text to search with a redaction rule whose matches begin with a
// keyword: for each occurrence of a keyword, from the keyword to 256 bytes after it, extended to
// the end of the token (text between spaces or quotes) there.
func places(text string, findings []hit) []span {
	seen := tokens{text: text}
	return slicesx.Map(findings, func(h hit) span {
		return span{h.start, seen.end(h.end + reachOn)}
	})
}

// windows returns the parts of a text to search for a rule: from 96 bytes before each keyword to
// 256 bytes after it, extended at both ends to whole tokens so that no secret is cut. Parts that
// overlap are merged. findings, the occurrences of keywords, must be sorted.
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

// begin returns the start of the token (text between spaces or quotes) that contains an index. It
// looks back at most 16 KiB and not beyond the offset before. The result is never inside a UTF-8
// character.
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

// tokens finds the ends of the tokens of a text, which are separated by spaces and quotes. It
// remembers the last part without separators that it searched, so that many calls inside one long
// token cost no more than one.
type tokens struct {
	text string
	// from and to are the bounds of that stretch.
	from, to int
}

// end returns the end of the token that contains an index, at most 16 KiB (longest) after the
// index and not inside a character.
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

// walk returns the index of the next separator from index on, or dst if there is none before dst.
func (t *tokens) walk(index, dst int) int {
	for index < dst && !separator(t.text[index]) {
		index++
	}
	return index
}

func separator(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '"' || c == '\'' }

// stretches returns the parts of s that consist of at least minimum consecutive bytes of a set,
// each as long as possible.
func stretches(s string, set *charset, minimum int) []span {
	var out []span
	for start, end := range text.Runs(s, (*[256]bool)(set), minimum) {
		out = append(out, span{start, end})
	}
	return out
}

// clean is a cache of texts in which no secret was found, as 64-bit hashes: the attempts of a day
// share most texts, such as system prompts, and each is scanned several times. The seed of the hash
// differs in each process, so that nobody can construct a text with the hash of another. The small
// table few is replaced by the large table many when many hashes have overwritten others: an
// evaluation has few clean texts, a day of 27,000 attempts 300,000.
type clean struct {
	seed maphash.Seed
	few  [1 << 13]atomic.Uint64
	many atomic.Pointer[[1 << 19]atomic.Uint64]
	// lost counts the hashes that overwrote others.
	lost atomic.Int64
}

// has reports whether a text was added to the cache and is still in it: a later text may overwrite
// its hash.
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
