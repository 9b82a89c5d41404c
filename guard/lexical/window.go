package lexical

import "strings"

// minSurrounding is the number of tokens around a window from which the text holds
// a request among other things; fewer may be a constraint added to the request.
const minSurrounding = 10

// compareEmbedded compares a base with the window of a text that holds much else.
// ok is false if there is no such window.
func (x *Index) compareEmbedded(full comparison, s *scratch) (c comparison, ok bool) {
	b := x.bases[full.base]
	s.mark(b)
	w := x.window(b, full.part, s)
	if w == nil || len(full.part.tokens)-len(w.tokens) < minSurrounding {
		return comparison{}, false
	}
	return x.compareWindow(full.base, w, s), true
}

// A window has at most windowFactor times as many tokens as the base and
// windowSlack more: a rewording adds words.
const (
	windowFactor = 2.0
	windowSlack  = 20
)

// window returns the part of p that covers most of b, marked in s, extended to the
// bounds of its sentence, line or quotation. It returns nil if that is all of p.
func (x *Index) window(
	b *base,
	p *profile,
	s *scratch,
) *profile {
	value := x.tokenValues(b, p, s)
	start := 0
	end := len(p.tokens)
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
	start, end = extendToBounds(p.tokens, start, end)
	if end-start == len(p.tokens) {
		return nil
	}
	return p.slice(start, end)
}

// bestStart returns the start of the size tokens with the highest total value.
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

// extendToBounds extends the tokens from start to end to the nearest bounds within
// windowSlack tokens.
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

// followsBound reports whether a sentence, a line, a quotation, a tag or a data
// field ends before the token.
func (t *token) followsBound() bool {
	return strings.IndexByte("\n.;:!?\"<>|{}[]", t.before) >= 0
}

// tokenValues returns the weight in b, marked in s, of each token of p.
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
