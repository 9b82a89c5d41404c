package evidence_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// TestChosenCalls holds that a request is undecided if the client chose it from several calls of
// one reply, and named if the client sent the first calls or all of them.
func TestChosenCalls(t *testing.T) {
	t.Parallel()
	const listed = `<tool_call>{"name": "find_product", "arguments": {"q": "red lamp"}}</tool_call>` +
		`<tool_call>{"name": "find_product", "arguments": {"q": "blue lamp"}}</tool_call>` +
		`<tool_call>{"name": "find_product", "arguments": {"q": "green lamp"}}</tool_call>`
	tests := []struct {
		name string
		ids  []string
		want evidence.Link
	}{
		{"all", []string{"red lamp", "blue lamp", "green lamp"}, evidence.LinkNamed},
		{"all in another order", []string{"green lamp", "red lamp", "blue lamp"}, evidence.LinkNamed},
		{"the first", []string{"red lamp"}, evidence.LinkNamed},
		{"the first two", []string{"red lamp", "blue lamp"}, evidence.LinkNamed},
		{"the second", []string{"blue lamp"}, evidence.LinkUnknown},
		{"the first and the third", []string{"red lamp", "green lamp"}, evidence.LinkUnknown},
	}
	for _, test := range tests {
		got := links(t, searchesAfter(listed, test.ids))
		if slices.ContainsFunc(got, func(link evidence.Link) bool { return link != test.want }) {
			t.Errorf("%s: links %v, want %v", test.name, got, test.want)
		}
	}
}

// searchesAfter returns an attempt whose log has one reply, and then a search for each query.
func searchesAfter(content string, queries []string) *arena.Trace {
	trace := logOf(content, nil, make([]string, len(queries))...)
	for i, query := range queries {
		params, err := json.Marshal(map[string]string{"q": query})
		if err != nil {
			panic(err) // texts can always be encoded
		}
		call := &trace.Steps[0].Proxy[1+i]
		call.Path = "/search/find_product"
		call.Params = arena.Raw(params)
	}
	return trace
}
