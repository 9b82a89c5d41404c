package evidence

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// resolveNumbers replaces positions in a list (3 for the third item) by item ids in the calls of
// the model's replies, since a client may number the items that it shows to its model. Only
// positions whose items were then opened or committed are replaced.
func (a *Attempt) resolveNumbers() {
	for i := range a.Log.Replies {
		r := &a.Log.Replies[i]
		for j := range r.Named {
			ids := a.numberedItems(&r.Named[j], r.Start)
			if ids != nil && a.wereChosen(ids, r.End) {
				r.Named[j].IDs = ids
			}
		}
	}
}

// hasListNumbers reports whether a call takes items, and all its items are positions in a
// list, such as 3 for the third, instead of ids.
func hasListNumbers(act *Act) bool {
	isNoNumber := func(id string) bool { return parseListNumber(id) < 0 }
	return act.Tool.TakesIDs() && len(act.IDs) > 0 &&
		!slices.ContainsFunc(act.IDs, isNoNumber)
}

// parseListNumber parses the position of an item in a list, with or without a prefix as in
// "#3" or "P12". It returns -1 for any other text, such as a number of more than three digits,
// which is an id.
func parseListNumber(id string) int {
	isPrefixRune := func(r rune) bool {
		return unicode.IsLetter(r) || strings.ContainsRune("#_-[ ", r)
	}
	digits := strings.TrimRight(strings.TrimLeftFunc(id, isPrefixRune), "] ")
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || len(digits) > 3 || len(id) >= minID+3 {
		return -1
	}
	return int(n)
}

// numberedItems returns the items to which the positions in a call refer, in the newest
// search result before time (Unix milliseconds). It returns nil if the call has ids instead, or
// if a position is out of range.
func (a *Attempt) numberedItems(named *Act, time float64) []string {
	if !hasListNumbers(named) || !a.scratch.hasRoom() {
		return nil
	}
	items := a.newestList(time)
	start := len(a.scratch.ids)
	for _, id := range named.IDs {
		n := parseListNumber(id)
		if n < 1 || n > len(items) {
			a.scratch.ids = a.scratch.ids[:start]
			return nil
		}
		a.scratch.ids = append(a.scratch.ids, items[n-1])
	}
	return a.scratch.ids[start:len(a.scratch.ids):len(a.scratch.ids)]
}

// newestList returns the item ids of the newest search result that ended before time (Unix
// milliseconds). It returns nil if there is none.
func (a *Attempt) newestList(time float64) []string {
	var items []string
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		if d.Act.Tool == ToolFind && d.End <= time+a.Log.Slack {
			items = d.items
		}
	}
	return items
}

// wereChosen reports whether the agent later used exactly these items together: the call that gives
// the answer has them, or one request after time (Unix milliseconds) opens them.
func (a *Attempt) wereChosen(ids []string, time float64) bool {
	if a.Commit != nil && SameIDs(a.Commit.Act.IDs, ids) {
		return true
	}
	return slices.ContainsFunc(a.Log.Dispatches, func(d Dispatch) bool {
		return d.Start >= time-a.Log.Slack &&
			d.Act.Tool == ToolView && SameIDs(d.Act.IDs, ids)
	})
}

// searchKeys are the names of the arguments of the harness's search tool, such as the filters that
// a call in another notation may contain too.
var searchKeys = []string{"q", "query", "page", "price", "shop_id", "service", "sort"}

// readCustomKeys reads a call whose argument names are unknown. For a search, the longest text is
// the query. For a tool that takes items, the ids are the items or, if there are none, the
// positions in a list. Arguments that have the name of a filter of the standard search tool are
// ignored.
func (a *Act) readCustomKeys(s *scratch, args arena.Raw) {
	longest := 0
	for key, v := range gjson.Parse(string(args)).ForEach {
		if slices.Contains(searchKeys, key.Str) {
			continue
		}
		start := len(s.ids)
		var arg Act
		arg.readByValue(s, v)
		switch {
		case a.Tool == ToolFind:
			if len(arg.Words) > 0 && len(v.Str) > longest {
				a.Words = arg.Words
				longest = len(v.Str)
			}
		case len(arg.IDs) > 0 && (len(a.IDs) == 0 || hasListNumbers(a)):
			a.IDs = arg.IDs
		case len(a.IDs) == 0:
			s.ids = s.ids[:start]
			a.IDs = s.appendIDs(v, false)
			if !hasListNumbers(a) {
				s.ids = s.ids[:start]
				a.IDs = nil
			}
		}
	}
}
