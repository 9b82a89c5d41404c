package gates

import (
	"slices"
)

const (
	// minTitle is the minimum number of words after the brand that a mention must share with a
	// product's title to name that product.
	minTitle = 2
	// lastPlace is the number that stands, in the word list ordinals.txt, for the last place of a
	// list of any length.
	lastPlace = 9
)

// citeTitle sets c.product and extends c.end if the words after the brand c repeat the title of a
// product of that brand, at least minTitle words of it and more than of any other title. For a
// brand of the request, some of the words must not be in the request.
func (r *reading) citeTitle(c *cite) {
	longest := minTitle - 1
	end := c.end
	for i := range r.index.products {
		p := &r.index.products[i]
		if p.step >= r.step || p.title == "" || !p.isBrand(r.folded[c.start:c.end]) || r.index.partialBudget == 0 {
			continue
		}
		r.index.partialBudget--
		words, textEnd := r.commonWords(p.title, c)
		if c.inRequest && !r.hasNewWord(c.token, textEnd) {
			continue
		}
		switch {
		case words > longest:
			longest = words
			end = textEnd
			c.product = int32(i)
		case words == longest:
			c.product = -1
		}
	}
	if c.product >= 0 {
		c.end = end
	}
}

// hasNewWord reports whether, from the given token of the passage up to the byte offset end, there
// is a word that the request does not have.
func (r *reading) hasNewWord(token int, end int32) bool {
	for _, t := range r.tokens[token:] {
		if t.start >= end {
			return false
		}
		if t.word >= 0 && !r.index.words[t.word].inRequest {
			return true
		}
	}
	return false
}

// dropInTitles removes from r.cites the mentions of values, model names and other data that are
// inside a product's title, since a title names its product and states nothing about it.
func (r *reading) dropInTitles() {
	var titles []span
	for i := range r.cites {
		if c := &r.cites[i]; c.kind == citeBrand && c.product >= 0 {
			titles = append(titles, c.span)
		}
	}
	if titles == nil {
		return
	}
	r.cites = slices.DeleteFunc(r.cites, func(c cite) bool {
		return slices.ContainsFunc(titles, func(t span) bool { return t.start < c.start && c.end <= t.end })
	})
}

// commonWords counts the words of a title, after its first one, that the passage repeats right
// after the brand c. end is the byte offset after the last of them.
func (r *reading) commonWords(title string, c *cite) (count int, end int32) {
	title = fold(title)
	at := leadingWordEnd(title)
	end = c.end
	for k := c.token + 1; k < len(r.tokens); k++ {
		for at < len(title) && wordEnd(title, at) == at {
			at++
		}
		t := &r.tokens[k]
		next := wordEnd(title, at)
		if at == len(title) || title[at:next] != r.folded[t.start:t.end] {
			break
		}
		count++
		end = t.end
		at = next
	}
	return count, end
}

// citeOrdinal appends to r.cites the product that a word such as "the second" (the mark m) points
// at. It counts among the last two products that the passage names before the word or, if it names
// fewer, in the last tool result with at least two products. It appends nothing if there is no such
// place in the list, or if the sentence speaks to a grader.
func (r *reading) citeOrdinal(sentence int, m *mark) {
	if r.sentences[sentence].classes&graderWord != 0 {
		return
	}
	var named []int32
	for _, c := range r.cites {
		if c.product >= 0 && c.end <= m.start && c.kind != citePrice && c.kind != citeOrdinal {
			named = slices.DeleteFunc(named, func(p int32) bool { return p == c.product })
			named = append(named, c.product)
		}
	}
	if len(named) > 1 {
		named = named[len(named)-2:]
	} else {
		named = r.index.lastList(r.step)
	}
	if m.ordinal == lastPlace && len(named) > 1 {
		m = &mark{m.start, m.end, meaning{ordinal: uint8(min(len(named), lastPlace))}}
	}
	if int(m.ordinal) > len(named) {
		return
	}
	r.cites = append(r.cites, cite{
		span: span{m.start, m.end}, kind: citeOrdinal, sentence: sentence, token: -1, product: named[m.ordinal-1],
	})
}

// onlyWithPrice returns the product whose price is cents, as an index of r.index.products, or -1 if
// none or several of the earlier results have that price.
func (r *reading) onlyWithPrice(cents int64) int32 {
	found := int32(-1)
	for i := range r.index.products {
		if p := &r.index.products[i]; p.step < r.step && p.cents == cents {
			if found >= 0 {
				return -1
			}
			found = int32(i)
		}
	}
	return found
}
