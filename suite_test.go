package arena_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
)

func TestParseProblem(t *testing.T) {
	t.Parallel()
	const text = `{"query":"a bell","reward":{"product_id":12345678901234567890,"title":["bell",5],` +
		`"attributes":[{"brand":["brr","b"]},{"loud":[true]}],"sku_options":[{"colour":"red"}],"price":[{"between":[1,null]},{"less than":5}],"service":["COD"]},` +
		`"category":"voucher","voucher":{"voucher_type":"shop","threshold":3,"discount_type":"percentage","discount":0.42,"cap":null,"budget":7.5},` +
		`"difficulty":"hard","title":"Voucher 1","id":7,"reward_title_embeddings":{"bell":[0.5,-1]}}`
	got, err := arena.ParseProblem([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	low := 1.0
	want := arena.Problem{
		ID: "7", Query: "a bell", Category: arena.CategoryVoucher,
		Rewards: []arena.Reward{{
			ProductID: "12345678901234567890", Titles: []string{"bell"}, Services: []string{"COD"},
			Attributes: []arena.Option{{Key: "brand", Value: "brr"}, {Key: "brand", Value: "b"}},
			SKUOptions: []arena.Option{{Key: "colour", Value: "red"}},
			Prices:     []arena.PriceBound{{Mode: "between", Low: &low}},
		}},
		Voucher:      &arena.Voucher{Type: "shop", Threshold: 3, DiscountType: "percentage", Discount: 0.42, Budget: 7.5},
		TitleVectors: map[string][]float64{"bell": {0.5, -1}},
		Raw:          text,
	}
	got.Rewards[0].Raw = ""
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestCategoryOfAProblemWithoutOne(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]arena.Category{
		`{"query":"q","reward":{},"voucher":{}}`:    arena.CategoryProduct,
		`{"query":"q","reward":{},"voucher":null}`:  arena.CategoryProduct,
		`{"query":"q","reward":[],"category":null}`: arena.CategoryShop,
		`{"query":"q","category":"pRODUCT"}`:        arena.CategoryProduct,
		`{"query":"q","category":"Web"}`:            "Web",
	} {
		if p, err := arena.ParseProblem([]byte(text)); err != nil || p.Category != want {
			t.Errorf("%s: %s %v, want %s", text, p.Category, err, want)
		}
	}
}

func TestReadProblems(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"lines":       "\uFEFF{\"problem_id\":\"a\"}\r\n\n{\"query\":\"b\"}",
		"one array":   "[\n {\"problem_id\":\"a\"},\n {\"query\":\"b\"}\n]\n",
		"blank start": "\n  [{\"problem_id\":\"a\"},{\"query\":\"b\"}]",
	} {
		problems, err := arena.ReadProblems(strings.NewReader(text), 1000)
		if err != nil || len(problems) != 2 || problems[0].Key() != "a" || problems[1].Key() != "b" {
			t.Errorf("%s: %v %v", name, problems, err)
		}
	}
	for text, want := range map[string]string{
		"":                                      "the file is empty",
		" \n ":                                  "the file is empty",
		"[]":                                    "the file holds no problem",
		`{"query":"a"}` + "\n" + `{"query":`:    "line 2: parse problem: unexpected end",
		`{"query":"a"}` + "\nnull":              "line 2: parse problem: not a JSON object",
		`{"query":"a"}` + "\n" + `{"query":""}`: "line 2: parse problem: neither problem_id nor query",
		`[{"query":"a"},{"query":5}]`:           "entry 2: parse problem: neither",
		`[{"query":"a"},`:                       "entry 2: ",
		`[{"query":"a"}`:                        "end of array after entry 1",
		`[{"query":"a"}]` + "\n" + `[{"query":"b"}]`:     "something stands behind the array of 1 entries",
		`{"query":"` + strings.Repeat("a", 100) + `"}`:   "line 1: longer than 100 bytes",
		`[{"query":"` + strings.Repeat("a", 100) + `"}]`: "entry 1: longer than 100 bytes",
	} {
		if _, err := arena.ReadProblems(strings.NewReader(text), 100); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50q: %v, want %s", text, err, want)
		}
	}
}

func TestSuiteFindsByIDThenByText(t *testing.T) {
	t.Parallel()
	s := arena.NewSuite([]arena.Problem{{ID: "a", Query: "first"}, {Query: "second"}, {ID: "a", Query: "later"}})
	for _, c := range []struct {
		id, query, want string
	}{
		{"a", "other", "later"}, {"", "first", "first"}, {"", "second", "second"}, {"x", "second", "second"},
		{"x", "first", ""}, {"", "", ""}, {"b", "", ""},
	} {
		p, ok := s.Find(&arena.Trace{ProblemID: c.id, Query: c.query})
		if ok != (c.want != "") || ok && p.Query != c.want {
			t.Errorf("%+v: found %v", c, p)
		}
	}
}

// FuzzReadProblemsKeepsItsWord checks that a problem that was read has an identity and its own
// text, and that a second reading is equal.
func FuzzReadProblemsKeepsItsWord(f *testing.F) {
	f.Add(`{"query":"a","reward":{"price":[{"between":[1,2]}]},"voucher":{"cap":1}}`)
	f.Add(`[{"problem_id":1,"reward":[{"attributes":[{"a":["b"]}]}]},{"id":"x"}]`)
	f.Fuzz(func(t *testing.T, text string) {
		problems, err := arena.ReadProblems(strings.NewReader(text), 1<<16)
		if err != nil {
			return
		}
		for _, p := range problems {
			again, err := arena.ParseProblem([]byte(p.Raw))
			if err != nil || p.Key() == "" || !cmp.Equal(p, again) {
				t.Errorf("%q reads as %+v and then %+v, %v", p.Raw, p, again, err)
			}
		}
	})
}
