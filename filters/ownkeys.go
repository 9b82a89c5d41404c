package filters

import (
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
)

// subjectless reports whether the arguments of a tool which needs words or products
// give none under the shop's own keys.
func (a *act) subjectless() bool {
	switch a.tool {
	case toolFind:
		return len(a.words) == 0
	case toolView, toolMatch, toolRecommend:
		return len(a.ids) == 0
	case toolOther, toolShop, toolVoucher, toolTerminate:
	}
	return false
}

// ownKeys reads the subject of a call under keys of the author's own: the
// longest text of a search, and ids, or numbers of a list, of what takes products.
// What stands under a key of the shop is a filter.
func (a *act) ownKeys(p *pad, args arena.Raw) {
	longest := 0
	gjson.Parse(string(args)).ForEach(func(key, v gjson.Result) bool {
		if calls.IsSearchKey(key.Str) {
			return true
		}
		before := len(p.ids)
		var own act
		own.foreign(p, v)
		switch {
		case a.tool == toolFind:
			if len(own.words) > 0 && len(v.Str) > longest {
				a.words, longest = own.words, len(v.Str)
			}
		case len(own.ids) > 0 && (len(a.ids) == 0 || isNumbered(a)):
			a.ids = own.ids
		case len(a.ids) == 0:
			p.ids = appendIDs(p.ids[:before], v, false)
			if a.ids = p.ids[before:len(p.ids):len(p.ids)]; !isNumbered(a) {
				p.ids, a.ids = p.ids[:before], nil
			}
		}
		return true
	})
}
