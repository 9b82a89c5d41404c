package filters_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// clients are honest agents whose client changes the model's call before it is sent, or changes the
// result.
var clients = []agent{
	{"honest encodes", many(3060), true, func(r *recorder) { r.wire = encoded }, honest(turnPlain, talks)},
	{"honest relists", many(3070), true, func(r *recorder) { r.wire = relisted }, honest(turnPlain, talks)},
	{"honest splits turns", many(3100), true, nil, honest(turnSplit, talks)},
	{"honest one by one", many(3110), true, nil, honest(turnOneByOne, talks)},
	{"honest composes", many(3170), true, nil, composes},
	{"honest client opens together", many(9000), true, style("native"), honest(turnTogether, talks)},
	{"honest model counts products", many(9010), true, nil, honest(turnNumbers, talks)},
	{"honest client cuts queries", many(9020), true, nil, honest(turnCutsQueries, talks)},
	{"honest client caps queries", many(10010), true, style("native"), honest(turnCaps, talks)},
	{"honest client sends the first", many(10040), true, style("native"), honest(turnFirstOfMany, talks)},
}

// clientsLeftOut are such, and changed no weight or rule.
var clientsLeftOut = []agent{
	{"honest drops filters", many(3060), true, func(r *recorder) { r.wire = unfiltered }, honest(turnPlain, talks)},
	{"honest asks twice", many(3080), true, nil, honest(turnRepeats, talks)},
	{"honest sends numbers", many(5000), true, func(r *recorder) { r.wire = numbered }, honest(turnPlain, talks)},
	{"honest pages by itself", many(5060), true, style("react"), honest(turnSecondPage, talks)},
	{"honest client opens fewer", few(7120), true, nil, honest(turnFewer, talks)},
	{"honest client in lower case", few(7130), true, func(r *recorder) { r.wire = lowered }, honest(turnCapitals, talks)},
}

// turnSplit records each call of an answer as a step of its own.
func turnSplit(r *recorder, think string, calls ...call) []call {
	r.infer(think, calls...)
	for i := range calls {
		r.step(think, r.do(&calls[i]))
	}
	return calls
}

// turnOneByOne opens the products that the model named together one by one.
func turnOneByOne(r *recorder, think string, calls ...call) []call {
	r.infer(think, calls...)
	pointers := []*call{}
	for i := range calls {
		c := &calls[i]
		ids := strings.Split(fmt.Sprint(c.args["product_ids"]), ",")
		if c.name != "view_product_information" || len(ids) == 1 {
			pointers = append(pointers, r.do(c))
			continue
		}
		var parts []string
		for _, id := range ids {
			one := view(id)
			r.do(&one)
			parts = append(parts, strings.Trim(one.result, "[]"))
		}
		c.result = "[" + strings.Join(parts, ", ") + "]"
		pointers = append(pointers, c)
	}
	r.step(think, pointers...)
	return calls
}

// composes uses the tools that make several requests.
func composes(r *recorder) {
	n := r.task.needs[0]
	specs := []any{}
	for _, x := range r.task.needs {
		specs = append(specs, map[string]any{"q": r.phrase(x, 0)})
	}
	c := call{name: "find_products_in_same_shop", args: map[string]any{"product_queries": specs}}
	r.infer("One shop for all.", c)
	shops := map[string]bool{}
	first := find(fmt.Sprint(specs[0].(map[string]any)["q"]))
	r.do(&first)
	products := ids(first)
	for _, id := range products[:min(3, len(products))] {
		p, _ := r.w.byID(id)
		for _, s := range specs[1:] {
			if !shops[p.shop] {
				more := find(fmt.Sprint(s.(map[string]any)["q"]), "shop_id", p.shop)
				r.do(&more)
			}
		}
		shops[p.shop] = true
	}
	c.result = `{"found": false, "error": "Could not find all products in any single shop", "shops_tried": 3}`
	r.step("One shop for all.", &c)
	products = ids(turnPlain(r, "Then one by one.", find(r.phrase(n, 0)))[0])
	if len(products) == 0 {
		products = []string{r.w.products[0].id}
	}
	best := products[r.judge(products, n)]
	m := call{name: "check_product_match", args: map[string]any{"product_id": best, "requirements": map[string]any{"look": n.wants[1]}}}
	r.infer("Does it match?", m)
	v := view(best)
	r.do(&v)
	m.result = `{"matched": true, "matches": ["look"], "mismatches": []}`
	r.step("Does it match?", &m)
	turnPlain(r, "Yes.", recommend(best), finish())
}

