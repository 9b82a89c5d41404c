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

// TestJoinEqualsAllPairs holds the joining against the comparison of
// every request with every other, in both directions.
func TestJoinEqualsAllPairs(t *testing.T) {
	t.Parallel()
	bank := mixedBank(t)
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
	if len(firsts) < 20 || len(firsts) > len(bank)-100 {
		t.Errorf("%d groups of %d requests show too little", len(firsts), len(bank))
	}
}
