package gates

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// maxDepth bounds the nesting that is read of a result, maxText the length of
// a string that is read for words: longer ones are descriptions, whose common
// words would make any remark a quote.
const (
	maxDepth = 32
	maxText  = 400
)

// firstResult is the step of the first result; never where there is none.
func firstResult(d *arena.Dialogue) int32 {
	for i := range d.Turns {
		for k := range d.Turns[i].Calls {
			if isEvidence(&d.Turns[i].Calls[k]) {
				return int32(max(d.Turns[i].Step, 0))
			}
		}
	}
	return never
}

// isEvidence reports whether a call brought something new. The answers of
// recommend_product and terminate only repeat the agent's own arguments.
func isEvidence(c *arena.Call) bool {
	return c.Name != "recommend_product" && c.Name != "terminate" && c.Result.Kind() != arena.Absent
}

// readResults reads every result of the steps before last past the shelf's
// index.
func readResults(d *arena.Dialogue, s *shelf, last int32) {
	for i := range d.Turns {
		step := int32(d.Turns[i].Step)
		for k := range d.Turns[i].Calls {
			call := &d.Turns[i].Calls[k]
			if step >= last || !isEvidence(call) {
				continue
			}
			r := resultReader{shelf: s, step: step}
			if s.lists < 64 {
				r.list = 1 << s.lists
			}
			s.lists++
			if call.Name == "calculate_voucher" {
				r.echo = string(call.Arguments)
			}
			r.value(gjson.Parse(string(call.Result)), keyNone, &product{}, 0)
		}
	}
}

// resultReader notes what one result holds.
type resultReader struct {
	shelf *shelf
	step  int32
	list  uint64
	// echo is the text whose figures the tool only repeats.
	echo string
}

// value reads a value that stands under a key of that kind in the object item.
func (r *resultReader) value(v gjson.Result, kind keyKind, item *product, depth int) {
	switch {
	case depth > maxDepth:
	case v.IsObject():
		r.object(v, item, depth+1)
	case v.IsArray():
		v.ForEach(func(_, e gjson.Result) bool {
			r.value(e, kind, item, depth+1)
			return true
		})
	case v.Type == gjson.String:
		r.str(kind, item, strings.TrimSuffix(v.Raw[1:], `"`), depth)
	case v.Type == gjson.Number && (kind == keyID || kind == keyShop):
		r.str(kind, item, v.Raw, maxDepth)
	case v.Type == gjson.Number && kind == keyPrice:
		r.price(item, v.Raw)
	case v.Type == gjson.Number:
		r.figures(v.Raw, false)
	}
}

// object reads one object. Where it has an id it is a product; what has none
// belongs to the object around it.
func (r *resultReader) object(v gjson.Result, outer *product, depth int) {
	var own product
	v.ForEach(func(k, e gjson.Result) bool {
		r.value(e, kindOf(k.Str), &own, depth)
		return true
	})
	if own.id == "" {
		outer.brand = cmp.Or(outer.brand, own.brand)
		return
	}
	r.put(own)
}

func (r *resultReader) put(p product) {
	if p.id == "" {
		return
	}
	p.step, p.lists = r.step, r.list
	r.shelf.see(p.id, roleID, r.step)
	if p.brand != "" {
		first, _, _ := strings.Cut(p.brand, " ")
		r.wordsOf(first, roleBrand, roleBrand)
	}
	r.shelf.put(p)
}
