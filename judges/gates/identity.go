package gates

import "strings"

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

// minShop is the least number of digits of a shop's id that is read as one.
const minShop = 3

func (r *reading) citesShop(t *token, c *cite) bool {
	fact := &r.shelf.words[t.word]
	c.kind, c.asked = citeShop, fact.query
	return t.number.digits >= minShop && fact.first[roleShop] < r.step
}

// maxPart is the most digits of an id that is read as a part of one.
const maxPart = 9

// citesPartOfID reads abbreviated ids: "…8976", "5008…", or four digits or more
// that begin or end exactly one id returned so far and leave three of it out.
func (r *reading) citesPartOfID(t *token, c *cite) bool {
	n := &t.number
	if !n.plain || n.digits < 3 || n.digits > maxPart || r.shelf.words[t.word].query {
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
		if hidden := len(p.id) - len(part); p.step >= r.step || hidden < 1 || hidden < 3 && !before && !after {
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
	return strings.HasSuffix(head, "…") || strings.HasSuffix(head, "..") || strings.HasSuffix(head, "*")
}

func (r *reading) cutAfter(i int) bool {
	tail := r.folded[i:]
	return strings.HasPrefix(tail, "…") || strings.HasPrefix(tail, "..") || strings.HasPrefix(tail, "*")
}
