package token

import (
	"container/heap"
	"regexp"
	"slices"
	"strings"
)

// pieces are the parts of a word while they are joined, each named by the byte
// of the word that it begins with.
type pieces struct {
	// text is the word in symbols; starts has where each byte's symbol begins in
	// it, and its end.
	text   string
	starts []int
	// before and after are a part's neighbours: -1 before the first, the length
	// of the word after the last. A part that was joined to the one before has -1
	// after it.
	before, after []int
}

func newPieces(word string) *pieces {
	n := len(word)
	p := &pieces{starts: make([]int, n+1), before: make([]int, n), after: make([]int, n)}
	var text strings.Builder
	for i := range n {
		p.before[i], p.after[i] = i-1, i+1
		text.WriteString(symbols[word[i]])
		p.starts[i+1] = text.Len()
	}
	p.text = text.String()
	return p
}

func (p *pieces) join(at int) {
	gone := p.after[at]
	p.after[at], p.after[gone] = p.after[gone], -1
	if next := p.after[at]; next < len(p.before) {
		p.before[next] = at
	}
}

// joint is a pair that may be joined: the part at a place with its next.
type joint struct{ rank, at int }

func (t *Tokenizer) joint(p *pieces, at int) (j joint, ok bool) {
	middle := p.after[at]
	if middle < 0 || middle == len(p.after) {
		return j, false
	}
	start, cut, end := p.starts[at], p.starts[middle], p.starts[p.after[middle]]
	rank, ok := t.ranks[[2]string{p.text[start:cut], p.text[cut:end]}]
	return joint{rank, at}, ok
}

// joints are a heap, so that a word of one letter over and over, which no split
// divides, costs little more than its length.
type joints []joint

func (q *joints) add(j joint, ok bool) {
	if ok {
		heap.Push(q, j)
	}
}

// Len, Less, Swap, Push and Pop are heap.Interface.
func (q *joints) Len() int { return len(*q) }

func (q *joints) Less(i, k int) bool {
	a, b := (*q)[i], (*q)[k]
	return a.rank < b.rank || a.rank == b.rank && a.at < b.at
}

func (q *joints) Swap(i, k int) { (*q)[i], (*q)[k] = (*q)[k], (*q)[i] }

// Push and Pop are the heap's own; add is for use.
func (q *joints) Push(x any) {
	if j, ok := x.(joint); ok {
		*q = append(*q, j)
	}
}

// Pop removes the last.
func (q *joints) Pop() any {
	last := len(*q) - 1
	j := (*q)[last]
	*q = (*q)[:last]
	return j
}

// symbols are the printable characters that stand for the 256 bytes: those
// that print stand for themselves, the others follow from U+0100 on.
var symbols = func() (out [256]string) {
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if r < '!' || r > '~' && r < '¡' || r == 0xAD {
			r = next
			next++
		}
		out[b] = string(r)
	}
	return out
}()

// maxSeen bounds the words that are remembered, longestSeen each of them.
const (
	maxSeen     = 1 << 18
	longestSeen = 64
)

func (t *Tokenizer) word(word string) int {
	if n, ok := t.seen[word]; ok {
		return n
	}
	n := t.merge(word)
	if len(t.seen) < maxSeen && len(word) <= longestSeen {
		t.seen[strings.Clone(word)] = n
	}
	return n
}

// merge joins the pair of lowest rank, of equals the first, until none is left.
func (t *Tokenizer) merge(word string) int {
	p := newPieces(word)
	if _, whole := t.vocab[p.text]; whole {
		return 1
	}
	var queue joints
	for i := range len(word) {
		queue.add(t.joint(p, i))
	}
	n := len(word)
	for queue.Len() > 0 {
		next, _ := heap.Pop(&queue).(joint)
		if now, ok := t.joint(p, next.at); !ok || now != next {
			continue // one of the two was joined meanwhile
		}
		p.join(next.at)
		n--
		queue.add(t.joint(p, next.at))
		if before := p.before[next.at]; before >= 0 {
			queue.add(t.joint(p, before))
		}
	}
	return n
}

// addedTokens finds the tokens that are cut out of a text before anything else,
// the longest first where several begin at one place; nil where there are none.
func addedTokens(contents []string) *regexp.Regexp {
	longest := slices.SortedStableFunc(slices.Values(contents), func(x, y string) int { return len(y) - len(x) })
	longest = slices.DeleteFunc(longest, func(c string) bool { return c == "" })
	if len(longest) == 0 {
		return nil
	}
	for i, c := range longest {
		longest[i] = regexp.QuoteMeta(c)
	}
	return regexp.MustCompile(strings.Join(longest, "|"))
}
