package shop

import (
	"cmp"
	"fmt"

	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// sameShop executes the tool find_products_in_same_shop, which finds a shop that has a product for
// each of several searches. a has the arguments of the call. It tries the shops on the first page
// of the first search in rank order.
func (c *call) sameShop(a python.Value) python.Value {
	specs := argument(a, "product_queries")
	if specs.Kind == python.Str {
		var ok bool
		specs, ok = loads(specs.Text)
		if !ok {
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
		if products := c.productsOfShop(candidate, specs.List[1:]); products != nil {
			return shopFound(candidate, products, i+1)
		}
	}
	message := fmt.Sprintf("Could not find all %d products in any single shop", len(specs.List))
	return shopNotFound(message).With("shops_tried", python.Integer(len(shops)))
}

func shopNotFound(message string) python.Value {
	return python.DictOf(item("found", python.Boolean(false)), item("error", python.String(message)))
}

func shopFound(
	shop python.Value,
	products []python.Value,
	tried int,
) python.Value {
	list := slicesx.Map(products, func(p python.Value) python.Value {
		return python.DictOf(
			item("product_id", argument(p, "product_id")),
			item("title", argumentOr(p, "title", python.String(""))),
			item("price", argument(p, "price")),
			item("shop_id", argument(p, "shop_id")),
		)
	})
	shopID := argumentOr(shop, "shop_id", python.String("")).String()
	return python.DictOf(
		item("found", python.Boolean(true)),
		item("shop_id", python.String(shopID)),
		item("products", python.ListOf(list...)),
		item("shops_tried", python.Integer(tried)),
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
	q := argumentOr(spec, "q", python.String(""))
	return python.DictOf(item("q", c.quoteQuery(q)), item("page", python.Integer(1)))
}

// candidateShops returns the first product of each shop in the results of a search. It skips
// products without a shop.
func candidateShops(results python.Value) []python.Value {
	seen := map[string]bool{"": true}
	var shops []python.Value
	for _, p := range results.List {
		id := argumentOr(p, "shop_id", python.String("")).String()
		if !seen[id] {
			seen[id] = true
			shops = append(shops, p)
		}
	}
	return shops
}

// productsOfShop returns the product candidate and, for each further search in specs, the first
// product that the search finds in the shop of candidate. It returns nil if a search finds none.
func (c *call) productsOfShop(candidate python.Value, specs []python.Value) []python.Value {
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

// searchShop searches within a shop until a search has results, and returns them, or an empty list:
// twice with the query of spec, then with its first two words, then with its first word. The second
// search repeats the first because the subnet's code removes a filter there that the query does not
// have.
func (c *call) searchShop(spec, shop python.Value) python.Value {
	params := c.specParams(spec).With("shop_id", shop)
	if price := argument(spec, "price"); price.Truth() {
		params = params.With("price", price)
	}
	q := argument(spec, "q").Text
	queries := []string{q, q}
	short := firstWords(q, 2)
	single := cmp.Or(firstWords(q, 1), q)
	if short != q {
		queries = append(queries, short)
	}
	if single != short {
		queries = append(queries, single)
	}
	for _, query := range queries {
		results := c.getList(findPath, params.With("q", c.quoteQuery(python.String(query))))
		if results.Truth() {
			return results
		}
	}
	return python.ListOf()
}
