package guard

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestGrams holds that runs of words of normalised texts are equal if and only if their hashes are.
func TestGrams(t *testing.T) {
	pieces := strings.Split("Bag|bag|a|1.5|15|.5|5%|%|5%%|1,000| | | | |\n|-|.|é|E\u0301|ﬁ|İ|K|٣|\xff|ẞ|½", "|")
	random := rand.New(rand.NewPCG(1, 2))
	texts := map[uint64]string{}
	hashes := map[string]uint64{}
	for range 20_000 {
		var b strings.Builder
		for range random.IntN(60) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		words := strings.Fields(normalised(b.String()))
		for hash := range grams(b.String()) {
			run := strings.Join(words[:min(gramWords, len(words))], " ")
			words = words[1:]
			if texts[hash] == "" && hashes[run] == 0 {
				texts[hash] = run
				hashes[run] = hash
			}
			if texts[hash] != run || hashes[run] != hash {
				t.Fatalf("in %q: the hash of %q is also that of %q", b.String(), run, texts[hash])
			}
		}
		if len(words) >= gramWords {
			t.Fatalf("%q has more runs than hashes", b.String())
		}
	}
}

// TestRequestsThatDifferInACommonPhrase checks that a text which repeats a complete request belongs
// to this request, not to another one that differs only in a phrase of more than maxGramEntries
// requests, whatever their order in the bank, and both for the bank of a build and for that of its
// recorded state.
func TestRequestsThatDifferInACommonPhrase(t *testing.T) {
	t.Parallel()
	const voucher = " My money is short, but I have a voucher that is valid for "
	var pair, others []Entry
	for i, scope := range []string{"products from the same shop in this order.", "all the products on the platform whatever the seller in this order."} {
		add := func(to *[]Entry, item string) {
			id := fmt.Sprint(item, i)
			*to = append(*to, Entry{ID: id, Spec: id, Text: "Find me " + item + "." + voucher + scope})
		}
		add(&pair, "a brass lantern with a wick of felt and a glass of green for the porch")
		for _, item := range []string{"an oak stool", "a rope ladder", "a tin whistle"} {
			add(&others, item)
		}
	}
	for _, bank := range [][]Entry{
		append([]Entry{pair[0], pair[1]}, others...),
		append([]Entry{pair[1], pair[0]}, others...),
	} {
		for _, cfg := range []Config{{}, {SameOnly: true}} {
			for _, entries := range [][]Entry{bank, HoldOut(bank).Protected("")} {
				g, err := New(entries, cfg)
				if err != nil {
					t.Fatal(err)
				}
				checkRepeated(t, g, pair)
			}
		}
	}
}

// checkRepeated checks rows that repeat one of the requests, in each of the texts of a row that are
// searched for it.
func checkRepeated(t *testing.T, g *Guard, requests []Entry) {
	t.Helper()
	members, err := g.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range requests {
		text := "The user wrote this. " + e.Text + " Nothing else was said today."
		half := strings.Index(text, " with a wick")
		for name, c := range map[string]Candidate{
			"a result of a tool": {Text: "Where can I buy a hammock?", Results: []string{text}},
			"the request":        {Text: text},
			"the context":        {Text: "Where can I buy a hammock?", Context: []string{text}},
			"an answer":          {Text: "Where can I buy a hammock?", Answers: []string{text}},
			"two messages":       {Text: "Where can I buy a hammock?", Conversation: []string{text[:half], text[half:]}},
		} {
			f := g.Check(c)
			if !f.Drop || !f.Same || f.Match != e.ID {
				t.Errorf("%s repeats %s, bank of %s first: %+v", name, e.ID, g.bank[0].ID, f)
			}
			if got := slices.Compact(members.repeated(c)); len(got) != 1 || g.bank[got[0]].ID != e.ID {
				t.Errorf("%s repeats %s, bank of %s first: problems %v", name, e.ID, g.bank[0].ID, got)
			}
		}
		other := strings.ReplaceAll(strings.ReplaceAll(text, "the same shop", "one brand alone"), "the platform", "one list alone")
		if f := g.Check(Candidate{Text: "Where can I buy a hammock?", Results: []string{other}}); f.Drop {
			t.Errorf("a result with another voucher, bank of %s first: %+v", g.bank[0].ID, f)
		}
	}
}
