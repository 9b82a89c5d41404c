package gates

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// measure is an amount with its unit, such as 9 hours, that a sentence states of a product.
type measure struct {
	span
	sentence int
	unit     string
	cents    int64
	// owner is the mention of the product.
	owner *cite
	// isDerived is set if the figure has no unit, and the unit is that of another measure.
	isDerived bool
}

// maxMeasures is the maximum number of measures that are read of one passage, since each is compared with all
// results.
const maxMeasures = 32

// readMeasures returns the measures of the passage: the figures with a unit of which a mention of a product
// is the last one before them in their clause. If no mention precedes the first figure of a sentence, each of
// its figures belongs to the next one ("41 dB for 612, 48 for 345").
func (r *reading) readMeasures() []measure {
	var measures []measure
	for i := range r.sentences {
		first := len(measures)
		tokens := r.sentenceTokens(i)
		for k := range tokens {
			if len(measures) == maxMeasures {
				return measures
			}
			if m := r.measureAt(i, &tokens[k], measures[first:]); m.unit != "" {
				measures = append(measures, m)
			}
		}
	}
	return measures
}

// measureAt returns the measure whose figure is the token t of sentence i. earlier has the measures before it
// in the sentence. The result has no unit if there is none.
func (r *reading) measureAt(i int, t *token, earlier []measure) measure {
	if !t.number.isAmount() {
		return measure{}
	}
	unit, end := r.unitAfter(t)
	if unit == "" && len(earlier) == 0 {
		return measure{}
	}
	m := measure{span: span{t.start, end}, sentence: i, unit: unit, cents: t.number.readings[0]}
	if m.owner = r.owner(&m, earlier); m.owner == nil {
		return measure{}
	}
	if unit == "" {
		m.unit = r.unitBefore(&m, earlier)
		m.isDerived = true
	}
	return m
}

// unitBefore returns the unit of the last of the earlier measures of a sentence if it is another product's,
// and m, a figure without a unit, is not the price of its product: "250 lumen, the other one 400".
func (r *reading) unitBefore(m *measure, earlier []measure) string {
	if m.owner.product < 0 {
		return ""
	}
	last := &earlier[len(earlier)-1]
	isPrice := r.index.products[m.owner.product].cents == m.cents
	if isPrice || last.owner.product == m.owner.product {
		return ""
	}
	return last.unit
}

// owner returns the mention of a product to which a measure belongs, nil if there is none. earlier has the
// measures before it in its sentence.
func (r *reading) owner(m *measure, earlier []measure) *cite {
	var last, next *cite
	cites := r.sentenceCites(m.sentence)
	for k := range cites {
		c := &cites[k]
		switch {
		case !c.namesProduct() && c.kind != citeOrdinal:
		case c.end <= m.start:
			last = c
		case next == nil && c.start >= m.end:
			next = c
		}
	}
	isBefore := last == nil || len(earlier) > 0 && earlier[0].owner.start > earlier[0].start
	if isBefore && next != nil && r.wordsBetween(m.end, next.start) <= maxGap {
		return next
	}
	if last != nil && m.start < r.clause(last).end {
		return last
	}
	return nil
}

// units are units that are words of a language too, with a blank before and after each.
const units = " l ml g kg m cm mm w v h pa pcs ft "

// unitAfter returns the unit of a figure and its end: the letters right after it ("9h"), or the next word if
// no word list has it ("9 hours"). It returns "" and the end of the figure if there is none.
func (r *reading) unitAfter(t *token) (unit string, end int32) {
	start := t.number.end
	isApart := strings.HasPrefix(r.folded[start:], " ")
	if isApart {
		start++
	}
	stop := wordEnd(r.folded, start)
	unit = r.folded[start:stop]
	first, _ := utf8.DecodeRuneInString(unit)
	isWord := isApart && r.lexicon.plain[unit] && !strings.Contains(units, " "+unit+" ")
	if isWord || !unicode.IsLetter(first) {
		return "", int32(t.number.end)
	}
	return unit, int32(stop)
}

// differ reports whether the sentences from first to last state different measures of one unit for a and b.
func (r *reading) differ(first, last int, a, b *candidate) bool {
	return slices.ContainsFunc(r.compareMeasures(first, last, a, b), func(difference int64) bool { return difference != 0 })
}

// namesDecisive reports whether sentence i says what decides, as in "noise is what counts", and it or a
// sentence near before it states different measures of one unit for a and b.
func (r *reading) namesDecisive(i int, a, b *candidate) bool {
	return r.sentences[i].classes&reasonWord != 0 && r.differ(i-maxDistance, i, a, b)
}

// compareMeasures returns how much larger the measures of a are than those of b of the same unit, in
// hundredths, for each two measures that the sentences from first to last state of them.
func (r *reading) compareMeasures(first, last int, a, b *candidate) []int64 {
	var differences []int64
	for i := range r.measures {
		m := &r.measures[i]
		if m.sentence < first || m.sentence > last || !r.mentions(m.owner, a) {
			continue
		}
		for k := range r.measures {
			o := &r.measures[k]
			if o.sentence >= first && o.sentence <= last && o.unit == m.unit && r.mentions(o.owner, b) {
				differences = append(differences, m.cents-o.cents)
			}
		}
	}
	return differences
}

