package gates

import (
	"fmt"
	"slices"
	"strings"
)

// minID is the least number of digits of an id that is read as one.
const minID = 5

// citeKind is what a piece of thinking refers to.
type citeKind uint8

const (
	citeID citeKind = iota
	citeShop
	citePrice
	citeAmount
	citeBrand
	citeValue
	// citeUnknown is an id or price that neither a result nor the request
	// holds.
	citeUnknown
)

// String names the kind in a finding's detail.
func (k citeKind) String() string {
	return [...]string{"a product id", "a shop id", "a price", "a figure", "a brand", "an attribute value", "something"}[k]
}

// cite is one reference to data in a passage.
type cite struct {
	span
	kind     citeKind
	sentence int
	token    int
	// product indexes the shelf's products; -1 where the cite names none.
	product int32
	// asked is set for the customer's own words.
	asked bool
}

// reading is one passage with all that it cites.
type reading struct {
	*weigher
	*passage
	// cites lie in the order of their sentences; starts is where those of each
	// sentence begin.
	cites  []cite
	starts []int32
	// lettered is set where the passage gives candidates letters.
	lettered bool
}

// cite collects the references of the passage to results of earlier steps.
func (r *reading) cite() {
	for i := range r.sentences {
		s := &r.sentences[i]
		for k := s.tokens.start; k < s.tokens.end; k++ {
			t := &r.tokens[k]
			c := cite{span: t.span, sentence: i, token: int(k), product: -1}
			if r.citesData(t, &c) {
				r.cites = append(r.cites, c)
			}
		}
		r.citeValues(i)
	}
	for _, n := range r.spelled {
		r.citeSpelled(n)
	}
	slices.SortStableFunc(r.cites, func(a, b cite) int { return a.sentence - b.sentence })
	for i, k := 0, 0; i <= len(r.sentences); i++ {
		for k < len(r.cites) && r.cites[k].sentence < i {
			k++
		}
		r.starts = append(r.starts, int32(k))
	}
}

// citesOf are the references of one sentence.
func (r *reading) citesOf(sentence int) []cite {
	return r.cites[r.starts[sentence]:r.starts[sentence+1]]
}

// citeSpelled notes a price written in words.
func (r *reading) citeSpelled(n spelled) {
	fact := &r.shelf.amounts[r.shelf.figures[n.cents]]
	if fact.query || min(fact.price, fact.rounded) >= r.step {
		return
	}
	i, found := slices.BinarySearchFunc(r.sentences, n.start, func(s sentence, at int32) int {
		switch {
		case s.end <= at:
			return -1
		case s.start > at:
			return 1
		default:
			return 0
		}
	})
	if found {
		r.cites = append(r.cites, cite{span: n.span, kind: citePrice, sentence: i, token: -1, product: -1})
	}
}

func (r *reading) citesData(t *token, c *cite) bool {
	if t.number.end == 0 {
		return r.citesBrand(t, c) || r.citesWord(t, c)
	}
	if t.number.plain && t.number.digits >= minID && r.citesID(t, c) {
		return true
	}
	return r.citesAmount(t, c) || r.citesPartOfID(t, c) || r.citesUnknown(t, c) || t.word >= 0 && r.citesWord(t, c)
}

func (r *reading) citesID(t *token, c *cite) bool {
	fact := &r.shelf.words[t.word]
	if at, found := r.shelf.byID[r.folded[t.start:t.end]]; found && r.shelf.products[at].step < r.step {
		c.kind, c.product, c.asked = citeID, at, fact.query
		return true
	}
	c.asked = fact.query
	c.kind = citeShop
	if fact.first[roleID] < r.step {
		c.kind = citeID
		return true
	}
	return fact.first[roleShop] < r.step
}

// citesAmount tells whether a figure is one that a result holds. Whole figures
// below a hundred are everywhere and need a word of money beside them; rounded
// prices need one too, and must not be part of a sum.
func (r *reading) citesAmount(t *token, c *cite) bool {
	n := &t.number
	context := r.sentences[c.sentence].classes&(moneyWord|compareWord) != 0
	for _, cents := range n.readings[:n.count] {
		fact := &r.shelf.amounts[r.shelf.figures[cents]]
		if fact.query {
			return false
		}
		telling := cents%100 != 0 || n.digits >= 3 || context
		switch {
		case fact.price < r.step && telling:
			c.kind = citePrice
			return true
		case fact.other < r.step && (n.digits >= 4 || cents%100 != 0 || n.digits == 3 && context):
			c.kind = citeAmount
			return true
		case fact.rounded < r.step && cents%100 == 0 && (n.digits >= 3 || n.thousands) && r.roundedHere(c, context):
			c.kind = citePrice
			return true
		}
	}
	return false
}

