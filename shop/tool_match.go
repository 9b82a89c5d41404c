package shop

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/python"
)

// checkMatch holds a product against required attributes: a value counts as
// met if it is part of that attribute, of all attribute values joined, or of
// the descriptions. SKU options never count, as the subnet's code walks their
// keys where it means their values.
func (c *call) checkMatch(a python.Value) (python.Value, error) {
	id, requirements := argument(a, "product_id", python.Value{}), argument(a, "requirements", python.Value{})
	info, err := c.get("/view_product_information", python.DictOf(item("product_ids", id)))
	if err != nil {
		return python.Value{}, err
	}
	if !info.Truth() {
		return notFound(requirements)
	}
	if info.Kind == python.List {
		info = info.List[0]
	}
	reqs := requirements
	if requirements.Kind == python.Str {
		var syntax *python.DecodeError
		if reqs, err = python.Loads(requirements.Text); errors.As(err, &syntax) {
			return python.DictOf(item("matched", python.Boolean(false)), item("error", python.String("Invalid requirements JSON"))), nil
		} else if err != nil {
			return python.Value{}, err
		}
	}
	p, err := readMatchable(info)
	if err != nil {
		return python.Value{}, err
	}
	if reqs.Kind != python.Dict {
		return python.Value{}, noAttribute(reqs, "items")
	}
	return p.report(reqs, argument(info, "product_id", id)), nil
}

// notFound is the answer for an unknown product. It reads the requirements
// without a net: what cannot be read raises.
func notFound(requirements python.Value) (python.Value, error) {
	if requirements.Kind != python.Str {
		return python.Value{}, fmt.Errorf("the JSON object must be str, bytes or bytearray, not %s", requirements.TypeName())
	}
	reqs, err := python.Loads(requirements.Text)
	if err != nil {
		return python.Value{}, err
	}
	if reqs.Kind != python.Dict {
		return python.Value{}, noAttribute(reqs, "keys")
	}
	keys := make([]python.Value, len(reqs.Dict))
	for i, it := range reqs.Dict {
		keys[i] = python.String(it.Key)
	}
	return python.DictOf(
		item("matched", python.Boolean(false)), item("error", python.String("Product not found")),
		item("matches", python.ListOf()), item("mismatches", python.ListOf(keys...)),
	), nil
}

// matchable are the texts that a requirement is looked for in, lower case.
type matchable struct {
	attributes  python.Value
	values      string
	description string
}

func readMatchable(info python.Value) (matchable, error) {
	p := matchable{attributes: argument(info, "attributes", python.DictOf())}
	if p.attributes.Kind != python.Dict {
		return p, noAttribute(p.attributes, "values")
	}
	var values []string
	for _, it := range p.attributes.Dict {
		values = append(values, texts(it.Value)...)
	}
	for _, option := range argument(info, "sku_options", python.ListOf()).List {
		for _, it := range option.Dict {
			values = append(values, texts(it.Value)...)
		}
	}
	p.values = strings.Join(values, " ||| ")
	short, long := argument(info, "short_description", python.String("")), argument(info, "description", python.String(""))
	if short.Kind != python.Str {
		return p, noOperator("+", short.TypeName(), "str")
	}
	if long.Kind != python.Str {
		return p, fmt.Errorf(`can only concatenate str (not "%s") to str`, long.TypeName())
	}
	p.description = python.Lower(short.Text + " " + long.Text)
	return p, nil
}

func texts(v python.Value) []string {
	if v.Kind != python.List {
		return []string{python.Lower(v.String())}
	}
	parts := make([]string, len(v.List))
	for i, e := range v.List {
		parts[i] = python.Lower(e.String())
	}
	return parts
}

func (p matchable) meets(key string, value python.Value) bool {
	want := python.Lower(value.String())
	for _, it := range p.attributes.Dict {
		if python.Lower(it.Key) == python.Lower(key) {
			if strings.Contains(strings.Join(texts(it.Value), " "), want) {
				return true
			}
			break
		}
	}
	return strings.Contains(p.values, want) || strings.Contains(p.description, want)
}

func (p matchable) report(reqs, id python.Value) python.Value {
	const shown = 10
	matches, mismatches := []python.Value{}, []python.Value{}
	for _, it := range reqs.Dict {
		if p.meets(it.Key, it.Value) {
			matches = append(matches, python.String(it.Key))
		} else {
			mismatches = append(mismatches, python.String(it.Key))
		}
	}
	attributes := p.attributes.Dict[:min(shown, len(p.attributes.Dict))]
	return python.DictOf(
		item("matched", python.Boolean(len(mismatches) == 0)),
		item("matches", python.ListOf(matches...)), item("mismatches", python.ListOf(mismatches...)),
		item("product_summary", python.DictOf(item("product_id", id), item("attributes", python.DictOf(attributes...)))),
	)
}

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
