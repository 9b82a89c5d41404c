package shop

import (
	"errors"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/cursor"
)

type document struct {
	id       string
	contents string
	price    float64
	sold     int64
	// shopID is empty where the document has none, or none that is a string:
	// no filter finds it then.
	shopID string
	flags  byte
}

// The filterable services, one bit each. noSales marks a document without a
// numeric sold_count, which cannot be sorted by it.
const (
	official byte = 1 << iota
	freeShipping
	cod
	flashSale
	noSales
)

var serviceBits = map[string]byte{"official": official, "freeShipping": freeShipping, "COD": cod, "flashsale": flashSale}

// identify reads the id of a catalogue line, or says why the line is no
// product.
func identify(line []byte) (id string, err error) {
	text := string(line)
	if !cursor.Valid(text) {
		return "", errors.New("not valid JSON")
	}
	doc := gjson.Parse(text)
	if !doc.IsObject() {
		return "", errors.New("not a JSON object")
	}
	v := doc.Get("product_id")
	if v.Type != gjson.String && v.Type != gjson.Number || v.String() == "" {
		return "", errors.New("no product_id")
	}
	if doc.Get("price").Type != gjson.Number {
		return "", errors.New("no numeric price")
	}
	return strings.Clone(v.String()), nil // not a part of the whole line
}

func readDocument(line []byte) document {
	doc := gjson.ParseBytes(line)
	d := document{id: doc.Get("product_id").String(), price: doc.Get("price").Float(), flags: noSales}
	if sold := doc.Get("sold_count"); sold.Type == gjson.Number {
		d.sold, d.flags = sold.Int(), 0
	}
	if shop := doc.Get("shop_id"); shop.Type == gjson.String {
		d.shopID = shop.String()
	}
	doc.Get("service").ForEach(func(_, v gjson.Result) bool {
		d.flags |= serviceBits[v.String()]
		return true
	})
	d.contents = doc.Get("title").String() + "\n" + distinctValues(doc.Get("sku_options"), 2) + "\n" + distinctValues(doc.Get("attributes"), 2)
	return d
}

// distinctValues joins the different values found at most depth levels below
// v. Keys are not searchable; a value counts once however often it stands.
func distinctValues(v gjson.Result, depth int) string {
	seen := map[string]bool{}
	var b strings.Builder
	var walk func(gjson.Result, int)
	walk = func(v gjson.Result, depth int) {
		if depth > 0 && (v.IsObject() || v.IsArray()) {
			v.ForEach(func(_, e gjson.Result) bool { walk(e, depth-1); return true })
			return
		}
		if s := v.String(); s != "" && !seen[s] {
			seen[s] = true
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(s)
		}
	}
	walk(v, depth)
	return b.String()
}
