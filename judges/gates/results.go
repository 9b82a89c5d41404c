package gates

import (
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

// isEvidence tells whether a call brought something new. The answers of
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
			r := resultReader{shelf: s, step: step, text: string(call.Result)}
			if s.lists < 64 {
				r.list = 1 << s.lists
			}
			s.lists++
			if call.Name == "calculate_voucher" {
				r.echo = string(call.Arguments)
			}
			r.value("", nil, 0)
		}
	}
}

// resultReader walks the JSON of one result without building it.
type resultReader struct {
	shelf *shelf
	step  int32
	list  uint64
	text  string
	at    int
	// echo is the text whose figures the tool only repeats.
	echo string
}

// value reads the value at r.at, which stands under key in the object item.
func (r *resultReader) value(key string, item *product, depth int) {
	r.blank()
	if r.at >= len(r.text) {
		return
	}
	switch r.text[r.at] {
	case '{':
		r.object(item, depth+1)
	case '[':
		r.array(key, item, depth+1)
	case '"':
		r.str(key, item, r.raw(), depth)
	default:
		r.literal(key, item)
	}
}

func (r *resultReader) blank() {
	for r.at < len(r.text) && r.text[r.at] <= ' ' {
		r.at++
	}
}

// object reads one object. Where it has an id it is a product; what has none
// belongs to the object around it.
func (r *resultReader) object(outer *product, depth int) {
	r.at++
	var own product
	for r.at < len(r.text) && depth < maxDepth {
		r.blank()
		if r.at >= len(r.text) || r.text[r.at] == '}' {
			break
		}
		if r.text[r.at] != '"' {
			r.at++
			continue
		}
		key := r.raw()
		r.key(key)
		r.blank()
		r.at++
		r.value(key, &own, depth)
	}
	r.at++
	if own.id == "" && outer != nil {
		outer.brand = orElse(outer.brand, own.brand)
		return
	}
	r.put(own)
}

func (r *resultReader) array(key string, item *product, depth int) {
	r.at++
	for r.at < len(r.text) && depth < maxDepth {
		r.blank()
		if r.at >= len(r.text) || r.text[r.at] == ']' {
			break
		}
		if r.text[r.at] == ',' {
			r.at++
			continue
		}
		r.value(key, item, depth)
	}
	r.at++
}

// raw reads the string at r.at and returns it still escaped.
func (r *resultReader) raw() string {
	start := r.at + 1
	for i := start; i < len(r.text); {
		end := strings.IndexByte(r.text[i:], '"')
		if end < 0 {
			break
		}
		i += end
		back := i
		for back > start && r.text[back-1] == '\\' {
			back--
		}
		if (i-back)%2 == 0 {
			r.at = i + 1
			return r.text[start:i]
		}
		i++
	}
	r.at = len(r.text)
	return r.text[start:]
}

