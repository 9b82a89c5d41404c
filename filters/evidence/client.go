package evidence

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
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
	if d.Act.Tool != ToolView || len(d.Act.IDs) < 2 {
		return false
	}
	apart, parts := slices.Clone(d.Act.IDs), []*Act(nil)
	for r := max(first, 0); r <= last; r++ {
		for i := range l.Replies[r].Named {
			if named := &l.Replies[r].Named[i]; named.Tool == ToolView && !named.Used && Subset(named.IDs, d.Act.IDs) {
				apart = slices.DeleteFunc(apart, func(id string) bool { return slices.Contains(named.IDs, id) })
				parts, d.Reply = append(parts, named), r
			}
		}
	}
	if len(apart) > 0 {
		d.Reply = -1
		return false
	}
	for _, named := range parts {
		named.Used = true
	}
	return true
}

// unnumber puts ids in the place of numbers in what replies named, where a client numbers
// the products of each list for its model, and just those were then opened or
// recommended.
func (a *Attempt) unnumber() {
	for _, r := range Each(a.Log.Replies) {
		for j := range r.Named {
			if ids := a.pointed(&r.Named[j], r.Start); ids != nil && a.taken(ids, r.End) {
				r.Named[j].IDs = ids
			}
		}
	}
}

func isNumbered(n Act) bool {
	return n.Tool.TakesProducts() && len(n.IDs) > 0 && !slices.ContainsFunc(n.IDs, func(id string) bool { return numberOf(id) < 0 })
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

// pointed are the products that a numbered call means; nil where it is none or
// a number points nowhere.
func (a *Attempt) pointed(n *Act, at float64) []string {
	if !isNumbered(*n) || !a.Pad.room() {
		return nil
	}
	shown, from := a.listed(at), len(a.Pad.ids)
	for _, id := range n.IDs {
		place := numberOf(id)
		if place < 1 || place > len(shown) {
			a.Pad.ids = a.Pad.ids[:from]
			return nil
		}
		a.Pad.ids = append(a.Pad.ids, shown[place-1])
	}
	return a.Pad.ids[from:len(a.Pad.ids):len(a.Pad.ids)]
}

// listed are the products of the newest list before the moment.
func (a *Attempt) listed(at float64) (shown []string) {
	for i := range a.Log.Dispatches {
		if d := &a.Log.Dispatches[i]; d.Act.Tool == ToolFind && d.End <= at+a.Log.Slack {
			shown = d.shown
		}
	}
	return shown
}

// taken reports whether just these products were opened after the moment, or
// recommended in the end.
func (a *Attempt) taken(ids []string, at float64) bool {
	return a.Recommended != nil && SameIDs(a.Recommended.Act.IDs, ids) || slices.ContainsFunc(a.Log.Dispatches, func(d Dispatch) bool {
		return d.Start >= at-a.Log.Slack && d.Act.Tool == ToolView && SameIDs(d.Act.IDs, ids)
	})
}

// ownKeys reads the subject of a call under keys of the author's own: the
// longest text of a search, and ids, or numbers of a list, of what takes products.
// What stands under a key of the shop is a filter.
func (a *Act) ownKeys(p *Pad, args arena.Raw) {
	longest := 0
	for key, v := range gjson.Parse(string(args)).ForEach {
		if slices.Contains(searchKeys, key.Str) {
			continue
		}
		before := len(p.ids)
		var own Act
		own.foreign(p, v)
		switch {
		case a.Tool == ToolFind:
			if len(own.Words) > 0 && len(v.Str) > longest {
				a.Words, longest = own.Words, len(v.Str)
			}
		case len(own.IDs) > 0 && (len(a.IDs) == 0 || isNumbered(*a)):
			a.IDs = own.IDs
		case len(a.IDs) == 0:
			p.ids = appendIDs(p.ids[:before], v, false)
			if a.IDs = p.ids[before:len(p.ids):len(p.ids)]; !isNumbered(*a) {
				p.ids, a.IDs = p.ids[:before], nil
			}
		}
	}
}

// searchKeys are the arguments of the shop's own search.
var searchKeys = []string{"q", "query", "page", "price", "shop_id", "service", "sort"}
