package shop

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/trajectory-arena/arena/internal/python"
)

// sameShop looks for one shop that sells something for each of several
// searches: the shops of the first search's first page, in rank order.
func (c *call) sameShop(a python.Value) (python.Value, error) {
	specs := argument(a, "product_queries", python.Value{})
	if specs.Kind == python.Str {
		var err error
		var syntax *python.DecodeError
		if specs, err = python.Loads(specs.Text); errors.As(err, &syntax) {
			return shopNotFound("Invalid JSON for product_queries"), nil
		} else if err != nil {
			return python.Value{}, err
		}
	}
	if !specs.Truth() || specs.Kind != python.List {
		return shopNotFound("product_queries must be a non-empty JSON array"), nil
	}
	first, err := c.firstResults(specs.List[0])
	if err != nil {
		return python.Value{}, err
	}
	if !first.Truth() {
		q, _ := specs.List[0].Get("q")
		return shopNotFound("No results for first product: "+q.String()).With("shops_tried", count(0)), nil
	}
	shops := candidateShops(first)
	for i, candidate := range shops {
		products, err := c.sellsAll(candidate, specs.List[1:])
		if err != nil {
			return python.Value{}, err
		}
		if products != nil {
			return shopFound(candidate, products, i+1), nil
		}
	}
	message := fmt.Sprintf("Could not find all %d products in any single shop", len(specs.List))
	return shopNotFound(message).With("shops_tried", count(len(shops))), nil
}

func count(n int) python.Value { return python.Value{Kind: python.Int, Text: fmt.Sprint(n)} }

func shopNotFound(message string) python.Value {
	return python.DictOf(item("found", python.Boolean(false)), item("error", python.String(message)))
}

func shopFound(shop python.Value, products []python.Value, tried int) python.Value {
	list := make([]python.Value, len(products))
	for i, p := range products {
		list[i] = python.DictOf(
			item("product_id", argument(p, "product_id", python.Value{})), item("title", argument(p, "title", python.String(""))),
			item("price", argument(p, "price", python.Value{})), item("shop_id", argument(p, "shop_id", python.Value{})),
		)
	}
	return python.DictOf(
		item("found", python.Boolean(true)), item("shop_id", python.String(argument(shop, "shop_id", python.String("")).String())),
		item("products", python.ListOf(list...)), item("shops_tried", count(tried)),
	)
}

func (c *call) firstResults(spec python.Value) (python.Value, error) {
	params, err := c.specParams(spec)
	if err != nil {
		return python.Value{}, err
	}
	for _, name := range []string{"price", "service"} {
		if v := argument(spec, name, python.Value{}); v.Truth() {
			params = params.With(name, v)
		}
	}
	return c.get(findPath, params)
}

func (c *call) specParams(spec python.Value) (python.Value, error) {
	if spec.Kind != python.Dict {
		return python.Value{}, noAttribute(spec, "get")
	}
	q, err := c.quoted(argument(spec, "q", python.String("")))
	if err != nil {
		return python.Value{}, err
	}
	return python.DictOf(item("q", q), item("page", count(1))), nil
}

func candidateShops(results python.Value) []python.Value {
	seen := map[string]bool{"": true}
	var shops []python.Value
	for _, p := range results.List {
		id := argument(p, "shop_id", python.String("")).String()
		if !seen[id] {
			seen[id] = true
			shops = append(shops, p)
		}
	}
	return shops
}

// sellsAll finds a product of the candidate's shop for each further spec, or
// gives nil.
func (c *call) sellsAll(candidate python.Value, specs []python.Value) ([]python.Value, error) {
	products := []python.Value{candidate}
	shop := python.String(argument(candidate, "shop_id", python.Value{}).String())
	for _, spec := range specs {
		results, err := c.searchShop(spec, shop)
		if err != nil || !results.Truth() {
			return nil, err
		}
		products = append(products, results.List[0])
	}
	return products, nil
}

// searchShop searches within a shop: twice as asked, which the subnet's code
// does because it means to drop a filter that is not there, then with two
// words, then with one.
func (c *call) searchShop(spec, shop python.Value) (python.Value, error) {
	params, err := c.specParams(spec)
	if err != nil {
		return python.Value{}, err
	}
	params = params.With("shop_id", shop)
	if price := argument(spec, "price", python.Value{}); price.Truth() {
		params = params.With("price", price)
	}
	q := argument(spec, "q", python.String("")).Text
	tries := []string{q, q}
	short, single := firstWords(q, 2), firstWords(q, 1)
	single = cmp.Or(single, q)
	if short != q {
		tries = append(tries, short)
	}
	if single != short {
		tries = append(tries, single)
	}
	for _, try := range tries {
		quoted, err := c.quoted(python.String(try))
		if err != nil {
			return python.Value{}, err
		}
		results, err := c.found(findPath, params.With("q", quoted))
		if err != nil || results.Truth() {
			return results, err
		}
	}
	return python.ListOf(), nil
}
