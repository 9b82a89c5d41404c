package lexical

import "strings"

// minSurrounding is the minimum number of tokens that a text must have outside a part of it, so
// that the part counts as a request among other things. Fewer tokens may be a constraint that was
// added to the request.
const minSurrounding = 10

// compareEmbedded compares the request of an earlier comparison, full, with only the part of its
// text that is most similar to the request. ok is false if there is no such part, or if fewer than
// minSurrounding tokens of the text are outside it.
func (x *Index) compareEmbedded(full comparison, s *scratch) (c comparison, ok bool) {
	b := x.bases[full.base]
	s.mark(b)
	w := x.window(b, full.part, s)
	if w == nil || len(full.part.tokens)-len(w.tokens) < minSurrounding {
		return comparison{}, false
	}
	return x.compareWindow(full.base, w, s), true
}

// A window is the part of a text that is compared with a request. Before it is extended to the
// limits of its sentence, it has at most windowFactor times as many tokens as the request, plus
// windowSlack, since a rewording adds words.
const (
	windowFactor = 2.0
	windowSlack  = 20
)

// window returns the part of the text p that has the most in common with the request b, extended to
// the limits of its sentence, line or quotation. It returns nil if that is all of p, or if the two have
// nothing in common. s.mark(b) must have been called before.
func (x *Index) window(
	b *base,
	p *profile,
	s *scratch,
) *profile {
	start, end := x.windowRange(b, p, s)
	if start == end || end-start == len(p.tokens) {
		return nil
	}
	return p.slice(start, end)
}

// windowRange returns the range of the tokens of the part that window returns: all tokens or none if it
// returns nil. It sets s.value to the values of the tokens.
func (x *Index) windowRange(b *base, p *profile, s *scratch) (start, end int) {
	value := x.tokenValues(b, p, s)
	end = len(p.tokens)
	if size := int(windowFactor*float64(b.tokens)) + windowSlack; end > size {
		start = bestStart(value, size)
		end = start + size
	}
	for start < end && value[start] == 0 {
		start++
	}
	for end > start && value[end-1] == 0 {
		end--
	}
	if start == end {
		return 0, 0
	}
	return extendToBounds(p.tokens, start, end)
}

// mayHaveWindow reports whether the method window may return a part of a text with these tokens. It
// reports false for a short text in one piece, since a window extends to the limits of it.
func mayHaveWindow(tokens []token) bool {
	for i := 1; i < len(tokens); i++ {
		if tokens[i].followsBound() {
			return true
		}
	}
	return len(tokens) > windowSlack || len(tokens) > 0 && !tokens[0].followsBound()
}

// bestStart returns the start of the run of size consecutive values with the highest sum. Of
// several such runs it takes the first.
func bestStart(value []float64, size int) (start int) {
	sum := 0.0
	best := -1.0
	for i, v := range value {
		sum += v
		if i >= size {
			sum -= value[i-size]
		}
		if i >= size-1 && sum > best+1e-9 {
			best = sum
			start = i - size + 1
		}
	}
	return start
}

// extendToBounds moves start and end outwards to the nearest limits of a sentence, line, quotation,
// tag or data field. A limit that is more than windowSlack tokens away is ignored.
func extendToBounds(tokens []token, start, end int) (newStart, newEnd int) {
	for i := start; i >= max(0, start-windowSlack); i-- {
		if tokens[i].followsBound() {
			start = i
			break
		}
	}
	for i := end; i <= min(len(tokens), end+windowSlack); i++ {
		if i == len(tokens) || tokens[i].followsBound() {
			end = i
			break
		}
	}
	return start, end
}

// followsBound reports whether a sentence, a line, a quotation, a tag or a data field ends directly
// before the token.
func (t *token) followsBound() bool {
	return strings.IndexByte("\n.;:!?\"<>|{}[]", t.before) >= 0
}

// tokenValues returns how much each token of p weighs in the comparison with the request b: 0 for
// tokens that b does not have. s.mark(b) must have been called before.
func (x *Index) tokenValues(
	b *base,
	p *profile,
	s *scratch,
) []float64 {
	s.value = append(s.value[:0], make([]float64, len(p.tokens))...)
	value := s.value
	for i := range p.tokens {
		t := &p.tokens[i]
		if t.isNumber() {
			n := number{
				value:      t.value,
				unit:       t.unit,
				written:    t.written,
				directions: 1 << t.direction,
			}
			if hasNumber(b.profile.numbers, n) {
				value[i] = x.numberWeight(n)
			}
			continue
		}
		for _, m := range p.words[i].matches {
			if j, ok := s.termIndex(b, m.id); ok {
				value[i] = max(value[i], float64(m.sim*b.terms[j].sim))
			}
		}
	}
	return value
}
