package calls_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
)

func TestSpelled(t *testing.T) {
	t.Parallel()
	lamp := written("find_product", `{"q":"lamp"}`)
	for text, want := range map[string][]arena.Call{
		`hits = find_product(q="lamp")`:                                        lamp,
		`find_product("lamp")`:                                                 lamp,
		`<function=find_product>{"q": "lamp"}</function>`:                      written("find_product", `{"q": "lamp"}`),
		"<find_product><q>lamp</q></find_product>":                             lamp,
		"行动：find_product\nq: lamp":                                             lamp,
		`find_product(q=wanted)`:                                               written("find_product", ""),
		"I use find_product now.":                                              nil,
		`find_product(q="lamp") then recommend_product(product_ids=["1","2"])`: append(lamp, written("recommend_product", `{"product_ids":"\"1\",\"2\""}`)...),
	} {
		if diff := cmp.Diff(want, slices.Collect(calls.Spelled(text)), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestNamesOfOwnForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, command, key string }{
		{"search[", "]", "search", ""}, {"<search>", "</search>", "search", ""}, {`find(text="`, `")`, "find", ""},
		{"Action: ", "", "Action", ""}, {"SEARCH: ", "\n", "SEARCH", ""}, {`{"search": "`, `"}`, "", "search"},
		{`{"tool": "open", "args": {"id": "`, `"}}`, "open", "args"}, {"I saw a ", " there.", "", ""},
	} {
		if name := calls.CommandName(c.before, c.after); name != c.command {
			t.Errorf("%s…%s commands %q, want %q", c.before, c.after, name, c.command)
		}
		if name := calls.KeyName(c.before, c.after); name != c.key {
			t.Errorf("%s…%s hangs on %q, want %q", c.before, c.after, name, c.key)
		}
	}
}

// FuzzSpelled: any text gives calls whose arguments are objects, or none.
func FuzzSpelled(f *testing.F) {
	for _, s := range []string{`find_product(q="lamp")`, "<find_product><q>", `view_product_information {"product_ids": [`, "recommend_product: '", "find_product ("} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for c := range calls.Spelled(s) {
			if c.Name == "" || c.Arguments != "" && (c.Arguments.Kind() != arena.Object || !gjson.Valid(string(c.Arguments))) {
				t.Fatalf("%q: %+v", s, c)
			}
		}
		for i := range len(s) {
			calls.CommandName(s[:i], s[i:])
			calls.KeyName(s[:i], s[i:])
		}
	})
}
