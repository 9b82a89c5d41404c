package lexical

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// reworded is a text made of one request, or of its template for something else.
type reworded struct {
	base       int
	kind, text string
	other      bool
}

func readRewordings(t testing.TB) (bank []Request, texts []reworded) {
	t.Helper()
	b, err := os.ReadFile("../testdata/rewordings.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		kind, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case !ok || strings.HasPrefix(kind, "#"):
		case kind == "base":
			bank = append(bank, Request{Text: text})
		default:
			texts = append(texts, reworded{len(bank) - 1, kind, text, kind == "single" || kind == "topic"})
		}
	}
	return bank, texts
}

// public are the public test problems, by category and line.
type public struct {
	requests []Request
	products [][]string
	number   map[string]int32
}

func readPublic(t testing.TB) (p public) {
	t.Helper()
	p.number = map[string]int32{}
	for _, category := range []string{"product", "shop", "voucher"} {
		err := rows.Each(longtest.Shared(t, "data/shoppingbench/synthesize_"+category+"_test.jsonl"), func(r rows.Row) error {
			c := rows.Read(r)
			p.number[fmt.Sprintf("%s-%d", category, r.Line)] = int32(len(p.requests))
			p.requests = append(p.requests, Request{Text: c.Request, Terms: slices.Concat(c.Titles, c.Terms)})
			p.products = append(p.products, c.ItemIDs)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// TestCandidatesIncludeBase checks recall before anything is scored.
func TestCandidatesIncludeBase(t *testing.T) {
	t.Parallel()
	bank, texts := readRewordings(t)
	x := New(bank)
	s := x.newScratch()
	for _, r := range texts {
		p := newProfile(parse(r.text), s.reader(x.vocabulary))
		if !r.other && !slices.Contains(x.candidates(p, s), int32(r.base)) {
			t.Errorf("%s is no candidate of its base: %q", r.kind, r.text)
		}
	}
}

// TestPublicCandidates checks that few requests of a bank are scored for a text, and the right one
// for every rewording.
func TestPublicCandidates(t *testing.T) {
	t.Parallel()
	bank := readPublic(t)
	x, number := New(bank.requests), bank.number
	s := x.newScratch()
	texts := 0
	candidates := 0
	err := rows.Each(longtest.Shared(t, "data/leak/pairs.jsonl"), func(r rows.Row) error {
		p := newProfile(slices.Clone(parse(gjson.Get(r.JSON, "text").Str)), s.reader(x.vocabulary))
		nearest := x.candidates(p, s)
		texts, candidates = texts+1, candidates+len(nearest)
		if gjson.Get(r.JSON, "same").Bool() && !slices.Contains(nearest, number[gjson.Get(r.JSON, "base_id").Str]) {
			t.Errorf("%s is no candidate of its base", r.JSON)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if mean := float64(candidates) / float64(texts); mean > 5 {
		t.Errorf("%.2f candidates a text, want at most 5", mean)
	}
}

// TestUnrelatedPublicProblemsAreNotDropped checks that at most 2 in 100,000 pairs of public
// problems have no product in common and would be dropped for one another.
func TestUnrelatedPublicProblemsAreNotDropped(t *testing.T) {
	t.Parallel()
	bank := readPublic(t)
	x := New(bank.requests)
	s := x.newScratch()
	wrong := map[[2]int]bool{}
	candidates := 0
	for i, b := range x.bases {
		nearest := x.candidates(b.profile, s)
		candidates += len(nearest)
		for _, j := range nearest {
			related := slices.ContainsFunc(bank.products[i], func(id string) bool { return slices.Contains(bank.products[j], id) })
			if near := x.compare(j, b.profile, math.Inf(-1), s); int(j) != i && !related && near.score >= dropLogOdds {
				wrong[[2]int{min(i, int(j)), max(i, int(j))}] = true
			}
		}
	}
	pairs := len(bank.requests) * (len(bank.requests) - 1) / 2
	t.Logf("%d false pairs of %d, %.2f candidates a problem", len(wrong), pairs, float64(candidates)/float64(len(bank.requests)))
	if float64(len(wrong)) > 2e-5*float64(pairs) {
		t.Errorf("%d false pairs of %d, want at most 2 in 100,000", len(wrong), pairs)
	}
}

// TestLongTextsNeedTheSameShare compares a request of 100 words with texts of as many words, of which
// every few are another request's: hundreds of words prove no more than dozens.
func TestLongTextsNeedTheSameShare(t *testing.T) {
	t.Parallel()
	var words []string
	for _, start := range strings.Fields("dran fel gost hirm jalt kep norv pilm rusk tovel wend zarp blik crun dosk flam") {
		for _, end := range strings.Fields("ba ki lo mu ne po ri su ta ve wo xi ya") {
			words = append(words, start+end+start[:2])
		}
	}
	const n = 100
	write := func(words []string) string {
		var b strings.Builder
		for i, w := range words {
			b.WriteString(w)
			b.WriteString([]string{" of ", " of ", " of ", " of ", ". "}[i%5])
		}
		return b.String()
	}
	x := New([]Request{{Text: write(words[:n])}, {Text: write(words[n : 2*n])}})
	for percent, want := range map[int]bool{60: false, 80: true} {
		text := slices.Clone(words[n : 2*n])
		for i := range text {
			if i*percent/100 != (i+1)*percent/100 {
				text[i] = words[i]
			}
		}
		f := x.Check(write(text), DefaultDrop, func(request int) bool { return request == 1 })
		if f.Drop != want {
			t.Errorf("%d %% of the words: score %.3f, dropped %v", percent, f.Score, f.Drop)
		}
	}
}
