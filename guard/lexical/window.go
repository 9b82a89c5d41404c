package lexical

import "strings"

// leastAround is how many tokens around a window make it a request inside
// something else; fewer may be a constraint that was added to the request.
const leastAround = 10

// embedded judges the window of a text that holds much else. Whether it asks for
// the same is a question of the window alone.
func (x *Index) embedded(whole judged, s *scratch) (judged, bool) {
	b := x.bases[whole.base]
	s.mark(b)
	w := x.window(b, whole.part, s)
	if w == nil || len(whole.part.tokens)-len(w.tokens) < leastAround {
		return judged{}, false
	}
	return x.judgeWindow(whole.base, w, s), true
}

// A window is at most windowFactor times the base and windowSlack tokens long: a
// rewording adds words.
const (
	windowFactor = 2.0
	windowSlack  = 20
)

// window returns the stretch of p that covers most of b, marked in s, from the bounds of its
// sentence, line or quotation on; nil where that is all of p.
func (x *Index) window(b *base, p *profile, s *scratch) *profile {
	value := x.tokenValues(b, p, s)
	from, to := 0, len(p.tokens)
	if size := int(windowFactor*float64(b.tokens)) + windowSlack; to > size {
		from = richest(value, size)
		to = from + size
	}
	for from < to && value[from] == 0 {
		from++
	}
	for to > from && value[to-1] == 0 {
		to--
	}
	from, to = toBounds(p.tokens, from, to)
	if to-from == len(p.tokens) {
		return nil
	}
	return p.part(from, to)
}

// richest returns where the size tokens of the highest value start.
func richest(value []float64, size int) (from int) {
	sum, best := 0.0, -1.0
	for i, v := range value {
		sum += v
		if i >= size {
			sum -= value[i-size]
		}
		if i >= size-1 && sum > best+1e-9 {
			best, from = sum, i-size+1
		}
	}
	return from
}

// toBounds widens a stretch of tokens to the bounds around it, as far as they
// are within windowSlack tokens.
func toBounds(tokens []token, from, to int) (int, int) {
	for i := from; i >= max(0, from-windowSlack); i-- {
		if tokens[i].opens() {
			from = i
			break
		}
	}
	for i := to; i <= min(len(tokens), to+windowSlack); i++ {
		if i == len(tokens) || tokens[i].opens() {
			to = i
			break
		}
	}
	return from, to
}

// opens reports whether a sentence, a line, a quotation, a tag or a field of data
// ends before the token.
func (t *token) opens() bool {
	return t.before != 0 && strings.IndexByte("\n.;:!?\"<>|{}[]", t.before) >= 0
}

func (x *Index) tokenValues(b *base, p *profile, s *scratch) []float64 {
	s.value = append(s.value[:0], make([]float64, len(p.tokens))...)
	value := s.value
	for i, t := range p.tokens {
		if t.isNumber() {
			n := number{value: t.value, unit: t.unit, written: t.written, directions: 1 << t.direction}
			if hasNumber(b.profile.numbers, n) {
				value[i] = x.numberWeight(n)
			}
			continue
		}
		for _, m := range p.words[i].matches {
			if at, is := s.term(b, m.id); is {
				value[i] = max(value[i], float64(m.sim*b.terms[at].sim))
			}
		}
	}
	return value
}
