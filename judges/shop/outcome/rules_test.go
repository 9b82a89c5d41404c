package outcome_test

import (
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
)

// bell is the product that most cases recommend; drum is of the same shop.
const bell = `{"product_id":"7","shop_id":"s1","title":"bell","price":20,"service":["COD","official"],` +
	`"sku_options":{"a":{"colour":"red","size":1},"b":{"colour":"blue"}},"attributes":{"brand":["brr"],"loud":[true]}}`

const drum = `{"product_id":"8","shop_id":"s1","title":"drum","price":30.5,"service":[]}`

const flute = `{"product_id":"9","shop_id":"s2","title":"flute","price":10,"service":null,"sku_options":null,"attributes":null}`

const (
	stamp = `"extra_info":{"timestamp":5}`
	end   = `{"name":"terminate","parameters":{}}`
)

func recommend(ids string) string {
	return `{"name":"recommend_product","parameters":{"product_ids":"` + ids + `"}}`
}

// turnOf returns a step with a thought and these calls.
func turnOf(calls ...string) string {
	return `{"completion":{"message":{"think":"t","tool_call":[` + strings.Join(calls, ",") + `]}},` + stamp + `}`
}

// scoreOf scores steps as read from an envelope: the score and error of the
// line, or the error alone.
func scoreOf(t *testing.T, problem, catalog string, steps ...string) string {
	t.Helper()
	p, err := arena.ParseProblem([]byte(problem))
	if err != nil {
		t.Fatal(err)
	}
	c, err := outcome.ReadCatalog(strings.NewReader(catalog), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	tr := &arena.Trace{Status: arena.StatusSuccess, HasDialogue: true}
	for _, s := range steps {
		tr.Steps = append(tr.Steps, arena.Step{Raw: arena.Raw(s)})
	}
	o, err := outcome.New(c, outcome.Carried{}).Score(t.Context(), tr, &p)
	if err != nil {
		t.Fatal(err)
	}
	if o.Scores == nil {
		return o.Error
	}
	return string(outcome.AppendScores(nil, o.Scores))
}

// TestRules holds one recommended product, the bell or the flute, against
// rewards. Wanted are rule, title, price, service, sku & attrs, or the error.
func TestRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ id, reward, want string }{
		"gold alone":                        {"7", `{"product_id":"7"}`, `1,0,0,0,0`},
		"gold keeps measuring the axes":     {"7", `{"product_id":"7","title":["x","y"],"price":[{"less than":[null,10]}],"service":["COD","x"],"sku_options":[{"colour":"green"}]}`, `1,1,0,0.5,0`},
		"nothing to check is worth nothing": {"7", `{"product_id":"1"}`, `0,0,0,0,0`},
		"titles without vectors are left out": {"7", `{"product_id":"1","title":["bell"],"price":[{"less than":[null,20]}]}`,
			`1,0,1,0,0`},
		"bounds are inclusive":                             {"7", `{"product_id":"1","price":[{"between":[20,20]},{"greater than":[20,null]},{"less than":[null,20]}]}`, `1,0,1,0,0`},
		"an unknown mode counts and never hits":            {"7", `{"product_id":"1","price":[{"about":[20,20]}]}`, `0,0,0,0,0`},
		"between reads its upper end only above the lower": {"7", `{"product_id":"1","price":[{"between":[30,null]}]}`, `0,0,0,0,0`},
		"between needs an upper end above the lower":       {"7", `{"product_id":"1","price":[{"between":[10,null]}]}`, `price: null is no number`},
		"true is the number one":                           {"7", `{"product_id":"1","price":[{"greater than":[true,null]}]}`, `1,0,1,0,0`},
		"services are members":                             {"7", `{"product_id":"1","service":["COD","cod","official"]}`, `0.6666666666666666,0,0,0.6666666666666666,0`},
		"no wished service needs no list":                  {"9", `{"product_id":"1","service":[],"price":[{"less than":[null,10]}]}`, `1,0,1,0,0`},
		"a wished service needs the product's list":        {"9", `{"product_id":"1","service":["COD"]}`, `service: cannot look into null`},
		"the best variant counts, not the sum":             {"7", `{"product_id":"1","sku_options":[{"colour":"red"},{"colour":"blue"}]}`, `0.5,0,0,0,0.5`},
		"attributes count with every variant":              {"7", `{"product_id":"1","sku_options":[{"colour":"blue"},{"brand":"brr"}],"attributes":[{"brand":["brr","other"]}]}`, `0.75,0,0,0,0.75`},
		"an attribute may be in the variant":               {"7", `{"product_id":"1","attributes":[{"colour":["red"]}]}`, `1,0,0,0,1`},
		"1 is 1.0 is true":                                 {"7", `{"product_id":"1","sku_options":[{"size":1.0},{"loud":1}]}`, `1,0,0,0,1`},
		"1 is not \"1\"":                                   {"7", `{"product_id":"1","sku_options":[{"size":"1"}]}`, `0,0,0,0,0`},
		"a product without variants or attributes":         {"9", `{"product_id":"1","sku_options":[{"colour":"red"}],"attributes":[{"brand":["brr"]}]}`, `0,0,0,0,0`},
		"a word is a list of its letters":                  {"7", `{"product_id":"1","attributes":[{"brand":"brr"}]}`, `0,0,0,0,0`},
		"a list cannot be looked up":                       {"7", `{"product_id":"1","sku_options":[{"colour":["red"]}]}`, `sku & attrs: a list or object cannot be a member of a set`},
		"null attributes of a reward":                      {"7", `{"product_id":"1","attributes":null}`, `sku & attrs: cannot walk over null`},
		"null price of a reward":                           {"7", `{"product_id":"1","price":null}`, `price: cannot walk over null`},
		"a bound with one end":                             {"7", `{"product_id":"1","price":[{"less than":[5]}]}`, `price: a bound has 1 ends, not 2`},
		"a reward without an id":                           {"7", `{"title":["bell"]}`, `reward: read "product_id": no such key`},
		"a list for one product":                           {"7", `[{"product_id":"7"}]`, `reward: read "product_id": a list is no object`},
		"an empty reward":                                  {"7", `{}`, `the problem has no reward`},
	} {
		got := scoreOf(t, `{"query":"q","category":"Product","reward":`+c.reward+`}`, bell+"\n"+flute, turnOf(recommend(c.id)))
		if i := strings.Index(got, `"rule":`); i >= 0 {
			got = strings.NewReplacer(`"rule":`, "", `"title":`, "", `"price":`, "", `"service":`, "", `"sku & attrs":`, "", "}", "").Replace(got[i:])
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestSeveralProducts is about tasks with a list of rewards.
func TestSeveralProducts(t *testing.T) {
	t.Parallel()
	const two = `"reward":[{"product_id":"7","price":[{"less than":[null,20]}]},{"product_id":"8"}]`
	const none = `{"length":0,"format":1,"product":0,"gt":0,"rule":0,"title":0,"price":0,"service":0,"sku & attrs":0,`
	const both = `{"length":0,"format":1,"product":1,"gt":1,"rule":1,"title":0,"price":0.5,"service":0,"sku & attrs":0,`
	for name, c := range map[string]struct{ problem, ids, want string }{
		"both of one shop":        {`"category":"shop",` + two, "7,8", both + `"shop":1}`},
		"a third id is ignored":   {`"category":"Shop",` + two, "7,8,9", both + `"shop":1}`},
		"the order counts":        {`"category":"Shop",` + two, "8,7", `{"length":0,"format":1,"product":1,"gt":0,"rule":0,"title":0,"price":0,"service":0,"sku & attrs":0,"shop":0}`},
		"a repetition moves up":   {`"category":"Shop",` + two, "7, 7 ,8", both + `"shop":1}`},
		"one is missing":          {`"category":"Shop",` + two, "7", `{"length":0,"format":1,"product":0.5,"gt":0.5,"rule":0.5,"title":0,"price":0.5,"service":0,"sku & attrs":0,"shop":0}`},
		"an unknown id is passed": {`"category":"Shop",` + two, "x,8", `{"length":0,"format":1,"product":0.5,"gt":0.5,"rule":0.5,"title":0,"price":0,"service":0,"sku & attrs":0,"shop":0}`},
		"none":                    {`"category":"Shop",` + two, "", none + `"shop":0}`},
		"two shops":               {`"category":"Shop","reward":[{"product_id":"7"},{"product_id":"9"}]`, "7,9", `{"length":0,"format":1,"product":1,"gt":1,"rule":1,"title":0,"price":0,"service":0,"sku & attrs":0,"shop":0}`},
		"without a category, a list is a shop task": {two, "", none + `"shop":0}`},
		"without a category, a voucher decides":     {two + `,"voucher":{"budget":1}`, "", none + `"budget":0}`},
		"another category has no rules":             {`"category":"Web",` + two, "7", `category "Web" has no rules`},
		"an object for several":                     {`"category":"Shop","reward":{"product_id":"7"}`, "7", `reward: read "product_id": a string is no object`},
	} {
		got := scoreOf(t, `{"query":"q",`+c.problem+`}`, bell+"\n"+drum+"\n"+flute, turnOf(recommend(c.ids)))
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}

// TestASecondCategoryNeedsWholeProducts checks that the title and the shop of every product except
// the gold one are required, even where they do not affect the score.
func TestASecondCategoryNeedsWholeProducts(t *testing.T) {
	t.Parallel()
	const problem = `{"query":"q","category":"Shop","reward":[{"product_id":"1","price":[{"less than":[null,9]}]}]}`
	for catalog, want := range map[string]string{
		`{"product_id":"5","price":5,"shop_id":"s"}`:             `read "title": no such key`,
		`{"product_id":"5","price":5,"title":"t"}`:               `read "shop_id": no such key`,
		`{"product_id":"5","price":5,"title":"t","shop_id":[1]}`: `shop_id: a list or object cannot be a member of a set`,
		`{"product_id":"5","price":10,"title":"t"}`:              `{"length":0,"format":1,"product":1,"gt":0,"rule":0,"title":0,"price":0,"service":0,"sku & attrs":0,"shop":0}`,
	} {
		if got := scoreOf(t, problem, catalog, turnOf(recommend("5"))); got != want {
			t.Errorf("%s: %s, want %s", catalog, got, want)
		}
	}
}

// TestBudgets recommends bell and drum, 50.5 in one shop, or bell and flute,
// 30 in two.
func TestBudgets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ ids, voucher, want string }{
		"the sum fits by itself":               {"7,8", `{"budget":50.5}`, "1"},
		"platform, fixed":                      {"7,9", `{"budget":25,"voucher_type":"platform","threshold":30,"discount_type":"fixed","face_value":5}`, "1"},
		"below the threshold":                  {"7,9", `{"budget":25,"voucher_type":"platform","threshold":31,"discount_type":"fixed","face_value":5}`, "0"},
		"the discount is too small":            {"7,9", `{"budget":25,"voucher_type":"platform","threshold":30,"discount_type":"fixed","face_value":4.9}`, "0"},
		"shop voucher in one shop":             {"7,8", `{"budget":45.5,"voucher_type":"shop","threshold":0,"discount_type":"fixed","face_value":5}`, "1"},
		"shop voucher in two shops":            {"7,9", `{"budget":25,"voucher_type":"shop","threshold":0,"discount_type":"fixed","face_value":5}`, "0"},
		"percentage below its cap":             {"7,9", `{"budget":27,"voucher_type":"platform","threshold":0,"discount_type":"percentage","discount":0.1,"cap":5}`, "1"},
		"percentage above its cap":             {"7,9", `{"budget":24,"voucher_type":"platform","threshold":0,"discount_type":"percentage","discount":0.5,"cap":5}`, "0"},
		"a cap of 0 is no discount":            {"7,9", `{"budget":29,"voucher_type":"platform","threshold":0,"discount_type":"percentage","discount":0.5,"cap":0}`, "0"},
		"another type never applies":           {"7,9", `{"budget":25,"voucher_type":"Platform"}`, "0"},
		"no voucher":                           {"7,9", `null`, "0"},
		"an empty voucher":                     {"7,9", `{}`, "0"},
		"one product short":                    {"7", `{"budget":999}`, "0"},
		"fields are read when they are needed": {"7", `{"nothing":1}`, "0"},
		"no budget":                            {"7,9", `{"voucher_type":"platform"}`, `voucher: read "budget": no such key`},
		"no threshold":                         {"7,9", `{"budget":1,"voucher_type":"platform","threshold":null}`, `voucher: null is no number`},
		"no cap":                               {"7,9", `{"budget":1,"voucher_type":"platform","threshold":0,"discount_type":"percentage","discount":0.5,"cap":null}`, `voucher: cap: null is no number`},
		"an unknown discount":                  {"7,9", `{"budget":1,"voucher_type":"platform","threshold":0,"discount_type":"half"}`, `voucher: unknown discount_type`},
	} {
		second := strings.TrimPrefix(strings.TrimPrefix(c.ids, "7"), ",")
		if second == "" {
			second = "8"
		}
		problem := `{"query":"q","category":"Voucher","reward":[{"product_id":"7"},{"product_id":"` + second + `"}],"voucher":` + c.voucher + `}`
		got := scoreOf(t, problem, bell+"\n"+drum+"\n"+flute, turnOf(recommend(c.ids)))
		if _, budget, ok := strings.Cut(got, `,"budget":`); ok {
			got = strings.TrimSuffix(budget, "}")
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
