package gates

import (
	"cmp"
	"math"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// maxDepth is the maximum nesting that is read of a result, maxText the maximum
// length of a string that is read for words: longer ones are descriptions, whose
// common words would make any remark a quote.
const (
	maxDepth = 32
	maxText  = 400
)

// firstResult returns the step of the first result; never if there is none.
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

// isEvidence reports whether a call returned something new. The results of
// recommend_product and terminate only repeat the agent's own arguments.
func isEvidence(c *arena.Call) bool {
	return c.Name != "recommend_product" && c.Name != "terminate" && c.Result.Kind() != arena.Absent
}

// readResults records in the index the results of the steps before end.
func readResults(d *arena.Dialogue, x *factIndex, end int32) {
	for i := range d.Turns {
		step := int32(d.Turns[i].Step)
		if step >= end {
			continue
		}
		for k := range d.Turns[i].Calls {
			call := &d.Turns[i].Calls[k]
			if !isEvidence(call) {
				continue
			}
			r := resultReader{index: x, step: step}
			if x.results < 64 {
				r.resultBit = 1 << x.results
			}
			x.results++
			if call.Name == "calculate_voucher" {
				r.echo = string(call.Arguments)
			}
			r.readValue(
				cursor.New(string(call.Result), noLimits),
				keyNone,
				&product{},
				0,
			)
		}
	}
}

// resultReader reads one result.
type resultReader struct {
	index     *factIndex
	step      int32
	resultBit uint64
	// echo is the text whose figures the tool only repeats.
	echo string
}

// noLimits are the limits of results: the trace already limits their length.
var noLimits = cursor.Limits{
	Depth:       math.MaxInt,
	StringBytes: math.MaxInt,
	Elements:    math.MaxInt,
}

// readValue reads the value at v, which has a key of that kind in the object item.
func (r *resultReader) readValue(
	v *cursor.Cursor,
	kind keyKind,
	item *product,
	depth int,
) {
	if depth > maxDepth {
		v.Skip()
		return
	}
	switch v.Kind() {
	case arena.Object:
		r.readObject(v, item, depth+1)
	case arena.Array:
		v.Array(func() {
			r.readValue(v, kind, item, depth+1)
		})
	case arena.String:
		raw := strings.TrimPrefix(string(v.Raw()), `"`)
		r.readString(kind, item, strings.TrimSuffix(raw, `"`), depth)
	case arena.Number:
		r.readNumber(string(v.Raw()), kind, item)
	default:
		v.Skip()
	}
}

func (r *resultReader) readNumber(raw string, kind keyKind, item *product) {
	switch kind {
	case keyID, keyShop:
		r.readString(kind, item, raw, maxDepth)
	case keyPrice:
		r.readPrice(item, raw)
	case keyNone, keyOther, keyProse, keyTitle, keyBrand, keySkip:
		r.readFigures(raw, false)
	}
}

// readObject reads one object. An object with an id is a product. The brand of
// another one belongs to the object around it.
func (r *resultReader) readObject(
	v *cursor.Cursor,
	outer *product,
	depth int,
) {
	var p product
	v.Object(func(key string) {
		r.readValue(v, parseKey(key), &p, depth)
	})
	if p.id == "" {
		outer.brand = cmp.Or(outer.brand, p.brand)
		return
	}
	r.addProduct(p)
}

func (r *resultReader) addProduct(p product) {
	p.step = r.step
	p.results = r.resultBit
	r.index.record(strings.ToLower(p.id), roleID, r.step)
	if p.brand != "" {
		first, _, _ := strings.Cut(p.brand, " ")
		r.readWords(first, roleBrand, roleBrand)
	}
	r.index.addProduct(p)
}
