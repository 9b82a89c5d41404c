package guard

import (
	"slices"
	"strings"
	"testing"
)

// TestMembers holds that a row names its own problem, the problem whose request it repeats, and all
// problems of their clusters, in this order, and that a row that is kept names none.
func TestMembers(t *testing.T) {
	t.Parallel()
	bank := []Entry{
		{ID: "lamp", Text: "Please find a desk lamp of brass with a green shade for at most 40 pesos.", ItemIDs: []string{"9000001"}},
		{ID: "lamp-again", Text: "My study is dark, so I want the brass one that bends.", ItemIDs: []string{"9000001"}},
		{ID: "kettle", Text: "I need an enamel kettle with a whistle that holds two litres, in blue.", ItemIDs: []string{"9000002"}},
		{ID: "mug", Text: "Show me a travel mug with a cork base which fits a bicycle holder.", ItemIDs: []string{"9000003"}},
	}
	g, err := New(bank, Config{})
	if err != nil {
		t.Fatal(err)
	}
	members, err := g.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		row  Candidate
		want string
	}{
		{"repeats the second request of a product", Candidate{ID: "x", Text: bank[1].Text, ItemIDs: []string{"9000001"}}, "lamp-again lamp"},
		{"has its own id", Candidate{ID: "lamp-again", Text: "Something else entirely.", ItemIDs: []string{"9000001"}}, "lamp-again lamp"},
		{"rewards a product", Candidate{ID: "x", Text: "Something else entirely.", ItemIDs: []string{"9000001"}}, "lamp lamp-again"},
		{"rewards two products", Candidate{ID: "x", ItemIDs: []string{"9000003", "9000002"}}, "mug kettle"},
		{"packs two requests into one text", Candidate{ID: "x", Text: bank[2].Text + " Then: " + bank[3].Text}, "kettle mug"},
		{"two requests in two messages", Candidate{ID: "x", Text: bank[2].Text, Context: []string{bank[3].Text}}, "kettle mug"},
		{"of nothing protected", Candidate{ID: "lamp", Text: "Where can I buy a rope ladder?"}, ""},
	} {
		f := g.Check(c.row)
		if got := strings.Join(members.Problems(c.row, f), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if f.Drop && !slices.Contains(strings.Fields(c.want), f.Match) {
			t.Errorf("%s: match %q", c.name, f.Match)
		}
	}
	if f := g.Check(Candidate{Text: bank[1].Text, ItemIDs: []string{"9000001"}}); f.Match != "lamp-again" || !f.Same {
		t.Errorf("a repeated request belongs to its own problem: %+v", f)
	}
}