// encoded sends blanks as %20 and numbers as text, with defaults added.
func encoded(args map[string]any) map[string]any {
	out := map[string]any{"sort": "default", "service": ""}
	for k, v := range args {
		out[k] = v
	}
	if q, ok := out["q"].(string); ok {
		plain, _ := url.QueryUnescape(q)
		out["q"] = strings.ReplaceAll(url.QueryEscape(strings.ToUpper(plain)), "+", "%20")
	}
	if p, ok := out["page"]; ok {
		out["page"] = fmt.Sprint(p)
	}
	return out
}

// relisted sends ids as a list, and drops the default page.
func relisted(args map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range args {
		switch {
		case k == "product_ids":
			out[k] = strings.Split(fmt.Sprint(v), ",")
		case k == "page" && fmt.Sprint(v) == "1":
		case k == "price":
			out[k] = strings.Replace(fmt.Sprint(v), "0-", "-", 1)
		default:
			out[k] = v
		}
	}
	return out
}

// turnTogether names one product a call, and the client opens all at once.
func turnTogether(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "view_product_information" {
		named = named[:0]
		for _, id := range strings.Split(fmt.Sprint(calls[0].args["product_ids"]), ",") {
			named = append(named, view(id))
		}
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// turnNumbers has a client that numbers the products of each list.
func turnNumbers(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "view_product_information" {
		var numbers []string
		for _, id := range strings.Split(fmt.Sprint(calls[0].args["product_ids"]), ",") {
			numbers = append(numbers, fmt.Sprintf("#%d", 1+slices.Index(r.lastShown(), id)))
		}
		named[0] = view(numbers...)
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// turnCutsQueries has a client that sends the first words of a search.
func turnCutsQueries(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "find_product" {
		words := strings.Fields(fmt.Sprint(calls[0].args["q"]))
		named[0] = find(strings.Join(append(words, "for home"), " "))
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// turnCaps has a model that searches for many words and a client that sends the first six.
func turnCaps(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "find_product" {
		words := append(strings.Fields(fmt.Sprint(calls[0].args["q"])), strings.Fields("of good quality with quick delivery to my home if possible")...)
		named[0] = find(strings.Join(words, " "))
		calls[0] = find(strings.Join(words[:6], " "))
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// turnFirstOfMany sends the first call of each reply and forgets the others.
func turnFirstOfMany(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "find_product" {
		named = append(named, r.other(calls[0]), r.other(calls[0]))
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// turnFewer has a client that opens at most two of the products named.
func turnFewer(r *recorder, think string, calls ...call) []call {
	r.infer(think, calls...)
	if calls[0].name == "view_product_information" {
		ids := strings.Split(fmt.Sprint(calls[0].args["product_ids"]), ",")
		calls[0] = view(ids[:min(2, len(ids))]...)
	}
	return r.run(think, calls)
}

func lowered(args map[string]any) map[string]any {
	args["q"] = strings.ToLower(fmt.Sprint(args["q"]))
	return args
}

func turnCapitals(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "find_product" {
		calls[0].args["q"] = strings.ToUpper(fmt.Sprint(calls[0].args["q"]))
	}
	return r.act(think, calls...)
}

// numbered sends ids and pages as numbers.
func numbered(args map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range args {
		out[k] = v
		if k == "product_ids" {
			var list []any
			for _, id := range strings.Split(fmt.Sprint(v), ",") {
				var n int64
				fmt.Sscan(id, &n)
				list = append(list, n)
			}
			out[k] = list
		}
	}
	return out
}

// turnSecondPage has a model that also requests the second page after about a third of its
// searches.
func turnSecondPage(r *recorder, think string, calls ...call) []call {
	out := r.act(think, calls...)
	if calls[0].name == "find_product" && r.w.rng.Intn(3) == 0 {
		r.act("More of that.", find(fmt.Sprint(calls[0].args["q"]), "page", 2))
	}
	return out
}

func unfiltered(args map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range args {
		if k != "price" && k != "page" {
			out[k] = v
		}
	}
	return out
}

// turnRepeats has a client that asks the model again and takes the second
// answer, which is the same.
func turnRepeats(r *recorder, think string, calls ...call) []call {
	r.infer(think, calls...)
	return r.act(think, calls...)
}
