package token

import (
	"container/heap"
	"regexp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// pieces are the parts of a word while byte-pair encoding merges them to tokens. They form a linked
// list. A part is identified by the index of its first byte in the word.
type pieces struct {
	// text is the word with each byte replaced by its symbol, a printable character. starts[i]
	// is the index in text of the symbol of byte i. The last element of starts is the length of
	// text.
	text   string
	starts []int
	// prev and next are the neighbours of each part. prev of the first part is -1, and next of
	// the last part is the length of the word. For a part that was merged into the previous one,
	// next is -1.
	prev, next []int
}

func newPieces(word string) *pieces {
	n := len(word)
	p := &pieces{
		starts: make([]int, n+1),
		prev:   make([]int, n),
		next:   make([]int, n),
	}
	var text strings.Builder
	for i := range n {
		p.prev[i] = i - 1
		p.next[i] = i + 1
		text.WriteString(symbols[word[i]])
		p.starts[i+1] = text.Len()
	}
	p.text = text.String()
	return p
}

// merge merges the part that begins at byte start of the word with the next part.
func (p *pieces) merge(start int) {
	merged := p.next[start]
	p.next[start] = p.next[merged]
	p.next[merged] = -1
	if after := p.next[start]; after < len(p.prev) {
		p.prev[after] = start
	}
}

// candidate is a possible merge, in byte-pair encoding, of the part of a word at byte start with
// the next part. rank is the position of the merge in the tokenizer's list; lower ranks are applied
// first.
type candidate struct{ rank, start int }

// candidate returns the possible merge of the part at byte start with the next part. ok is false
// if the tokenizer's list does not contain the merge.
func (t *Tokenizer) candidate(p *pieces, start int) (c candidate, ok bool) {
	second := p.next[start]
	if second < 0 || second == len(p.next) {
		return c, false
	}
	textStart := p.starts[start]
	textSplit := p.starts[second]
	textEnd := p.starts[p.next[second]]
	rank, ok := t.ranks[[2]string{
		p.text[textStart:textSplit],
		p.text[textSplit:textEnd],
	}]
	return candidate{rank, start}, ok
}

// candidates is a heap of possible merges, the lowest rank first. With a heap, even a very long
// word takes little more than linear time.
type candidates []candidate

// add adds c to the heap. It does nothing if ok is false.
func (q *candidates) add(c candidate, ok bool) {
	if ok {
		heap.Push(q, c)
	}
}

// Len returns the number of possible merges. It is used by package heap.
func (q *candidates) Len() int { return len(*q) }

// Less reports whether element i comes before element k: it has the lower rank or, with equal
// ranks, begins earlier in the word.
func (q *candidates) Less(i, k int) bool {
	a := (*q)[i]
	b := (*q)[k]
	if a.rank != b.rank {
		return a.rank < b.rank
	}
	return a.start < b.start
}

// Swap swaps the elements i and k. It is used by package heap.
func (q *candidates) Swap(i, k int) { (*q)[i], (*q)[k] = (*q)[k], (*q)[i] }

// Push appends x, a candidate, without restoring the order of the heap; callers use add.
func (q *candidates) Push(x any) {
	if c, ok := x.(candidate); ok {
		*q = append(*q, c)
	}
}

// Pop removes the last element and returns it, without restoring the order of the heap; callers
// use heap.Pop.
func (q *candidates) Pop() any {
	last := len(*q) - 1
	c := (*q)[last]
	*q = (*q)[:last]
	return c
}

// symbols maps each byte to the printable character that represents it in the vocabulary of
// GPT-2. Printable bytes are mapped to themselves, all others to U+0100 and the following
// characters.
var symbols = func() (table [256]string) {
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		isASCII := r >= '!' && r <= '~'
		isLatin1 := r >= '¡' && r != 0xAD
		if !isASCII && !isLatin1 {
			r = next
			next++
		}
		table[b] = string(r)
	}
	return table
}()

// The limits of a Tokenizer's cache: the maximum number of words, and the maximum size of a word
// in bytes.
const (
	maxCached      = 1 << 18
	maxCachedBytes = 64
)

// countWord returns the number of tokens of a word, a part of a split text. It caches the
// results for short words.
func (t *Tokenizer) countWord(word string) int {
	if n, ok := t.counts[word]; ok {
		return n
	}
	n := t.mergeWord(word)
	if len(t.counts) < maxCached && len(word) <= maxCachedBytes {
		t.counts[strings.Clone(word)] = n
	}
	return n
}

// mergeWord computes the number of tokens of a word by byte-pair encoding. It returns 1 if the
// model ignores merges for known words and knows the word. Otherwise it starts with one part
// per byte and merges the adjacent pair with the lowest rank, the first of equal ones, until
// the tokenizer has no merge for any pair.
func (t *Tokenizer) mergeWord(word string) int {
	p := newPieces(word)
	if _, ok := t.vocab[p.text]; ok {
		return 1
	}
	var queue candidates
	for i := range len(word) {
		queue.add(t.candidate(p, i))
	}
	n := len(word)
	for queue.Len() > 0 {
		c, _ := heap.Pop(&queue).(candidate)
		if current, ok := t.candidate(p, c.start); !ok || current != c {
			continue // one of its two parts has been merged since
		}
		p.merge(c.start)
		n--
		queue.add(t.candidate(p, c.start))
		if prev := p.prev[c.start]; prev >= 0 {
			queue.add(t.candidate(p, prev))
		}
	}
	return n
}

// addedTokens returns a regular expression that matches any of contents. These are the special
// tokens that are cut out of a text before it is split. At each position the longest one
// matches. It returns nil if contents has no non-empty element.
func addedTokens(contents []string) *regexp.Regexp {
	alternatives := slices.DeleteFunc(slices.Clone(contents), func(c string) bool {
		return c == ""
	})
	if len(alternatives) == 0 {
		return nil
	}
	slicesx.SortByKey(alternatives, func(x string) int {
		return -len(x)
	})
	for i, c := range alternatives {
		alternatives[i] = regexp.QuoteMeta(c)
	}
	return regexp.MustCompile(strings.Join(alternatives, "|"))
}
