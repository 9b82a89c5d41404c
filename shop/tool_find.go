package shop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/python"
)

const findPath = "/find_product"

// findProduct searches, and within a shop searches again with less where
// nothing was found: without the service, then with the first two words.
func (c *call) findProduct(a python.Value) (python.Value, error) {
	q := argument(a, "q", python.Value{})
	params, err := c.findParams(a, q)
	if err != nil {
		return python.Value{}, err
	}
	result, err := c.found(findPath, params)
	if err != nil || !argument(a, "shop_id", python.Value{}).Truth() {
		return result, err
	}
	if !result.Truth() && argument(a, "service", python.Value{}).Truth() {
		if result, err = c.found(findPath, params.Without("service")); err != nil {
			return result, err
		}
	}
	if short := firstWords(q.Text, 2); !result.Truth() && short != q.Text {
		shortQ, err := c.quoted(python.String(short))
		if err != nil {
			return python.Value{}, err
		}
		return c.found(findPath, params.With("q", shortQ).Without("service"))
	}
	return result, nil
}

func firstWords(s string, n int) string {
	words := python.Fields(s)
	return strings.Join(words[:min(n, len(words))], " ")
}

func (c *call) findParams(a, q python.Value) (python.Value, error) {
	quoted, err := c.quoted(q)
	if err != nil {
		return python.Value{}, err
	}
	items := []python.Item{item("q", quoted), item("page", argument(a, "page", python.Value{Kind: python.Int, Text: "1"}))}
	for _, name := range []string{"shop_id", "price", "sort", "service"} {
		items = append(items, item(name, argument(a, name, python.Value{})))
	}
	params := python.DictOf(items...)
	if isText(argument(params, "sort", python.Value{}), "default") {
		params = params.Without("sort")
	}
	service, err := withoutDefault(argument(params, "service", python.Value{}))
	if err != nil {
		return python.Value{}, err
	}
	if service.Kind == python.None {
		return params.Without("service"), nil
	}
	return params.With("service", service), nil
}

func isText(v python.Value, s string) bool { return v.Kind == python.Str && v.Text == s }

// withoutDefault drops the word "default", alone or in the comma list.
func withoutDefault(service python.Value) (python.Value, error) {
	const word = "default"
	if isText(service, word) {
		return python.Value{}, nil
	}
	if !service.Truth() {
		return service, nil
	}
	holds := false
	switch service.Kind {
	case python.Str:
		holds = strings.Contains(service.Text, word)
	case python.List:
		holds = slices.ContainsFunc(service.List, func(v python.Value) bool { return isText(v, word) })
	case python.Dict:
		_, holds = service.Get(word)
	default:
		return service, fmt.Errorf("argument of type '%s' is not iterable", service.TypeName())
	}
	if !holds {
		return service, nil
	}
	if service.Kind != python.Str {
		return service, noAttribute(service, "split")
	}
	kept := slices.DeleteFunc(strings.Split(service.Text, ","), func(s string) bool { return s == word })
	return python.String(strings.Join(kept, ",")), nil
}
