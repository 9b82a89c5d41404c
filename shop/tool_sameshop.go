package shop

import (
	"cmp"
	"fmt"

	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// sameShop looks for one shop that sells something for each of several
// searches: the shops of the first search's first page, in rank order.
func (c *call) sameShop(a python.Value) python.Value {
	specs := argument(a, "product_queries")
	if specs.Kind == python.Str {
		var valid bool
		if specs, valid = loads(specs.Text); !valid {
			return shopNotFound("Invalid JSON for product_queries")
		}
	}
	if !specs.Truth() || specs.Kind != python.List {
		return shopNotFound("product_queries must be a non-empty JSON array")
	}
	first := c.firstResults(specs.List[0])
	if !first.Truth() {
		return shopNotFound("No results for first product: "+argument(specs.List[0], "q").String()).With("shops_tried", python.Integer(0))
	}
	shops := candidateShops(first)
	for i, candidate := range shops {
		if products := c.sellsAll(candidate, specs.List[1:]); products != nil {
			return shopFound(candidate, products, i+1)
		}
	}
	message := fmt.Sprintf("Could not find all %d products in any single shop", len(specs.List))
	return shopNotFound(message).With("shops_tried", python.Integer(len(shops)))
}

func shopNotFound(message string) python.Value {
	return python.DictOf(item("found", python.Boolean(false)), item("error", python.String(message)))
}

func shopFound(shop python.Value, products []python.Value, tried int) python.Value {
	list := slicesx.Map(products, func(p python.Value) python.Value {
		return python.DictOf(
			item("product_id", argument(p, "product_id")), item("title", otherwise(p, "title", python.String(""))),
			item("price", argument(p, "price")), item("shop_id", argument(p, "shop_id")),
		)
	})
	return python.DictOf(
		item("found", python.Boolean(true)), item("shop_id", python.String(otherwise(shop, "shop_id", python.String("")).String())),
		item("products", python.ListOf(list...)), item("shops_tried", python.Integer(tried)),
	)
}

func (c *call) firstResults(spec python.Value) python.Value {
	params := c.specParams(spec)
	for _, name := range []string{"price", "service"} {
		if v := argument(spec, name); v.Truth() {
			params = params.With(name, v)
		}
	}
	return c.get(findPath, params)
}

func (c *call) specParams(spec python.Value) python.Value {
	mustBeDict(spec, "get")
	return python.DictOf(item("q", c.quoted(otherwise(spec, "q", python.String("")))), item("page", python.Integer(1)))
}

func candidateShops(results python.Value) []python.Value {
	seen := map[string]bool{"": true}
	var shops []python.Value
	for _, p := range results.List {
		id := otherwise(p, "shop_id", python.String("")).String()
		if !seen[id] {
			seen[id] = true
			shops = append(shops, p)
		}
	}
	return shops
}

// sellsAll finds a product of the candidate's shop for each further spec, or
// gives nil.
func (c *call) sellsAll(candidate python.Value, specs []python.Value) []python.Value {
	products := []python.Value{candidate}
	shop := python.String(argument(candidate, "shop_id").String())
	for _, spec := range specs {
		results := c.searchShop(spec, shop)
		if !results.Truth() {
			return nil
		}
		products = append(products, results.List[0])
	}
	return products
}

// searchShop searches within a shop: twice as asked, which the subnet's code
// does because it means to drop a filter that is not there, then with two
// words, then with one.
func (c *call) searchShop(spec, shop python.Value) python.Value {
	params := c.specParams(spec).With("shop_id", shop)
	if price := argument(spec, "price"); price.Truth() {
		params = params.With("price", price)
	}
	q := argument(spec, "q").Text
	tries := []string{q, q}
	short, single := firstWords(q, 2), cmp.Or(firstWords(q, 1), q)
	if short != q {
		tries = append(tries, short)
	}
	if single != short {
		tries = append(tries, single)
	}
	for _, try := range tries {
		if results := c.found(findPath, params.With("q", c.quoted(python.String(try)))); results.Truth() {
			return results
		}
	}
	return python.ListOf()
}