// isFalseRelation reports whether sentence i calls the measure of a or b the smaller or larger one, as in
// "the lighter of the two is 612", and all measures that it and the sentences before it state of both say
// the opposite.
func (r *reading) isFalseRelation(i int, a, b *candidate) bool {
	const relation = minorWord | majorWord
	if len(r.measures) == 0 || r.sentences[i].classes&relation == 0 {
		return false
	}
	marks := r.sentenceMarks(i)
	return slices.ContainsFunc(marks, func(m mark) bool {
		if m.class&relation == 0 || r.isNegated(&m, marks) {
			return false
		}
		subject, rival := r.subject(i, &m, a, b)
		if subject == nil {
			return false
		}
		differences := r.compareMeasures(i-maxDistance, i, subject, rival)
		return len(differences) > 0 && !slices.ContainsFunc(differences, func(difference int64) bool {
			return difference == 0 || (difference < 0) == (m.class&minorWord != 0)
		})
	})
}

// subject returns the candidate, a or b, of which the comparative m of sentence i speaks, and the other one.
// It is the one named at most maxSubject words before it in its clause or, if neither is named before it, the
// next one. It returns nil if there is none.
func (r *reading) subject(i int, m *mark, a, b *candidate) (subject, rival *candidate) {
	const maxSubject = 3
	isNamed := false
	for _, c := range r.sentenceCites(i) {
		isFirst := r.mentions(&c, a)
		isLate := c.start >= m.end && isNamed
		if isLate || !isFirst && !r.mentions(&c, b) {
			continue
		}
		isNamed = true
		if c.end <= m.start && r.wordsBetween(c.end, m.start) > maxSubject {
			continue
		}
		subject = b
		rival = a
		if isFirst {
			subject = a
			rival = b
		}
	}
	return subject, rival
}

// isMisstated reports whether the passage states a measure of candidate a or b that the results contradict.
func (r *reading) isMisstated(a, b *candidate) bool {
	return slices.ContainsFunc(r.measures, func(m measure) bool {
		isOf := r.mentions(m.owner, a) || r.mentions(m.owner, b)
		return isOf && !m.isDerived && r.isFalseMeasure(&m)
	})
}

// isFalseMeasure reports whether no earlier result has a measure for its product, although a result has a
// figure with that unit for it or, if none has, for any product. A measure of the request is a limit, and one
// next to a comparison or a word such as "about" is a difference or an estimate.
func (r *reading) isFalseMeasure(m *measure) bool {
	const relation = lessWord | moreWord | compareWord | thanWord | moneyWord
	isEstimate := slices.ContainsFunc(r.sentenceMarks(m.sentence), func(n mark) bool {
		isNext := n.start >= m.end && r.wordsBetween(m.end, n.start) <= 1
		isBefore := n.end <= m.start && r.wordsBetween(n.end, m.start) == 0
		return n.class&relation != 0 && (isNext || isBefore)
	})
	if isEstimate || m.owner.product < 0 || r.amount(m.cents).inRequest {
		return false
	}
	id := r.index.products[m.owner.product].id
	var ofProduct, ofAny facts
	for k := range r.turns {
		if r.turns[k].Step >= int(r.step) {
			break
		}
		for n := range r.turns[k].Calls {
			gjson.Parse(string(r.turns[k].Calls[n].Result)).ForEach(func(_, result gjson.Result) bool {
				item := m.find(result.Raw)
				ofAny.add(item)
				if strings.Contains(result.Raw, id) {
					ofProduct.add(item)
				}
				return true
			})
		}
	}
	if ofProduct.hasUnit {
		return !ofProduct.hasFigure
	}
	return ofAny.hasUnit && !ofAny.hasFigure && !ofProduct.hasFigure
}

// facts states whether a text has the figure of a measure, and whether it has any figure with its unit.
type facts struct{ hasFigure, hasUnit bool }

func (f *facts) add(g facts) {
	f.hasFigure = f.hasFigure || g.hasFigure
	f.hasUnit = f.hasUnit || g.hasUnit
}

func (m *measure) find(text string) facts {
	var f facts
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			i++
			continue
		}
		n := readUnspaced(text, i)
		f.hasFigure = f.hasFigure || n.count > 0 && n.readings[0] == m.cents
		f.hasUnit = f.hasUnit || hasUnitAt(text, n.end, m.unit)
		i = n.end
	}
	return f
}

// hasUnitAt reports whether a unit stands at byte i of a text, or a blank and then the unit.
func hasUnitAt(text string, i int, unit string) bool {
	rest := strings.TrimPrefix(text[i:], " ")
	return len(rest) >= len(unit) && fold(rest[:len(unit)]) == unit && wordEnd(rest, 0) == len(unit)
}
