package gates

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/cursor"
)

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
