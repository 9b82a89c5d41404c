package evidence

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// Listing is what a result shows of its products, each column in the result's
// order; prices and sales as they are written.
type Listing struct {
	Shown, Titles, Prices, Sales []string
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
	s := written(result)
	before := p.listed
	for len(p.listed.Shown)-len(before.Shown) < maxIDs {
		colon := strings.IndexByte(s, ':')
		if colon < 0 {
			break
		}
		column := p.listed.column(s[:colon])
		s = s[colon+1:]
		if column == nil {
			continue
		}
		var value string
		value, s = scalar(unspaced(s))
		if value != "" || column != &p.listed.Shown { // what has no id is no product
			*column = append(*column, value)
		}
	}
	l := p.listed.since(&before)
	l.Titles = l.Titles[:min(len(l.Titles), len(l.Shown))]
	return l
}

// ShownIDs reads the ids of a result alone. It looks for their key by its
// underscore, which is rarer than colons where products come with all details.
func (p *Pad) ShownIDs(result arena.Raw) []string {
	if !p.room() {
		return nil
	}
	s, from := written(result), len(p.listed.Shown)
	for len(p.listed.Shown)-from < maxIDs {
		at := strings.IndexByte(s, '_')
		if at < 0 {
			break
		}
		before, after := s[:at], s[at:]
		s = after[1:]
		if !strings.HasPrefix(after, `_id"`) || !strings.HasSuffix(before, `"product`) {
			continue
		}
		if s = unspaced(after[len(`_id"`):]); !strings.HasPrefix(s, ":") {
			continue
		}
		var value string
		if value, s = scalar(unspaced(s[1:])); value != "" {
			p.listed.Shown = append(p.listed.Shown, value)
		}
	}
	return added(p.listed.Shown, p.listed.Shown[:from])
}

// written is a result as its tool wrote it: a client may have passed it on as
// text.
func written(result arena.Raw) string {
	s := string(result)
	if result.Kind() == arena.String && strings.Contains(s, `\"product_id\"`) {
		return gjson.Parse(s).Str
	}
	return s
}

func unspaced(s string) string {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	return s
}

// column is where the value of the key belongs that text ends with, nil where it
// belongs nowhere.
func (l *Listing) column(text string) *[]string {
	for text != "" && text[len(text)-1] <= ' ' {
		text = text[:len(text)-1]
	}
	if len(text) < 2 {
		return nil
	}
	switch last := text[len(text)-2]; { // most keys end in another letter
	case last == 'd' && strings.HasSuffix(text, `"product_id"`):
		return &l.Shown
	case last == 'e' && strings.HasSuffix(text, `title"`):
		return &l.Titles
	case last == 'e' && strings.HasSuffix(text, `price"`):
		return &l.Prices
	case last == 't' && strings.HasSuffix(text, `sold_count"`):
		return &l.Sales
	}
	return nil
}

// since is what was added to the columns.
func (l *Listing) since(before *Listing) Listing {
	return Listing{
		Shown: added(l.Shown, before.Shown), Titles: added(l.Titles, before.Titles),
		Prices: added(l.Prices, before.Prices), Sales: added(l.Sales, before.Sales),
	}
}

// clear empties the columns and keeps their memory.
func (l *Listing) clear() {
	for _, column := range [...]*[]string{&l.Shown, &l.Titles, &l.Prices, &l.Sales} {
		clear(*column)
		*column = (*column)[:0]
	}
}

func added(all, before []string) []string { return all[len(before):len(all):len(all)] }

// TakesEnd reports whether all products taken from the list have less of a number,
// or all of them more, than every product that was passed over.
func (l *Listing) TakesEnd(ids, numbers []string) (least, most bool) {
	if len(numbers) < len(l.Shown) {
		return false, false
	}
	taken, passed := emptyRange(), emptyRange()
	for i, id := range l.Shown {
		if taken.hi >= passed.lo && taken.lo <= passed.hi {
			return false, false // no later product makes either true again
		}
		value, err := strconv.ParseFloat(numbers[i], 64)
		if err != nil || math.IsNaN(value) {
			return false, false
		}
		of := &passed
		if HasID(ids, id) {
			of = &taken
		}
		of.lo, of.hi = min(of.lo, value), max(of.hi, value)
	}
	return taken.hi < passed.lo, taken.lo > passed.hi
}

// emptyRange is the range of no number at all.
func emptyRange() priceRange { return priceRange{lo: math.Inf(1), hi: math.Inf(-1)} }
