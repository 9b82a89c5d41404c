package evidence

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// trimmed reports whether sent is the named search with words left out: a client that
// cuts long queries, or takes out words the shop does not index. Half of the
// words must be left, in their order: with less the subject is the client's,
// unless it is the beginning word for word, longer than a name.
func (a *Act) trimmed(b *Act) bool {
	return a.Tool == ToolFind && b.Tool == ToolFind && a.Page == b.Page &&
		(a.Shop == b.Shop || a.Shop == 0 || b.Shop == 0) &&
		len(b.Words) < len(a.Words) &&
		(2*len(b.Words) >= len(a.Words) && inOrder(b.Words, a.Words) || len(b.Words) >= MinExcerpt && prefix(b.Words, a.Words))
}

// MinExcerpt is how many words in a row, taken from the request, are a cut-out
// and no wording: brands and names of things run to four.
const MinExcerpt = 5

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
func (l *ProxyLog) merges(d *Dispatch, first, last int) bool {
	apart := func(id string) bool { return !l.opens(id, first, last) }
	if d.Act.Tool != ToolView || len(d.Act.IDs) < 2 || slices.ContainsFunc(d.Act.IDs, apart) {
		return false
	}
	for r := max(first, 0); r <= last; r++ {
		for i := range l.Replies[r].Named {
			if named := &l.Replies[r].Named[i]; named.Tool == ToolView && Subset(named.IDs, d.Act.IDs) {
				named.Used, d.Reply = true, r
			}
		}
	}
	return d.Reply >= 0
}

// opens reports whether a call of these replies, not spent yet, opens the product.
func (l *ProxyLog) opens(id string, first, last int) bool {
	for r := max(first, 0); r <= last; r++ {
		for i := range l.Replies[r].Named {
			if named := &l.Replies[r].Named[i]; named.Tool == ToolView && !named.Used && slices.Contains(named.IDs, id) {
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
func (a *Attempt) unnumber() {
	if !a.Log.numbers() {
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
	for i := range a.Log.Replies {
		r := &a.Log.Replies[i]
		for j := range r.Named {
			if ids := a.pointed(&r.Named[j], r, best); ids != nil {
				r.Named[j].IDs = ids
			}
		}
	}
}

// numbers reports whether a reply names products by numbers of its own.
func (l *ProxyLog) numbers() bool {
	return slices.ContainsFunc(l.Replies, func(r Reply) bool { return slices.ContainsFunc(r.Named, isNumbered) })
}

func isNumbered(n Act) bool {
	return n.Tool.Takes() && len(n.IDs) > 0 && !slices.ContainsFunc(n.IDs, func(id string) bool { return numberOf(id) < 0 })
}

// numberOf reads a number that is too short for an id, with a mark before it
// such as "#3" or "P12"; -1 where the text is none.
func numberOf(id string) int {
	digits := strings.TrimRight(strings.TrimLeftFunc(id, func(r rune) bool { return unicode.IsLetter(r) || strings.ContainsRune("#_-[ ", r) }), "] ")
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || len(digits) > 3 || len(id) >= minID+3 {
		return -1
	}
	return int(n)
}

// explained counts the numbered calls that this numbering turns into something
// that was opened or recommended afterwards.
func (a *Attempt) explained(by numbering) (n int) {
	for i := range a.Log.Replies {
		r := &a.Log.Replies[i]
		for j := range r.Named {
			if ids := a.pointed(&r.Named[j], r, by); ids != nil && a.taken(ids, r.End) {
				n++
			}
		}
	}
	return n
}

// pointed are the products that a numbered call means; nil where it is none or
// a number points nowhere.
func (a *Attempt) pointed(n *Act, r *Reply, by numbering) []string {
	if !isNumbered(*n) || !a.Pad.room() {
		return nil
	}
	shown, from := a.numbered(r.Start, by.through), len(a.Pad.ids)
	for _, id := range n.IDs {
		place := numberOf(id) - by.from
		if place < 0 || place >= len(shown) {
			a.Pad.ids = a.Pad.ids[:from]
			return nil
		}
		a.Pad.ids = append(a.Pad.ids, shown[place])
	}
	return a.Pad.ids[from:len(a.Pad.ids):len(a.Pad.ids)]
}

// numbered are the products of the lists shown before the moment, as they are
// numbered.
func (a *Attempt) numbered(at float64, through bool) (shown []string) {
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		switch {
		case d.Act.Tool != ToolFind || d.End > at+a.Log.Slack:
		case !through:
			shown = d.shown
		default:
			for _, id := range d.shown {
				if !slices.Contains(shown, id) {
					shown = append(shown, id)
				}
			}
		}
	}
	return shown
}

// taken reports whether just these products were opened after the moment, or
// recommended in the end.
func (a *Attempt) taken(ids []string, at float64) bool {
	for i := range a.Log.Dispatches {
		if d := &a.Log.Dispatches[i]; d.Start >= at-a.Log.Slack && d.Act.Tool == ToolView && SameIDs(d.Act.IDs, ids) {
			return true
		}
	}
	last := a.lastRecommendation()
	return last != nil && SameIDs(last.Act.IDs, ids)
}
