package shop

import (
	"context"
	"crypto/md5" //nolint:gosec // the subnet's own ids; nothing is secured by them
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Tools executes tool calls as the subnet's agent template does. It is safe for concurrent
// use.
type Tools struct {
	server Server
	rules  Rules
	names  []string
}

// NewTools returns the tools with these names.
func NewTools(server Server, rules Rules, names []string) *Tools {
	return &Tools{
		server: server,
		rules:  rules,
		names:  slices.Sorted(slices.Values(names)),
	}
}

// Answer is the result of one tool call.
type Answer struct {
	// ID is the call's id, derived from its name and arguments.
	ID string
	// Result is what the tool returned, or the text of its error.
	Result python.Value
	// Raised reports whether Result is an error.
	Raised bool
	// Requests are the requests that the call made, in order.
	Requests []Request
}

// Request is one request to the search server.
type Request struct {
	Path string
	// Params are the parameters that the tool passed, without those that are None.
	Params python.Value
	// Status is 0 if there was no response.
	Status   int
	Response python.Value
}

// Unanswered returns the first request that the search server did not answer: there was no
// response, or a proxy refused the request temporarily. The tool then returns an empty result,
// although the shop may have products. A response with status 500 is an answer.
func (a Answer) Unanswered() (Request, bool) {
	for _, r := range a.Requests {
		switch r.Status {
		case 0, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return r, true
		}
	}
	return Request{}, false
}

// Call executes one tool. An error of the tool is returned as part of the answer.
func (t *Tools) Call(
	ctx context.Context,
	name string,
	arguments python.Value,
) Answer {
	c := call{ctx: ctx, tools: t}
	result, err := c.run(name, arguments)
	a := Answer{
		ID:       CallID(name, arguments),
		Result:   result,
		Requests: c.requests,
	}
	if err != nil {
		a.Result = python.String("Error: " + err.Error())
		a.Raised = true
	}
	return a
}

// CallID returns the id of a call: the first eight characters of the hash of its name and of
// its arguments as Python prints them.
func CallID(name string, arguments python.Value) string {
	const length = 8
	h := md5.Sum([]byte(name + "\n" + arguments.String()))
	return base64.RawURLEncoding.EncodeToString(h[:])[:length]
}

// Observation returns the answers of one step as text for the model.
func Observation(answers []Answer) string {
	b := []byte("<obs>[")
	for i, a := range answers {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = python.AppendDumps(b, python.DictOf(
			item("tool_call_id", python.String(a.ID)),
			item("results", a.Result),
		))
	}
	return string(append(b, "]</obs>"...))
}

// signature has the names of a tool's parameters in order, how many of them (the first ones) are
// required, and the method that executes the tool.
type signature struct {
	params   []string
	required int
	run      func(*call, python.Value) python.Value
}

var signatures = map[string]signature{
	"find_product":               {[]string{"q", "page", "shop_id", "price", "sort", "service"}, 1, (*call).findProduct},
	"view_product_information":   {[]string{"product_ids"}, 1, (*call).viewProduct},
	"recommend_product":          {[]string{"product_ids"}, 1, (*call).recommend},
	"terminate":                  {nil, 0, (*call).terminate},
	"check_product_match":        {[]string{"product_id", "requirements"}, 2, (*call).checkMatch},
	"find_products_in_same_shop": {[]string{"product_queries"}, 1, (*call).sameShop},
	"calculate_voucher": {
		[]string{"product_prices", "voucher_type", "discount_value", "threshold", "budget", "cap"}, 5, (*call).voucher,
	},
}

type call struct {
	ctx      context.Context //nolint:containedctx // it lives for one call
	tools    *Tools
	requests []Request
}

func noAttribute(v python.Value, name string) {
	python.Raise("'%s' object has no attribute '%s'", v.TypeName(), name)
}

func noOperator(operator, left, right string) {
	python.Raise("unsupported operand type(s) for %s: '%s' and '%s'", operator, left, right)
}

// mustBeDict checks that v is a dict. Otherwise it raises the error that Python raises for a
// call of method on v.
func mustBeDict(v python.Value, method string) {
	if v.Kind != python.Dict {
		noAttribute(v, method)
	}
}

// loads returns what Python's json.loads(text) returns. valid is false if the text is not JSON. Any
// other error is raised as Python raises it.
func loads(text string) (v python.Value, valid bool) {
	v, err := python.Loads(text)
	if _, syntax := errors.AsType[*python.DecodeError](err); syntax {
		return v, false
	}
	return python.Must(v, err), true
}

// run executes the named tool. The error is the exception that the tool would raise in Python.
func (c *call) run(name string, arguments python.Value) (result python.Value, err error) {
	err = python.Catch(func() {
		s, ok := signatures[name]
		if !ok || !slices.Contains(c.tools.names, name) {
			python.Raise("Tool '%s' is not registered. Available tools: %s", name, strings.Join(c.tools.names, ", "))
		}
		s.bind(name, arguments)
		result = s.run(c, arguments)
	})
	return result, err
}

// bind checks the arguments of the named tool as Python does, and raises Python's error if they do
// not fit the parameters. The tool terminate accepts any dict, because the agent's loop handles it
// before the call.
func (s signature) bind(name string, arguments python.Value) {
	if arguments.Kind != python.Dict {
		python.Raise("src.agent.agent.%s() argument after ** must be a mapping, not %s", name, arguments.TypeName())
	}
	if s.params == nil {
		return
	}
	for _, it := range arguments.Dict {
		if !slices.Contains(s.params, it.Key) {
			python.Raise("%s() got an unexpected keyword argument '%s'", name, it.Key)
		}
	}
	missing := slicesx.FilterMap(s.params[:s.required], func(p string) (string, bool) {
		_, ok := arguments.Get(p)
		return "'" + p + "'", !ok
	})
	switch n := len(missing); n {
	case 0:
	case 1:
		python.Raise("%s() missing 1 required positional argument: %s", name, missing[0])
	default:
		python.Raise("%s() missing %d required positional arguments: %s", name, n, enumeration(missing))
	}
}

// enumeration returns two or more words as Python's errors list them: a and b; a, b, and c.
func enumeration(words []string) string {
	last := len(words) - 1
	if last == 1 {
		return words[0] + " and " + words[1]
	}
	return strings.Join(words[:last], ", ") + ", and " + words[last]
}

// get sends a request to the search server, records it, and returns the response. Parameters that
// are None are not sent. It returns Python's None if the request fails. It raises Python's error if
// a parameter cannot be encoded.
func (c *call) get(path string, params python.Value) python.Value {
	isNone := func(it python.Item) bool {
		return it.Value.Kind == python.None
	}
	items := slices.DeleteFunc(slices.Clone(params.Dict), isNone)
	params = python.DictOf(items...)
	for _, it := range items {
		checkEncodable(it.Value)
	}
	v, status, ok := c.tools.server.Get(c.ctx, path, params)
	if !ok {
		v = python.Value{}
	}
	c.requests = append(c.requests, Request{
		Path:     path,
		Params:   params,
		Status:   status,
		Response: v,
	})
	return v
}

// checkEncodable checks that a parameter can be encoded as UTF-8: every element of a list, every
// key of a dict, or the text of any other value. Otherwise it raises the error of Python's URL
// encoder.
func checkEncodable(v python.Value) {
	var texts []string
	switch v.Kind {
	case python.List:
		texts = slicesx.Map(v.List, python.Value.String)
	case python.Dict:
		texts = slicesx.Map(v.Dict, func(it python.Item) string {
			return it.Key
		})
	default:
		texts = []string{v.String()}
	}
	for _, text := range texts {
		python.Must(text, python.Encodable(text))
	}
}

// getList sends a request to the search server and returns the response, or an empty list if the
// request fails.
func (c *call) getList(path string, params python.Value) python.Value {
	v := c.get(path, params)
	if v.Kind == python.None {
		return python.ListOf()
	}
	return v
}

// argument returns a member of a dict, or None if there is no such member.
func argument(dict python.Value, name string) python.Value {
	return argumentOr(dict, name, python.Value{})
}

// argumentOr returns a member of a dict, or defaultValue if there is no such member.
func argumentOr(dict python.Value, name string, defaultValue python.Value) python.Value {
	if v, ok := dict.Get(name); ok {
		return v
	}
	return defaultValue
}

func item(key string, v python.Value) python.Item {
	return python.Item{
		Key:   key,
		Value: v,
	}
}

func (c *call) viewProduct(a python.Value) python.Value {
	return c.getList("/view_product_information", python.DictOf(item("product_ids", argument(a, "product_ids"))))
}

func (c *call) recommend(a python.Value) python.Value {
	return python.String("Having recommended the products to the user: " + argument(a, "product_ids").String() + ".")
}

func (c *call) terminate(a python.Value) python.Value {
	return python.String("The interaction has been completed with status: " + argumentOr(a, "status", python.String("success")).String())
}

// quoteQuery returns a search query as the tool passes it to the server: quoted for a URL if the
// rules have QuoteTwice, otherwise unchanged. It raises Python's error if the query is not a string
// or cannot be encoded.
func (c *call) quoteQuery(q python.Value) python.Value {
	if q.Kind != python.Str {
		python.Raise("quote_from_bytes() expected bytes")
	}
	if s := python.Must(python.QuotePlus(q.Text)); c.tools.rules.QuoteTwice {
		return python.String(s)
	}
	return q
}