func (r *reading) roundedHere(c *cite, context bool) bool {
	s := r.sentences[c.sentence]
	if strings.ContainsAny(r.text[s.start:s.end], "=+") {
		return false
	}
	if r.tokens[c.token].number.digits >= 4 && s.classes&planWord == 0 || s.classes&groundWord != 0 && s.classes&planWord == 0 {
		return true
	}
	return context || len(r.cites) > 0 && r.cites[len(r.cites)-1].sentence == c.sentence
}

// citesPartOfID reads abbreviated ids: "…8976", "5008…", or four to six digits
// that begin or end exactly one id returned so far.
func (r *reading) citesPartOfID(t *token, c *cite) bool {
	n := &t.number
	if !n.plain || n.digits < 3 || n.digits > 8 || r.shelf.words[t.word].query {
		return false
	}
	before, after := r.cutBefore(int(t.start)), r.cutAfter(int(t.end))
	if n.digits == 3 && !before && !after || r.shelf.parts == 0 {
		return false
	}
	r.shelf.parts--
	match, found := int32(-1), 0
	part := r.folded[t.start:t.end]
	for i := range r.shelf.products {
		p := &r.shelf.products[i]
		if p.step >= r.step || len(p.id) < len(part)+3 {
			continue
		}
		if !before && strings.HasPrefix(p.id, part) || !after && strings.HasSuffix(p.id, part) {
			match, found = int32(i), found+1
		}
	}
	c.kind, c.product = citeID, match
	return found == 1 || found > 1 && (before || after)
}

func (r *reading) cutBefore(i int) bool {
	head := r.folded[:i]
	return strings.HasSuffix(head, "…") || strings.HasSuffix(head, "..") || strings.HasSuffix(head, "*") && !strings.HasSuffix(head, "**")
}

func (r *reading) cutAfter(i int) bool {
	tail := r.folded[i:]
	return strings.HasPrefix(tail, "…") || strings.HasPrefix(tail, "..") || strings.HasPrefix(tail, "*") && !strings.HasPrefix(tail, "**")
}

// citesUnknown notes an id or a price with centavos that is nowhere.
func (r *reading) citesUnknown(t *token, c *cite) bool {
	n := &t.number
	c.kind = citeUnknown
	switch {
	case n.plain && (n.digits >= 7 || n.digits >= minID && r.sentences[c.sentence].classes&groundWord != 0):
		return !r.shelf.words[t.word].query
	case n.plain || n.count == 0:
		return false
	}
	for _, cents := range n.readings[:n.count] {
		if r.shelf.amounts[r.shelf.figures[cents]].query {
			return false
		}
	}
	s := r.sentences[c.sentence]
	return n.readings[0]%100 != 0 || strings.IndexByte(r.text[s.start:s.end], '=') < 0 && s.classes&moneyWord != 0
}

// citesBrand tells whether a word is a brand: named so by a result, or the
// first word of titles and no value or inner word of any.
func (r *reading) citesBrand(t *token, c *cite) bool {
	fact := &r.shelf.words[t.word]
	byTitle := fact.first[roleTitleStart] < r.step && fact.first[roleValue] == never
	if fact.first[roleBrand] >= r.step && !byTitle || t.end-t.start < 2 {
		return false
	}
	if byTitle && fact.first[roleBrand] == never && r.classesIn(&r.sentences[c.sentence], t.span) != 0 {
		return false
	}
	c.kind, c.asked = citeBrand, r.shelf.asked(r.folded[t.start:t.end])
	return true
}

// citesWord tells whether a word that the lexicon does not know is a value or
// a title's word and not the customer's own.
func (r *reading) citesWord(t *token, c *cite) bool {
	fact := &r.shelf.words[t.word]
	if min(fact.first[roleValue], fact.first[roleText]) >= r.step || t.end-t.start < 3 {
		return false
	}
	if r.classesIn(&r.sentences[c.sentence], t.span) != 0 || r.conceptAt(c.sentence, t.span) {
		return false
	}
	c.kind, c.asked = citeValue, r.shelf.asked(r.folded[t.start:t.end])
	return c.asked || r.besideTitleWord(c)
}