// key reads an object's key: the options of a product stand under their ids.
func (r *resultReader) key(key string) {
	if len(key) >= minID && digitsEnd(key, 0) == len(key) {
		r.shelf.see(key, roleID, r.step)
	}
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

// str reads one string value by what its key says of it.
func (r *resultReader) str(key string, item *product, raw string, depth int) {
	if strings.IndexByte(raw, '\\') >= 0 {
		raw = gjson.Parse(`"` + raw + `"`).String()
	}
	switch kindOf(key) {
	case keyID:
		if item != nil && item.id == "" {
			item.id = raw
		}
	case keyShop:
		r.shelf.see(raw, roleShop, r.step)
		if item != nil {
			item.shop = raw
		}
	case keyTitle:
		if item != nil && item.title == "" {
			item.title = clip(raw)
		}
		r.wordsOf(raw[:min(len(raw), maxText)], roleTitleStart, roleValue)
	case keyBrand:
		if item != nil && item.brand == "" {
			item.brand = raw
		}
	case keyPrice:
		r.figures(raw, true)
	case keySkip:
	default:
		r.plain(key, item, raw, depth)
	}
}

// plain reads a string of no known meaning: JSON within JSON, a short value,
// or, where the result is nothing but a text, all of its ids and figures.
func (r *resultReader) plain(key string, item *product, text string, depth int) {
	trimmed := strings.TrimSpace(text)
	switch {
	case depth < 4 && len(trimmed) > 1 && (trimmed[0] == '[' || trimmed[0] == '{') && gjson.Valid(trimmed):
		inner := *r
		inner.text, inner.at = trimmed, 0
		inner.value(key, item, depth+8)
	case key == "":
		r.freeText(text)
	case len(text) <= maxText:
		r.wordsOf(text, valueRole(key), valueRole(key))
		r.figures(text, false)
	}
}

// valueRole tells the values of attributes and options from prose about them.
func valueRole(key string) role {
	if key == "short_description" || key == "specification" {
		return roleText
	}
	return roleValue
}

// literal reads a number, or skips true, false and null.
func (r *resultReader) literal(key string, item *product) {
	start := r.at
	for r.at < len(r.text) && strings.IndexByte(",]} \n\t\r", r.text[r.at]) < 0 {
		r.at++
	}
	if start == r.at {
		r.at++
		return
	}
	text := r.text[start:r.at]
	if !isDigit(text[0]) {
		return
	}
	switch kindOf(key) {
	case keyID, keyShop:
		r.str(key, item, text, maxDepth)
	default:
		r.figures(text, kindOf(key) == keyPrice)
	}
}

// figures notes the first figures of a value.
func (r *resultReader) figures(text string, price bool) {
	for i, found := 0, 0; i < len(text) && found < 8; {
		if !isDigit(text[i]) {
			i++
			continue
		}
		n := readNumber(text, i)
		if r.echo == "" || !strings.Contains(r.echo, text[i:n.end]) {
			r.amount(&n, price)
		}
		i, found = n.end, found+1
	}
}

func (r *resultReader) amount(n *number, price bool) {
	for k := range n.count {
		if price {
			r.shelf.seePrice(n.readings[k], r.step)
		} else {
			r.shelf.seeAmount(n.readings[k], r.step)
		}
	}
}

// wordsOf notes the words of a text; the first has a role of its own.
func (r *resultReader) wordsOf(text string, first, rest role) {
	as := first
	for i := 0; i < len(text); {
		end := wordRun(text, i)
		if end == i {
			i++
			continue
		}
		r.shelf.seeWord(text[i:end], as, r.step)
		as, i = rest, end
	}
}

// freeText reads a result that is one text: long digit runs are ids, figures
// with decimals are prices, and lines' words are values.
func (r *resultReader) freeText(text string) {
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			i++
			continue
		}
		n := readNumber(text, i)
		if n.plain && n.digits >= minID {
			r.put(product{id: text[i:n.end]})
			r.shelf.see(text[i:n.end], roleShop, r.step)
		} else {
			r.amount(&n, true)
		}
		i = n.end
	}
	r.wordsOf(text, roleText, roleText)
}

type keyKind uint8

const (
	keyOther keyKind = iota
	keyID
	keyShop
	keyTitle
	keyBrand
	keyPrice
	keySkip
)

// kindOf says what a key of a result means, in the shapes of the shopping
// tools and in those of the later environment.
func kindOf(key string) keyKind {
	switch key {
	case "product_id", "productId", "item_id", "itemId", "id":
		return keyID
	case "shop_id", "shopId", "seller_id", "sellerId", "store_id":
		return keyShop
	case "title", "name", "product_name":
		return keyTitle
	case "brand", "brand_name":
		return keyBrand
	case "description", "main_image_url", "product_url", "image", "images", "url", "tool_call_id":
		return keySkip
	}
	if strings.Contains(key, "price") || strings.HasPrefix(key, "total") || strings.Contains(key, "amount") || key == "payable" {
		return keyPrice
	}
	return keyOther
}
