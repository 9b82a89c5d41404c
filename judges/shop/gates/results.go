package gates

import (
	"cmp"
	"math"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// Limits of what is read of a tool result.
const (
	// maxDepth is the maximum nesting of the JSON objects and arrays of a tool result that are
	// read.
	maxDepth = 32
	// maxText is the maximum number of bytes of a string in a tool result whose words are recorded.
	// A longer one is a description: its common words would make any remark a quotation of the
	// result.
	maxText = 400
)

// firstResult returns the number of the first step with a tool result that can be evidence (see
// isEvidence), or never, a number above all steps, if there is none.
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

// isEvidence reports whether a call has a result, and one that can contain something new. The
// results of recommend_product and terminate only repeat the agent's own arguments.
func isEvidence(c *arena.Call) bool {
	return c.Name != "recommend_product" && c.Name != "terminate" && c.Result.Kind() != arena.Absent
}

// readResults reads the tool results of all steps before end. It records in the index x which of
// the words and figures of the thinking these results contain, and the products in them.
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
			x.lists = append(x.lists, list{step, int32(len(x.listed))})
			x.found = 0
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

// resultReader reads one tool result and records its words, figures and products in the index of
// the attempt.
type resultReader struct {
	index *factIndex
	step  int32
	// resultBit is the bit of this result in product.results; 0 after the first 64 results.
	resultBit uint64
	// echo is the arguments of a call whose result repeats their figures. These figures are not
	// recorded.
	echo string
}

// noLimits sets no limits on the JSON of results, since the length of a trace is limited already.
var noLimits = cursor.Limits{
	Depth:       math.MaxInt,
	StringBytes: math.MaxInt,
	Elements:    math.MaxInt,
}

// readValue records the JSON value at which v stands. kind tells what the value's key means (such
// as a price), and item is the product that the surrounding object describes. It skips a value
// nested deeper than maxDepth.
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

// readObject records the JSON object at which v stands. An object with an id is recorded as a
// product. The brand of any other object becomes the brand of outer, the surrounding object, unless
// outer has one. depth is the nesting of the object.
func (r *resultReader) readObject(
	v *cursor.Cursor,
	outer *product,
	depth int,
) {
	var p product
	found := r.index.found
	r.index.found = 0
	v.Object(func(key string) {
		r.readValue(v, parseKey(key), &p, depth)
	})
	if p.id == "" {
		outer.brand = cmp.Or(outer.brand, p.brand)
		r.index.found |= found
		return
	}
	r.addProduct(p)
	r.index.found = found
}

func (r *resultReader) addProduct(p product) {
	p.step = r.step
	p.results = r.resultBit
	p.values = r.index.found
	r.index.record(strings.ToLower(p.id), roleID, r.step)
	if p.brand != "" {
		first, _, _ := strings.Cut(p.brand, " ")
		r.readWords(first, roleBrand, roleBrand)
	}
	r.index.addProduct(p)
}
