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

// Tools runs tool calls as the subnet's agent template does. It is safe for
// concurrent use.
type Tools struct {
	server Server
	rules  Rules
	names  []string
}

// NewTools offers the tools of these names.
func NewTools(server Server, rules Rules, names []string) *Tools {
	return &Tools{server: server, rules: rules, names: slices.Sorted(slices.Values(names))}
}

// Answer is the outcome of one tool call.
type Answer struct {
	// ID is the call's id, made of its name and arguments.
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
	// Params are the parameters as the tool gave them, without None.
	Params python.Value
	// Status is 0 where no answer came.
	Status   int
	Response python.Value
}

// Unanswered is the first request of the call that a server never answered, or
// that something before it refused for the moment. The tool reads it as nothing
// found, which says nothing of the shop; status 500 is the server's own answer.
func (a Answer) Unanswered() (Request, bool) {
	for _, r := range a.Requests {
		switch r.Status {
		case 0, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return r, true
		}
	}
	return Request{}, false
}

// Call runs one tool. It never fails: whatever goes wrong is the answer.
func (t *Tools) Call(ctx context.Context, name string, arguments python.Value) Answer {
	c := call{ctx: ctx, tools: t}
	result, err := c.run(name, arguments)
	a := Answer{ID: CallID(name, arguments), Result: result, Requests: c.requests}
	if err != nil {
		a.Result, a.Raised = python.String("Error: "+err.Error()), true
	}
	return a
}

// CallID is the id of a call: the first eight characters of the hash of its
// name and Python's text of its arguments.
func CallID(name string, arguments python.Value) string {
	const length = 8
	h := md5.Sum([]byte(name + "\n" + arguments.String()))
	return base64.RawURLEncoding.EncodeToString(h[:])[:length]
}

// Observation is the text that a model reads of the answers of one step.
func Observation(answers []Answer) string {
	b := []byte("<obs>[")
	for i, a := range answers {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = python.AppendDumps(b, python.DictOf(
			python.Item{Key: "tool_call_id", Value: python.String(a.ID)}, python.Item{Key: "results", Value: a.Result},
		))
	}
	return string(append(b, "]</obs>"...))
}

// signature lists a tool's parameters in order; the first required of them
// have no default.
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

// mustBeDict raises what Python does where a method of dicts is called on v.
func mustBeDict(v python.Value, method string) {
	if v.Kind != python.Dict {
		noAttribute(v, method)
	}
}

// loads is json.loads where JSONDecodeError is caught: valid is then false.
func loads(text string) (v python.Value, valid bool) {
	v, err := python.Loads(text)
	if _, syntax := errors.AsType[*python.DecodeError](err); syntax {
		return v, false
	}
	return python.Must(v, err), true
}

// run gives what a tool returns, or the error that it raises.
func (c *call) run(name string, arguments python.Value) (result python.Value, err error) {
	err = python.Catch(func() {
		s, known := signatures[name]
		if !known || !slices.Contains(c.tools.names, name) {
			python.Raise("Tool '%s' is not registered. Available tools: %s", name, strings.Join(c.tools.names, ", "))
		}
		s.bind(name, arguments)
		result = s.run(c, arguments)
	})
	return result, err
}

// bind checks arguments as Python does. The loop answers terminate before any
// binding, so its arguments are never wrong.
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
		_, given := arguments.Get(p)
		return "'" + p + "'", !given
	})
	switch n := len(missing); n {
	case 0:
	case 1:
		python.Raise("%s() missing 1 required positional argument: %s", name, missing[0])
	default:
		python.Raise("%s() missing %d required positional arguments: %s", name, n, enumeration(missing))
	}
}

// enumeration joins two words or more as Python's errors do: a and b; a, b, and c.
func enumeration(words []string) string {
	last := len(words) - 1
	if last == 1 {
		return words[0] + " and " + words[1]
	}
	return strings.Join(words[:last], ", ") + ", and " + words[last]
}

// get makes a request; whatever goes wrong with it reads as None. What is raised
// are parameters that cannot be sent.
func (c *call) get(path string, params python.Value) python.Value {
	kept := slices.DeleteFunc(slices.Clone(params.Dict), func(it python.Item) bool { return it.Value.Kind == python.None })
	params = python.DictOf(kept...)
	for _, it := range kept {
		encode(it.Value)
	}
	v, status, ok := c.tools.server.Get(c.ctx, path, params)
	if !ok {
		v = python.Value{}
	}
	c.requests = append(c.requests, Request{Path: path, Params: params, Status: status, Response: v})
	return v
}

// encode raises what Python's URL encoder does for a parameter: of a list it
// encodes every element, of a dict every key.
func encode(v python.Value) {
	var all []string
	switch v.Kind {
	case python.List:
		all = slicesx.Map(v.List, python.Value.String)
	case python.Dict:
		all = slicesx.Map(v.Dict, func(it python.Item) string { return it.Key })
	default:
		all = []string{v.String()}
	}
	for _, text := range all {
		python.Must(text, python.Encodable(text))
	}
}

func (c *call) found(path string, params python.Value) python.Value {
	v := c.get(path, params)
	if v.Kind == python.None {
		return python.ListOf()
	}
	return v
}

// argument is a member of a dict, None where it has none.
func argument(of python.Value, name string) python.Value { return otherwise(of, name, python.Value{}) }

func otherwise(of python.Value, name string, absent python.Value) python.Value {
	if v, ok := of.Get(name); ok {
		return v
	}
	return absent
}

func item(key string, v python.Value) python.Item { return python.Item{Key: key, Value: v} }

func (c *call) viewProduct(a python.Value) python.Value {
	return c.found("/view_product_information", python.DictOf(item("product_ids", argument(a, "product_ids"))))
}

func (c *call) recommend(a python.Value) python.Value {
	return python.String("Having recommended the products to the user: " + argument(a, "product_ids").String() + ".")
}

func (c *call) terminate(a python.Value) python.Value {
	return python.String("The interaction has been completed with status: " + otherwise(a, "status", python.String("success")).String())
}

// quoted is a query as the tool puts it into its parameters.
func (c *call) quoted(q python.Value) python.Value {
	if q.Kind != python.Str {
		python.Raise("quote_from_bytes() expected bytes")
	}
	if s := python.Must(python.QuotePlus(q.Text)); c.tools.rules.QuoteTwice {
		return python.String(s)
	}
	return q
}
