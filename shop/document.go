package shop

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/shop/index"
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
	for _, v := range doc.Get("service").ForEach {
		d.flags |= serviceBits[v.String()]
	}
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

// The fields of an answer, sorted as the server sorts them.
var (
	foundFields  = []string{"price", "product_id", "service", "shop_id", "sold_count", "title"}
	viewedFields = []string{"attributes", "description", "product_id", "short_description", "sku_options"}
)

// ID is the product id of a document.
func (c *Catalog) ID(h index.Hit) string { return c.ids.get(int(h.Document)) }

func (c *Catalog) found(q Query, rules Rules) (python.Value, error) {
	hits, err := c.Find(q, rules)
	if err != nil {
		return python.Value{}, err
	}
	list := make([]python.Value, 0, len(hits))
	for _, h := range hits {
		item, err := c.fields(int(h.Document), foundFields)
		if err != nil {
			return python.Value{}, err
		}
		list = append(list, item)
	}
	return python.ListOf(list...), nil
}

// lookUp answers for each id of a comma list that is known, in its order.
func (c *Catalog) lookUp(ids string, answer func(int) (python.Value, error)) (python.Value, error) {
	list := []python.Value{}
	for id := range strings.SplitSeq(ids, ",") {
		i, ok := c.ids.find(id)
		if !ok {
			continue
		}
		item, err := answer(i)
		if err != nil {
			return python.Value{}, err
		}
		list = append(list, sorted(item))
	}
	return python.ListOf(list...), nil
}

// fields cuts a document to some fields; the server breaks where one is
// missing.
func (c *Catalog) fields(i int, names []string) (python.Value, error) {
	doc, err := c.product(i)
	if err != nil {
		return python.Value{}, fmt.Errorf("read product: %w: %w", errServer, err)
	}
	items := make([]python.Item, 0, len(names))
	for _, n := range names {
		v, ok := doc.Get(n)
		if !ok {
			return python.Value{}, fmt.Errorf("read product: no %s: %w", n, errServer)
		}
		items = append(items, python.Item{Key: n, Value: v})
	}
	return python.DictOf(items...), nil
}

// sorted gives v with the keys of every dict in order, as a client reads what
// the server wrote.
func sorted(v python.Value) python.Value {
	switch v.Kind {
	case python.Dict:
		items := slices.Clone(python.SortedItems(v.Dict))
		for i := range items {
			items[i].Value = sorted(items[i].Value)
		}
		return python.DictOf(items...)
	case python.List:
		return python.ListOf(slicesx.Map(v.List, sorted)...)
	default:
		return v
	}
}
