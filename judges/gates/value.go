package gates

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/cursor"
)

// str reads one string value by what its key says of it.
func (r *resultReader) str(kind keyKind, item *product, raw string, depth int) {
	if kind != keySkip && strings.IndexByte(raw, '\\') >= 0 {
		raw = gjson.Parse(`"` + raw + `"`).String()
	}
	switch kind {
	case keyID:
		item.id = cmp.Or(item.id, raw)
	case keyShop:
		r.shelf.see(raw, roleShop, r.step)
	case keyTitle:
		item.title = cmp.Or(item.title, clip(raw))
		r.wordsOf(raw[:min(len(raw), maxText)], roleTitleStart, roleValue)
	case keyBrand:
		item.brand = cmp.Or(item.brand, raw)
	case keyPrice:
		r.price(item, raw)
	case keySkip:
	case keyNone, keyOther, keyProse:
		r.plain(kind, item, raw, depth)
	}
}

// plain reads a string of no known meaning: JSON within JSON, a short value,
// or, where the result is nothing but a text, all of its ids and figures.
func (r *resultReader) plain(kind keyKind, item *product, text string, depth int) {
	trimmed := strings.TrimSpace(text)
	switch {
	case depth < 4 && len(trimmed) > 1 && (trimmed[0] == '[' || trimmed[0] == '{') && cursor.Valid(trimmed):
		r.value(cursor.New(trimmed, noLimits), kind, item, depth+8)
	case kind == keyNone:
		r.freeText(text)
	case len(text) <= maxText:
		r.wordsOf(text, kind.role(), kind.role())
		r.figures(text, false)
	}
}

// price notes the figures of a price; the first is the product's.
func (r *resultReader) price(item *product, text string) {
	if at := strings.IndexFunc(text, unicode.IsDigit); item.cents == 0 && at >= 0 && isDigit(text[at]) {
		item.cents = readNumber(text, at).readings[0]
	}
	r.figures(text, true)
}

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
		if isDigit(text[i]) && rest == roleValue { // prose holds any figure before any word
			r.shelf.seeWord(text[i:measureEnd(text, end)], rest, r.step)
		}
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
	// keyNone is that of a value that stands under no key.
	keyNone keyKind = iota
	keyOther
	// keyProse is that of prose about the values of attributes and options.
	keyProse
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

// role is that of the words of a value under such a key.
func (k keyKind) role() role {
	if k == keyProse {
		return roleText
	}
	return roleValue
}
