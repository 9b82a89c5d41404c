package gates

import (
	"cmp"
	"math"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
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
			r.value(cursor.New(string(call.Result), noLimits), keyNone, &product{}, 0)
		}
	}
}

type resultReader struct {
	shelf *shelf
	step  int32
	list  uint64
	// echo is the text whose figures the tool only repeats.
	echo string
}

// noLimits are those of results, which are as long as a trace lets them be.
var noLimits = cursor.Limits{Depth: math.MaxInt, StringBytes: math.MaxInt, Elements: math.MaxInt}

// value reads the value at v, which stands under a key of that kind in the object item.
func (r *resultReader) value(v *cursor.Cursor, kind keyKind, item *product, depth int) {
	is := v.Kind()
	switch {
	case depth > maxDepth:
		v.Skip()
	case is == arena.Object:
		r.object(v, item, depth+1)
	case is == arena.Array:
		v.Array(func() { r.value(v, kind, item, depth+1) })
	case is == arena.String:
		r.str(kind, item, strings.TrimSuffix(strings.TrimPrefix(string(v.Raw()), `"`), `"`), depth)
	case is == arena.Number && (kind == keyID || kind == keyShop):
		r.str(kind, item, string(v.Raw()), maxDepth)
	case is == arena.Number && kind == keyPrice:
		r.price(item, string(v.Raw()))
	case is == arena.Number:
		r.figures(string(v.Raw()), false)
	default:
		v.Skip()
	}
}

// object reads one object. Where it has an id it is a product; what has none
// belongs to the object around it.
func (r *resultReader) object(v *cursor.Cursor, outer *product, depth int) {
	var own product
	v.Object(func(key string) { r.value(v, kindOf(key), &own, depth) })
	if own.id == "" {
		outer.brand = cmp.Or(outer.brand, own.brand)
		return
	}
	r.put(own)
}

func (r *resultReader) put(p product) {
	p.step, p.lists = r.step, r.list
	r.shelf.see(strings.ToLower(p.id), roleID, r.step)
	if p.brand != "" {
		first, _, _ := strings.Cut(p.brand, " ")
		r.wordsOf(first, roleBrand, roleBrand)
	}
	r.shelf.put(p)
}
