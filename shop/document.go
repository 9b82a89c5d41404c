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

// document has the fields of a product that the search index stores.
type document struct {
	id       string
	contents string
	price    float64
	sold     int64
	// shopID is the product's shop_id if that is a string, otherwise "". A filter by shop never
	// matches a product with an empty shopID.
	shopID string
	flags  byte
}

// The bits of document.flags. Four are the services by which a search can filter. noSales marks
// a product without a numeric sold_count, which cannot be sorted by sales.
const (
	official byte = 1 << iota
	freeShipping
	cod
	flashSale
	noSales
)

var serviceBits = map[string]byte{"official": official, "freeShipping": freeShipping, "COD": cod, "flashsale": flashSale}

// parseID returns the product id of a catalogue line. It returns an error if the line is not a
// product: invalid JSON, no object, no id, or no numeric price.
func parseID(line []byte) (string, error) {
	text := string(line)
	if !cursor.Valid(text) {
		return "", errors.New("not valid JSON")
	}
	doc := gjson.Parse(text)
	if !doc.IsObject() {
		return "", errors.New("not a JSON object")
	}
	v := doc.Get("product_id")
	isID := v.Type == gjson.String || v.Type == gjson.Number
	if !isID || v.String() == "" {
		return "", errors.New("no product_id")
	}
	if doc.Get("price").Type != gjson.Number {
		return "", errors.New("no numeric price")
	}
	return strings.Clone(v.String()), nil // does not keep the line in memory
}

func readDocument(line []byte) document {
	doc := gjson.ParseBytes(line)
	d := document{
		id:    doc.Get("product_id").String(),
		price: doc.Get("price").Float(),
		flags: noSales,
	}
	if sold := doc.Get("sold_count"); sold.Type == gjson.Number {
		d.sold, d.flags = sold.Int(), 0
	}
	if shop := doc.Get("shop_id"); shop.Type == gjson.String {
		d.shopID = shop.String()
	}
	for _, v := range doc.Get("service").ForEach {
		d.flags |= serviceBits[v.String()]
	}
	options := distinctValues(doc.Get("sku_options"))
	attributes := distinctValues(doc.Get("attributes"))
	d.contents = doc.Get("title").String() + "\n" + options + "\n" + attributes
	return d
}

// distinctValues returns the distinct values in v as text, joined by spaces and without keys. An
// object or array nested deeper than two levels is one value, its JSON text.
func distinctValues(v gjson.Result) string {
	seen := map[string]bool{}
	var b strings.Builder
	var walk func(gjson.Result, int)
	walk = func(v gjson.Result, depth int) {
		if depth > 0 && (v.IsObject() || v.IsArray()) {
			for _, child := range v.ForEach {
				walk(child, depth-1)
			}
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
	walk(v, 2)
	return b.String()
}

// The fields of a product in the responses of the endpoints /find_product and
// /view_product_information, in the order in which the server writes them.
var (
	searchFields = []string{"price", "product_id", "service", "shop_id", "sold_count", "title"}
	viewFields   = []string{"attributes", "description", "product_id", "short_description", "sku_options"}
)

// ID returns the product id of a search hit.
func (c *Catalog) ID(h index.Hit) string { return c.ids.get(int(h.Document)) }

// searchResponse returns what the subnet's server responds to a search: a list of products with the
// fields searchFields. It returns an error if that server would fail on the query.
func (c *Catalog) searchResponse(q Query, rules Rules) (python.Value, error) {
	hits, err := c.Find(q, rules)
	if err != nil {
		return python.Value{}, err
	}
	list := make([]python.Value, 0, len(hits))
	for _, h := range hits {
		item, err := c.fields(int(h.Document), searchFields)
		if err != nil {
			return python.Value{}, err
		}
		list = append(list, item)
	}
	return python.ListOf(list...), nil
}

// lookUp calls read with the document number of each product id in ids, which are separated by
// commas. It returns the list of the results, with sorted keys. Unknown ids are skipped; the first
// error of read is returned.
func (c *Catalog) lookUp(ids string, read func(i int) (python.Value, error)) (python.Value, error) {
	list := []python.Value{}
	for id := range strings.SplitSeq(ids, ",") {
		i, ok := c.ids.find(id)
		if !ok {
			continue
		}
		item, err := read(i)
		if err != nil {
			return python.Value{}, err
		}
		list = append(list, withSortedKeys(item))
	}
	return python.ListOf(list...), nil
}

// fields returns the named fields of product i as a Python dict. A missing field is an error, to
// which the subnet's server responds with status 500.
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

// withSortedKeys returns a copy of v in which the keys of every dict are sorted, as in the
// server's responses.
func withSortedKeys(v python.Value) python.Value {
	switch v.Kind {
	case python.Dict:
		items := slices.Clone(python.SortedItems(v.Dict))
		for i := range items {
			items[i].Value = withSortedKeys(items[i].Value)
		}
		return python.DictOf(items...)
	case python.List:
		return python.ListOf(slicesx.Map(v.List, withSortedKeys)...)
	default:
		return v
	}
}
