package filters

import "strings"

// trimmed reports whether sent is the named search with words left out: a client that
// cuts long queries, or takes out words the shop does not index. Half of the
// words must be left, in their order: with less the subject is the client's,
// unless it is the beginning word for word, longer than a name.
func (a *act) trimmed(b *act) bool {
	return a.tool == toolFind && b.tool == toolFind && a.page == b.page &&
		(a.shop == b.shop || a.shop == 0 || b.shop == 0) &&
		len(b.words) < len(a.words) &&
		(2*len(b.words) >= len(a.words) && inOrder(b.words, a.words) || len(b.words) >= minExcerpt && prefix(b.words, a.words))
}

// inOrder reports whether all of part stand in whole, in the same order.
func inOrder(part, whole []uint64) bool {
	for _, w := range whole {
		if len(part) > 0 && part[0] == w {
			part = part[1:]
		}
	}
	return len(part) == 0
}

// merges reports whether one request asks for the products of several named ones: a
// client that opens them together. Each of its products must have been named in
// this turn.
func (l *proxyLog) merges(d *dispatch, first, last int) bool {
	if d.act.tool != toolView || len(d.act.ids) < 2 {
		return false
	}
	for _, id := range d.act.ids {
		if !l.opens(id, first, last) {
			return false
		}
	}
	for r := max(first, 0); r <= last; r++ {
		for i := range l.replies[r].named {
			if named := &l.replies[r].named[i]; named.tool == toolView && subset(named.ids, d.act.ids) {
				named.used, d.reply = true, r
			}
		}
	}
	return d.reply >= 0
}

// opens reports whether a call of these replies, not spent yet, opens the product.
func (l *proxyLog) opens(id string, first, last int) bool {
	for r := max(first, 0); r <= last; r++ {
		for i := range l.replies[r].named {
			if named := &l.replies[r].named[i]; named.tool == toolView && !named.used && hasID(named.ids, id) {
				return true
			}
		}
	}
	return false
}

// numbering is how a client numbers products for its model, which then names
// numbers where the shop wants ids.
type numbering struct {
	// through reports whether numbers run through all lists shown so far, each product
	// once; else they count within the newest list.
	through bool
	// from is the first number.
	from int
}

var numberings = [...]numbering{{true, 1}, {true, 0}, {false, 1}, {false, 0}}

// unnumber puts ids in the place of numbers in what replies named, by that
// numbering which explains most of what was then opened or recommended. A
// program that opens other products than the numbers point at is not helped.
func (a *attempt) unnumber() {
	if !a.log.numbers() {
		return
	}
	best, most := numbering{}, 0
	for _, by := range numberings {
		if n := a.explained(by); n > most {
			best, most = by, n
		}
	}
	if most == 0 {
		return
	}
	for i := range a.log.replies {
		r := &a.log.replies[i]
		for j := range r.named {
			if ids := a.pointed(&r.named[j], r, best); ids != nil {
				r.named[j].ids = ids
			}
		}
	}
}

// numbers reports whether a reply names products by numbers of its own.
func (l *proxyLog) numbers() bool {
	for i := range l.replies {
		for j := range l.replies[i].named {
			if isNumbered(&l.replies[i].named[j]) {
				return true
			}
		}
	}
	return false
}

func isNumbered(n *act) bool {
	if n.tool != toolView && n.tool != toolMatch && n.tool != toolRecommend || len(n.ids) == 0 {
		return false
	}
	for _, id := range n.ids {
		if numberOf(id) < 0 {
			return false
		}
	}
	return true
}

// numberOf reads a number that is too short for an id, with a mark before it
// such as "#3" or "P12"; -1 where the text is none.
func numberOf(id string) int {
	digits := strings.TrimLeft(id, "#abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-[ ")
	digits = strings.TrimRight(digits, "] ")
	if len(digits) == 0 || len(digits) > 3 || len(id) >= minID+3 {
		return -1
	}
	n := 0
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return -1
		}
		n = 10*n + int(digits[i]-'0')
	}
	return n
}

// explained counts the numbered calls that this numbering turns into something
// that was opened or recommended afterwards.
func (a *attempt) explained(by numbering) (n int) {
	for i := range a.log.replies {
		r := &a.log.replies[i]
		for j := range r.named {
			if ids := a.pointed(&r.named[j], r, by); ids != nil && a.taken(ids, r.end) {
				n++
			}
		}
	}
	return n
}

// pointed are the products that a numbered call means; nil where it is none or
// a number points nowhere.
func (a *attempt) pointed(n *act, r *reply, by numbering) []string {
	if !isNumbered(n) || !a.pad.room() {
		return nil
	}
	from := len(a.pad.ids)
	for _, id := range n.ids {
		real := a.numbered(numberOf(id)-by.from, r.start, by.through)
		if real == "" {
			a.pad.ids = a.pad.ids[:from]
			return nil
		}
		a.pad.ids = append(a.pad.ids, real)
	}
	return a.pad.ids[from:len(a.pad.ids):len(a.pad.ids)]
}

// numbered is the product at a place, counted from 0, of the lists shown before
// the moment.
func (a *attempt) numbered(place int, at float64, through bool) string {
	if place < 0 {
		return ""
	}
	seen := 0
	newest := ""
	for i := range a.log.dispatches {
		d := &a.log.dispatches[i]
		if d.act.tool != toolFind || d.end > at+a.log.slack {
			continue
		}
		if !through {
			newest = ""
			if place < len(d.shown) {
				newest = d.shown[place]
			}
			continue
		}
		for j, id := range d.shown {
			if a.searchedOut(id, i) || hasID(d.shown[:j], id) {
				continue
			}
			if seen == place {
				return id
			}
			seen++
		}
	}
	return newest
}

// searchedOut reports whether a search before dispatch i showed the product.
func (a *attempt) searchedOut(id string, i int) bool {
	for j := range a.log.dispatches[:i] {
		if d := &a.log.dispatches[j]; d.act.tool == toolFind && hasID(d.shown, id) {
			return true
		}
	}
	return false
}

// taken reports whether just these products were opened after the moment, or
// recommended in the end.
func (a *attempt) taken(ids []string, at float64) bool {
	for i := range a.log.dispatches {
		if d := &a.log.dispatches[i]; d.start >= at-a.log.slack && d.act.tool == toolView && sameIDs(d.act.ids, ids) {
			return true
		}
	}
	last := a.lastRecommendation()
	return last != nil && sameIDs(last.act.ids, ids)
}
