package shop

import (
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// checkMatch executes the tool check_product_match, which compares a product with required
// attributes. a has the arguments of the call. A requirement is met if its value is part of the
// attribute of its name, of all values joined, or of the descriptions. SKU options that are a dict
// never match, because the subnet's code iterates over their keys.
func (c *call) checkMatch(a python.Value) python.Value {
	id := argument(a, "product_id")
	reqs := argument(a, "requirements")
	info := c.get("/view_product_information", python.DictOf(item("product_ids", id)))
	if !info.Truth() {
		return productNotFound(reqs)
	}
	if info.Kind == python.List {
		info = info.List[0]
	}
	if reqs.Kind == python.Str {
		var ok bool
		reqs, ok = loads(reqs.Text)
		if !ok {
			return python.DictOf(
				item("matched", python.Boolean(false)),
				item("error", python.String("Invalid requirements JSON")),
			)
		}
	}
	p := newProductTexts(info)
	mustBeDict(reqs, "items")
	return p.report(reqs, argumentOr(info, "product_id", id))
}

// productNotFound returns the result of check_product_match for an unknown product: all
// requirements, the keys of a JSON object in a string, are mismatches. It raises Python's error if
// requirements is anything else.
func productNotFound(requirements python.Value) python.Value {
	if requirements.Kind != python.Str {
		python.Raise("the JSON object must be str, bytes or bytearray, not %s", requirements.TypeName())
	}
	reqs := python.Must(python.Loads(requirements.Text))
	mustBeDict(reqs, "keys")
	keys := slicesx.Map(reqs.Dict, func(it python.Item) python.Value {
		return python.String(it.Key)
	})
	return python.DictOf(
		item("matched", python.Boolean(false)), item("error", python.String("Product not found")),
		item("matches", python.ListOf()), item("mismatches", python.ListOf(keys...)),
	)
}

// productTexts are the parts of a product that are searched for required values. attributes is the
// dict of its attributes; values (all values of attributes and options) and description are in
// lower case.
type productTexts struct {
	attributes  python.Value
	values      string
	description string
}

func newProductTexts(info python.Value) productTexts {
	p := productTexts{attributes: argumentOr(info, "attributes", python.DictOf())}
	mustBeDict(p.attributes, "values")
	var values []string
	for _, it := range p.attributes.Dict {
		values = append(values, texts(it.Value)...)
	}
	for _, option := range argument(info, "sku_options").List {
		for _, it := range option.Dict {
			values = append(values, texts(it.Value)...)
		}
	}
	p.values = strings.Join(values, " ||| ")
	short := argumentOr(info, "short_description", python.String(""))
	long := argumentOr(info, "description", python.String(""))
	if short.Kind != python.Str {
		noOperator("+", short.TypeName(), "str")
	}
	if long.Kind != python.Str {
		python.Raise(`can only concatenate str (not "%s") to str`, long.TypeName())
	}
	p.description = python.Lower(short.Text + " " + long.Text)
	return p
}

func texts(v python.Value) []string {
	if v.Kind != python.List {
		return []string{python.Lower(v.String())}
	}
	return slicesx.Map(v.List, func(e python.Value) string {
		return python.Lower(e.String())
	})
}

// meets reports whether a product has the required value of the attribute named key. Without regard
// to case, the value must be a part of that attribute's text, of any other attribute or option, or
// of the description.
func (p productTexts) meets(key string, value python.Value) bool {
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

// maxAttributes is the maximum number of attributes in the summary of a product that
// check_product_match returns.
const maxAttributes = 10

// report returns the result of check_product_match: which of the requirements in the dict reqs the
// product meets and which not, and a summary of the product with this id.
func (p productTexts) report(reqs, id python.Value) python.Value {
	matches := []python.Value{}
	mismatches := []python.Value{}
	for _, it := range reqs.Dict {
		if p.meets(it.Key, it.Value) {
			matches = append(matches, python.String(it.Key))
		} else {
			mismatches = append(mismatches, python.String(it.Key))
		}
	}
	attributes := p.attributes.Dict[:min(maxAttributes, len(p.attributes.Dict))]
	return python.DictOf(
		item("matched", python.Boolean(len(mismatches) == 0)),
		item("matches", python.ListOf(matches...)),
		item("mismatches", python.ListOf(mismatches...)),
		item("product_summary", python.DictOf(
			item("product_id", id),
			item("attributes", python.DictOf(attributes...)),
		)),
	)
}

const findPath = "/find_product"

// findProduct executes the tool find_product, a search with the arguments a. If a search within one
// shop has no result, it searches again without the service filter if one was set, and then with
// only the first two words of the query, also without that filter.
func (c *call) findProduct(a python.Value) python.Value {
	q := argument(a, "q")
	params := c.findParams(a, q)
	result := c.getList(findPath, params)
	if !argument(a, "shop_id").Truth() {
		return result
	}
	if !result.Truth() && argument(a, "service").Truth() {
		result = c.getList(findPath, params.Without("service"))
	}
	if short := firstWords(q.Text, 2); !result.Truth() && short != q.Text {
		params = params.With("q", c.quoteQuery(python.String(short))).Without("service")
		return c.getList(findPath, params)
	}
	return result
}

func firstWords(s string, n int) string {
	words := python.Fields(s)
	return strings.Join(words[:min(n, len(words))], " ")
}

func (c *call) findParams(a, q python.Value) python.Value {
	items := []python.Item{
		item("q", c.quoteQuery(q)),
		item("page", argumentOr(a, "page", python.Integer(1))),
	}
	for _, name := range []string{"shop_id", "price", "sort", "service"} {
		items = append(items, item(name, argument(a, name)))
	}
	params := python.DictOf(items...)
	if isText(argument(params, "sort"), "default") {
		params = params.Without("sort")
	}
	service := withoutDefault(argument(params, "service"))
	if service.Kind == python.None {
		return params.Without("service")
	}
	return params.With("service", service)
}

func isText(v python.Value, s string) bool { return v.Kind == python.Str && v.Text == s }

// withoutDefault returns the value of the parameter service without the word "default", which means
// no filter. The value becomes None if it is that word. In a comma-separated text only the word is
// removed. It raises Python's error for other types that the subnet's code cannot handle.
func withoutDefault(service python.Value) python.Value {
	const word = "default"
	if isText(service, word) {
		return python.Value{}
	}
	if !service.Truth() {
		return service
	}
	hasWord := false
	switch service.Kind {
	case python.Str:
		hasWord = strings.Contains(service.Text, word)
	case python.List:
		hasWord = slices.ContainsFunc(service.List, func(v python.Value) bool {
			return isText(v, word)
		})
	case python.Dict:
		_, hasWord = service.Get(word)
	default:
		python.Raise("argument of type '%s' is not iterable", service.TypeName())
	}
	if !hasWord {
		return service
	}
	if service.Kind != python.Str {
		noAttribute(service, "split")
	}
	services := strings.Split(service.Text, ",")
	services = slices.DeleteFunc(services, func(s string) bool { return s == word })
	return python.String(strings.Join(services, ","))
}
