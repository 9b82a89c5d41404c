package evidence

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// subjectless reports whether the arguments of a tool which needs words or products
// give none under the shop's own keys.
func (a *Act) subjectless() bool {
	switch a.Tool {
	case ToolFind:
		return len(a.Words) == 0
	case ToolView, ToolMatch, ToolRecommend:
		return len(a.IDs) == 0
	case ToolOther, ToolShop, ToolVoucher, ToolAsk, ToolTerminate:
	}
	return false
}

// ownKeys reads the subject of a call under keys of the author's own: the
// longest text of a search, and ids, or numbers of a list, of what takes products.
// What stands under a key of the shop is a filter.
func (a *Act) ownKeys(p *Pad, args arena.Raw) {
	longest := 0
	gjson.Parse(string(args)).ForEach(func(key, v gjson.Result) bool {
		if slices.Contains(searchKeys, key.Str) {
			return true
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
		return true
	})
}

// searchKeys are the arguments of the shop's own search.
var searchKeys = []string{"q", "query", "page", "price", "shop_id", "service", "sort"}