// besideTitleWord tells whether a title's word stands where it names a product
// ("the leakproof ones", "spinning reel"): any word of English may be in some
// title.
func (r *reading) besideTitleWord(c *cite) bool {
	s := &r.sentences[c.sentence]
	for _, k := range [...]int{c.token - 1, c.token + 1} {
		if int32(k) < s.tokens.start || int32(k) >= s.tokens.end {
			continue
		}
		t := &r.tokens[k]
		if k > c.token && strings.Contains(stands, " "+r.folded[t.start:t.end]+" ") {
			return true
		}
		if t.word >= 0 && t.end-t.start > 2 && r.shelf.words[t.word].first[roleValue] < r.step {
			return true
		}
	}
	return false
}

// stands are the words that stand for a product after its property.
const stands = " one ones model models type version variant variants kind "

func (r *reading) conceptAt(sentence int, at span) bool {
	s := &r.sentences[sentence]
	for _, m := range r.marks[s.marks.start:s.marks.end] {
		if m.concept != 0 && m.start == at.start {
			return true
		}
	}
	return false
}

// citeValues notes the colours, materials, styles and services of a sentence,
// in any language of the lexicon, that an earlier result holds.
func (r *reading) citeValues(sentence int) {
	s := &r.sentences[sentence]
	for _, m := range r.marks[s.marks.start:s.marks.end] {
		if m.concept == 0 {
			continue
		}
		slot, found := r.shelf.slots[words().values[m.concept]]
		if !found {
			continue
		}
		fact := &r.shelf.words[slot]
		if min(fact.first[roleValue], fact.first[roleText]) < r.step {
			r.cites = append(r.cites, cite{span: span{m.start, m.end}, kind: citeValue, sentence: sentence, token: -1, product: -1, asked: fact.query})
		}
	}
}

// datumIn finds the first datum of a sentence that counts by itself, and the
// first value that counts where the sentence describes results; a value of the
// lexicon goes before a mere word of a title.
func (r *reading) datumIn(sentence int) (strong, weak *cite) {
	cites := r.citesOf(sentence)
	for i := range cites {
		c := &cites[i]
		if c.asked {
			continue
		}
		switch c.kind {
		case citePrice, citeAmount, citeBrand:
			return c, weak
		case citeID, citeShop:
			if !r.bare(c) {
				return c, weak
			}
		case citeValue:
			if weak == nil || weak.token >= 0 && c.token < 0 {
				weak = c
			}
		case citeUnknown:
			r.invented = fmt.Sprintf("; no result holds %q", clip(r.text[c.start:c.end]))
		}
	}
	return nil, weak
}

// bare tells whether an id is only the object of an action: its clause says
// nothing of it.
func (r *reading) bare(c *cite) bool {
	clause := r.clause(c)
	s := &r.sentences[c.sentence]
	classes := r.classesIn(s, clause)
	if classes&(evalWord|compareWord|rejectWord|seeWord|contrastWord|preferWord|verdictWord) != 0 {
		return false
	}
	if classes&actWord == 0 && r.idsBeside(c) > 1 {
		return false
	}
	others := 0
	for k := s.tokens.start; k < s.tokens.end; k++ {
		if t := &r.tokens[k]; t.start >= clause.start && t.end <= clause.end && t.number.end == 0 {
			others++
		}
	}
	return classes&(actWord|chooseWord|planWord) != 0 || others < 3 && !r.unspacedIn(clause)
}

// idsBeside counts the ids of the cite's sentence: two held side by side are
// more than an action.
func (r *reading) idsBeside(c *cite) (n int) {
	for _, o := range r.citesOf(c.sentence) {
		if o.kind == citeID {
			n++
		}
	}
	return n
}

func (r *reading) unspacedIn(at span) bool {
	for _, c := range r.text[at.start:at.end] {
		if unspaced(c) {
			return true
		}
	}
	return false
}

// clause is the stretch around a cite between commas, colons, brackets and
// arrows. A colon right after it opens what is said of it.
func (r *reading) clause(c *cite) span {
	s := r.sentences[c.sentence]
	start, end := c.start, c.end
	for start > s.start && !clauseEdge(r.text, int(start)-1) {
		start--
	}
	for end < s.end && (!clauseEdge(r.text, int(end)) || end == c.end && r.text[end] == ':') {
		end++
	}
	return span{start, end}
}

func clauseEdge(text string, i int) bool {
	switch text[i] {
	case ',', ';', ':', '(', ')', '|', '>':
		return true
	case 0xEF, 0xE3:
		return strings.HasPrefix(text[i:], "，") || strings.HasPrefix(text[i:], "：") || strings.HasPrefix(text[i:], "、")
	case 0x86, 0xE2:
		return strings.HasPrefix(text[i:], "→")
	default:
		return false
	}
}
