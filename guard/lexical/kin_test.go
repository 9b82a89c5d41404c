package lexical

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// groups names for each request the first of its group.
type groups []int

func newGroups(n int) groups {
	g := make(groups, n)
	for i := range g {
		g[i] = i
	}
	return g
}

func (g groups) find(i int) int {
	for g[i] != i {
		i = g[i]
	}
	return i
}

func (g groups) join(i, j int) {
	a, b := g.find(i), g.find(j)
	g[max(a, b)] = min(a, b)
}

// mixedBank are requests of every nearness: rewordings, near misses, strangers,
// and a shop's goods in the words of one template.
func mixedBank(t *testing.T) []Request {
	t.Helper()
	bank, texts := readRewordings(t)
	for _, r := range texts {
		bank = append(bank, Request{Text: r.text})
	}
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	for range 250 {
		bank = append(bank, Request{Text: fmt.Sprintf("I am looking for a %s %s made of %s priced between %d and %d pesos",
			pick("red", "blue", "green", "black"), pick("kettle", "lamp", "desk", "phone case", "towel"), pick("steel", "cotton", "glass"),
			100+r.IntN(300), 1000+r.IntN(500))})
	}
	return bank
}

// templatedBank are requests of made-up brands with prices in this currency: most pairs share frequent
// words only, and many share a number or the start of a brand.
func templatedBank(seed uint64, currency string) []Request {
	r := rand.New(rand.NewPCG(seed, 4))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	var bank []Request
	for range 400 {
		brand := pick("ti", "sa", "gi", "pure") + pick("fe", "sto", "ze", "pas") + pick("", "bo", "kla")
		item := fmt.Sprintf("%s by %s, made of %s, colour %s", pick("fountain pen", "desk lamp", "rain coat", "phone case", "tea kettle"),
			brand, pick("rubber", "bamboo", "walnut", "steel"), pick("amber", "teal", "ivory", "olive"))
		if r.IntN(2) == 0 {
			item += fmt.Sprintf(", for at most %d %s", 40+r.IntN(60), currency)
		}
		if r.IntN(4) == 0 {
			item += ", with free shipping, pack of " + pick("2", "3", "12")
		}
		bank = append(bank, Request{Text: pick("Please find a ", "I need a ", "") + item, Terms: []string{brand + " rustic pen"}})
	}
	return bank
}

// TestJoinEqualsAllPairs holds the joining against the comparison of
// every request with every other, in both directions.
func TestJoinEqualsAllPairs(t *testing.T) {
	t.Parallel()
	for name, bank := range map[string][]Request{
		"mixed": mixedBank(t), "pesos": templatedBank(1, "pesos"), "dollars": templatedBank(2, "dollars"),
		"both": append(templatedBank(3, "pesos"), templatedBank(4, "dollars")...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkJoin(t, bank)
		})
	}
}

func checkJoin(t *testing.T, bank []Request) {
	t.Helper()
	got, want := newGroups(len(bank)), newGroups(len(bank))
	if err := Join(t.Context(), bank, got.find, got.join); err != nil {
		t.Fatal(err)
	}
	x := New(bank)
	s := x.newScratch()
	for i, b := range x.bases {
		for _, j := range x.candidates(b.profile, s) {
			if near := x.compare(j, b.profile, math.Inf(-1), s); near.score >= dropLogOdds {
				want.join(x.entry[i], x.entry[j])
			}
		}
	}
	firsts := map[int]bool{}
	for i := range bank {
		firsts[want.find(i)] = true
		if got.find(i) != want.find(i) {
			t.Errorf("%q is with %q, not with %q", bank[i].Text, bank[got.find(i)].Text, bank[want.find(i)].Text)
		}
	}
	t.Logf("%d groups of %d requests", len(firsts), len(bank))
	if len(firsts) < 20 || len(firsts) > len(bank)-10 {
		t.Errorf("%d groups of %d requests show too little", len(firsts), len(bank))
	}
}
