package evidence

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// Listing is what a result shows of its products, each column in the result's order.
type Listing struct {
	Shown, Titles []string
}

// lists reads what searches brought.
func (p *Pad) lists(all []Claim) {
	for i := range all {
		if c := &all[i]; c.Act.Tool == ToolFind || c.Act.Tool == ToolShop {
			c.Listing = p.List(c.Call.Result)
		}
	}
}

// List reads a result. It looks for the keys alone, so any shape of result will
// do, and for those by their colon, which is rarer in results than the quotes
// and letters of a key.
func (p *Pad) List(result arena.Raw) Listing {
	if !p.room() {
		return Listing{}
	}
	s, all := written(result), &p.listed
	shown, titles := len(all.Shown), len(all.Titles)
	for len(all.Shown)-shown < maxIDs {
		colon := strings.IndexByte(s, ':')
		if colon < 0 {
			break
		}
		column := all.column(s[:colon])
		s = s[colon+1:]
		if column == nil {
			continue
		}
		var value string
		value, s = scalar(strings.TrimLeft(s, blanks))
		if value != "" || column != &all.Shown { // what has no id is no product
			*column = append(*column, value)
		}
	}
	l := Listing{all.Shown[shown:len(all.Shown):len(all.Shown)], all.Titles[titles:len(all.Titles):len(all.Titles)]}
	l.Titles = l.Titles[:min(len(l.Titles), len(l.Shown))]
	return l
}

const blanks = " \t\r\n"

// written is a result as its tool wrote it: a client may have passed it on as
// text.
func written(result arena.Raw) string {
	s := string(result)
	if result.Kind() == arena.String && strings.Contains(s, `\"product_id\"`) {
		return gjson.Parse(s).Str
	}
	return s
}

// column is where the value of the key belongs that text ends with, nil where it
// belongs nowhere.
func (l *Listing) column(text string) *[]string {
	text = strings.TrimRight(text, blanks)
	switch {
	case strings.HasSuffix(text, `"product_id"`):
		return &l.Shown
	case strings.HasSuffix(text, `title"`):
		return &l.Titles
	}
	return nil
}

// clear empties the columns and keeps their memory.
func (l *Listing) clear() {
	clear(l.Shown)
	clear(l.Titles)
	l.Shown, l.Titles = l.Shown[:0], l.Titles[:0]
}
