package shop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/shop/index"
)

// The fields of an answer, sorted as the server sorts them.
var (
	foundFields  = []string{"price", "product_id", "service", "shop_id", "sold_count", "title"}
	viewedFields = []string{"attributes", "description", "product_id", "short_description", "sku_options"}
)

// ID is the product id of a document.
func (c *Catalog) ID(h index.Hit) string { return c.ids.at(int(h.Document)) }

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
		i, ok := c.number(id)
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
		list := make([]python.Value, len(v.List))
		for i, e := range v.List {
			list[i] = sorted(e)
		}
		return python.ListOf(list...)
	default:
		return v
	}
}
