package gates

import (
	"cmp"
	"math"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

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

// readString records one JSON string of a tool result. kind tells what the string's key means, such
// as a brand or a price, and item is the product that the surrounding object describes. raw is the
// string as the JSON has it, with its escapes but without quotation marks.
func (r *resultReader) readString(
	kind keyKind,
	item *product,
	raw string,
	depth int,
) {
	if kind != keySkip && strings.IndexByte(raw, '\\') >= 0 {
		raw = gjson.Parse(`"` + raw + `"`).String()
	}
	switch kind {
	case keyID:
		item.id = cmp.Or(item.id, raw)
	case keyShop:
		r.index.record(raw, roleShop, r.step)
	case keyTitle:
		item.title = cmp.Or(item.title, clip(raw))
		r.readWords(raw[:min(len(raw), maxText)], roleTitleStart, roleValue)
	case keyBrand:
		item.brand = cmp.Or(item.brand, raw)
	case keyPrice:
		r.readPrice(item, raw)
	case keySkip:
	case keyNone, keyOther, keyProse:
		r.readPlain(kind, item, raw, depth)
	}
}

// readPlain records a string under a key without a special meaning. A string that is JSON, unless
// it is nested deeply, is read as JSON. A string without any key is a result by itself: all its
// words, ids and figures are recorded. The words and figures of other strings are recorded if the
// string has at most maxText bytes.
func (r *resultReader) readPlain(
	kind keyKind,
	item *product,
	text string,
	depth int,
) {
	if depth < 4 && isJSON(strings.TrimSpace(text)) {
		r.readValue(
			cursor.New(strings.TrimSpace(text), noLimits),
			kind,
			item,
			depth+8,
		)
		return
	}
	if kind == keyNone {
		r.readText(text)
		return
	}
	if len(text) <= maxText {
		r.readWords(text, kind.role(), kind.role())
		r.readFigures(text, false)
	}
}

// isJSON reports whether a text without blanks around it is a JSON array or object.
func isJSON(text string) bool {
	return len(text) > 1 && (text[0] == '[' || text[0] == '{') && cursor.Valid(text)
}

// readPrice records the figures of a price in a tool result, such as "PHP 90 - 120". If item has no
// price yet, the first figure becomes its price, in hundredths.
func (r *resultReader) readPrice(item *product, text string) {
	i := strings.IndexFunc(text, unicode.IsDigit)
	if item.cents == 0 && i >= 0 && isDigit(text[i]) {
		item.cents = readNumber(text, i).readings[0]
	}
	r.readFigures(text, true)
}

// maxFigures is the maximum number of figures that are read from one value of a tool result.
const maxFigures = 8

func (r *resultReader) readFigures(text string, price bool) {
	count := 0
	for i := 0; i < len(text) && count < maxFigures; {
		if !isDigit(text[i]) {
			i++
			continue
		}
		n := readNumber(text, i)
		if r.echo == "" || !strings.Contains(r.echo, text[i:n.end]) {
			r.recordNumber(&n, price)
		}
		i = n.end
		count++
	}
}

func (r *resultReader) recordNumber(n *number, price bool) {
	for k := range n.count {
		if price {
			r.index.recordPrice(n.readings[k], r.step)
		} else {
			r.index.recordExact(n.readings[k], r.step)
		}
	}
}

// readWords records the words of a text, the first one in role first and the others in role next.
// If next is roleValue, it also records figures with the word after them, such as "28 hours".
func (r *resultReader) readWords(text string, first, next role) {
	current := first
	for i := 0; i < len(text); {
		end := wordEnd(text, i)
		if end == i {
			i++
			continue
		}
		r.index.recordWord(text[i:end], current, r.step)
		if isDigit(text[i]) && next == roleValue { // any figure may precede any word in prose
			r.index.recordWord(text[i:measureEnd(text, end)], next, r.step)
		}
		current = next
		i = end
	}
}

// readText records a tool result that is plain text and not JSON. Numbers of at least minID digits
// are recorded as ids of products and shops, other figures as prices, and all words as words of
// prose.
func (r *resultReader) readText(text string) {
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			i++
			continue
		}
		n := readNumber(text, i)
		if n.plain && n.digits >= minID {
			r.addProduct(product{id: text[i:n.end]})
			r.index.record(text[i:n.end], roleShop, r.step)
		} else {
			r.recordNumber(&n, true)
		}
		i = n.end
	}
	r.readWords(text, roleText, roleText)
}

// keyKind is what a key of a tool result means, such as an id or a price.
type keyKind uint8

const (
	// keyNone is the kind of key of a value that has no key, such as a tool result that is one
	// string.
	keyNone keyKind = iota
	keyOther
	// keyProse is the kind of a JSON key under which a text describes attributes and options.
	keyProse
	keyID
	keyShop
	keyTitle
	keyBrand
	keyPrice
	// keySkip is the kind of a JSON key whose strings are ignored, such as the address of an image.
	keySkip
)

// parseKey returns what a JSON key of a tool result means, such as an id for "product_id". It knows
// the keys of the subnet's shopping tools and of its later environment.
func parseKey(key string) keyKind {
	switch key {
	case "":
		return keyNone
	case "product_id", "productId", "item_id", "itemId", "id":
		return keyID
	case "shop_id", "shopId", "seller_id", "sellerId", "store_id":
		return keyShop
	case "title", "name", "product_name":
		return keyTitle
	case "brand", "brand_name":
		return keyBrand
	case "short_description", "specification":
		return keyProse
	case "description", "main_image_url", "product_url", "image", "images", "url", "tool_call_id":
		return keySkip
	}
	if strings.Contains(key, "price") || strings.HasPrefix(key, "total") || strings.Contains(key, "amount") || key == "payable" {
		return keyPrice
	}
	return keyOther
}

// role returns how the words of a value under a key of kind k are recorded: as words of prose for
// keyProse, and as attribute values for any other kind.
func (k keyKind) role() role {
	if k == keyProse {
		return roleText
	}
	return roleValue
}
