package gates

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lexicon is a trie over folded bytes. A node holds the meaning of the word
// that ends there (exact) and of any word that begins so (prefix).
type lexicon struct {
	root  [256]int32
	nodes []node
	// labels are the bytes that lead to the nodes.
	labels []byte
	// values are the words tools return, by concept; 0 is none.
	values []string
	// entries are what the trie is built from.
	entries []entry
}

type node struct {
	// child is the first of count children, which lie in the order of their
	// bytes: low of them before 'a', then one for each bit of letters.
	child, count  int32
	letters       uint32
	low           int32
	exact, prefix meaning
	// ends is set where either has a meaning.
	ends bool
}

// entry is one line item of the word lists, folded.
type entry struct {
	word   string
	prefix bool
	meaning
}

type meaning struct {
	class   class
	concept uint8
}

func (l *lexicon) add(text string, m meaning) {
	word, prefix := strings.CutSuffix(fold(text), "*")
	if word != "" {
		l.entries = append(l.entries, entry{word, prefix, m})
	}
}

// build lays the trie out breadth first, so that the children of a node stand
// side by side: a node's entries are a range of the sorted list.
func (l *lexicon) build() {
	slices.SortFunc(l.entries, func(a, b entry) int { return strings.Compare(a.word, b.word) })
	type job struct{ from, to, depth int }
	jobs := []job{{0, len(l.entries), 0}}
	l.nodes, l.labels = make([]node, 1, 4*len(l.entries)), make([]byte, 1, 4*len(l.entries))
	for at := 0; at < len(jobs); at++ {
		j := jobs[at]
		for ; j.from < j.to && len(l.entries[j.from].word) == j.depth; j.from++ {
			l.nodes[at].mean(l.entries[j.from])
		}
		l.nodes[at].child = int32(len(l.nodes))
		for from := j.from; from < j.to; {
			label, to := l.entries[from].word[j.depth], from+1
			for to < j.to && l.entries[to].word[j.depth] == label {
				to++
			}
			jobs = append(jobs, job{from, to, j.depth + 1})
			l.nodes, l.labels = append(l.nodes, node{}), append(l.labels, label)
			switch n := &l.nodes[at]; {
			case label < 'a':
				n.low++
			case label <= 'z':
				n.letters |= 1 << (label - 'a')
			}
			from = to
		}
		l.nodes[at].count = int32(len(l.nodes)) - l.nodes[at].child
	}
	for k := range l.nodes[0].count {
		l.root[l.labels[l.nodes[0].child+k]] = l.nodes[0].child + k
	}
	l.entries = nil
}

// mean adds an entry that ends at the node to what is known of it.
func (n *node) mean(e entry) {
	slot := &n.exact
	if e.prefix {
		slot = &n.prefix
	}
	n.ends = true
	slot.class |= e.class
	if e.concept != 0 {
		slot.concept = e.concept
	}
}

// step is the child of a node under a byte; 0 where there is none.
func (l *lexicon) step(n *node, b byte) int32 {
	if letter := b - 'a'; letter < 26 {
		if n.letters&(1<<letter) == 0 {
			return 0
		}
		return n.child + n.low + int32(bits.OnesCount32(n.letters&(1<<letter-1)))
	}
	for k := n.child; k < n.child+n.count; k++ {
		if l.labels[k] == b {
			return k
		}
	}
	return 0
}

// mark is one word of the lexicon found in a text.
type mark struct {
	start, end int32
	meaning
}

// find appends the entries of the lexicon that begin at text[start]. text is
// folded; runs of white space match one blank, a typographic apostrophe a
// plain one. It tells how far it looked into text.
func (l *lexicon) find(marks []mark, text string, start int) ([]mark, int) {
	at, i := l.root[text[start]], start+1
	for at != 0 {
		n := &l.nodes[at]
		if n.ends {
			marks = n.mark(marks, text, start, i)
		}
		if i >= len(text) || n.count == 0 {
			break
		}
		b, width := text[i], 1
		if b <= ' ' || b == 0xE2 {
			b, width = folded(text, i)
		}
		at = l.step(n, b)
		i += width
	}
	return marks, i
}

// mark appends what ends at the node, which text[start:end] led to.
func (n *node) mark(marks []mark, text string, start, end int) []mark {
	if n.prefix != (meaning{}) {
		marks = append(marks, mark{int32(start), int32(end), n.prefix})
	}
	if n.exact != (meaning{}) && wordEnds(text, end) {
		marks = append(marks, mark{int32(start), int32(end), n.exact})
	}
	return marks
}

// folded is the byte that text[i:] stands for in the trie and how many bytes
// it takes.
func folded(text string, i int) (b byte, width int) {
	switch c := text[i]; {
	case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		end := i + 1
		for end < len(text) && end < i+8 && (text[end] == ' ' || text[end] == '\n') {
			end++
		}
		return ' ', end - i
	case c == 0xE2 && strings.HasPrefix(text[i:], "’"):
		return '\'', len("’")
	default:
		return c, 1
	}
}

func wordEnds(text string, i int) bool {
	if i >= len(text) {
		return true
	}
	if c := text[i]; c < utf8.RuneSelf {
		return !isWordByte(c)
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return !unicode.IsLetter(r) && !unicode.IsMark(r) || unspaced(r)
}
