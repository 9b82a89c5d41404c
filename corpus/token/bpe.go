package token

import (
	"regexp"
	"slices"
	"strings"
)

// symbols are the printable characters that stand for the 256 bytes: those
// that print stand for themselves, the others follow from U+0100 on.
var symbols = byteSymbols()

func byteSymbols() (out [256]string) {
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
}

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
		next := queue.first()
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
