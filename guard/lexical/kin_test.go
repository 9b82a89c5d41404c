package lexical

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/longtest"
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
	a := g.find(i)
	b := g.find(j)
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
func templatedBank(seed uint64, currency string, n int) []Request {
	r := rand.New(rand.NewPCG(seed, 4))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	var bank []Request
	for range n {
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

// listedBank are n requests of one to three goods in the words of a few templates, with numbered
// lists, vouchers, measures and prices in two currencies: nearly all of them share common words and
// small numbers.
func listedBank(seed uint64, n int) []Request {
	r := rand.New(rand.NewPCG(seed, 7))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	good := func() string {
		s := fmt.Sprintf("a %s by %s, made of %s", pick("head torch", "yoga block", "stapler", "rolling pin", "rain poncho"),
			pick("sti", "kla", "bre", "fo")+pick("gai", "ru", "poko", "zi")+pick("ne", "", "vo", "dai"), pick("cork", "linen", "rubber", "felt"))
		if r.IntN(2) == 0 {
			s += ", colour " + pick("coral", "mint", "indigo")
		}
		switch r.IntN(6) {
		case 0, 1:
			s += fmt.Sprintf(", for at most %d pesos", 100+r.IntN(900))
		case 2:
			s += fmt.Sprintf(", under %d dollars", 2+r.IntN(18))
		case 3:
			s += fmt.Sprintf(", %d%s long", 1+r.IntN(9), pick(" cm", " m", "0 cm", ""))
		}
		return s + pick("", "", ", with free shipping", ", with cash on delivery")
	}
	bank := make([]Request, n)
	for i := range bank {
		text := pick("Show me ", "Please find ", "") + good()
		if r.IntN(3) > 0 {
			text = fmt.Sprintf("%s (1) %s; (2) %s", pick("From one seller:", "Please find"), good(), good())
		}
		if r.IntN(4) == 0 {
			text += fmt.Sprintf(". I have %d pesos and a voucher of %d pesos", 1000+r.IntN(500), r.IntN(300))
		}
		bank[i] = Request{Text: text, Terms: []string{pick("Klagaine", "Foru") + " foldable torch"}}
	}
	return bank
}

// TestJoinEqualsComparedCandidatesInLargeBanks compares the join with the comparison of each request with its
// candidates, in large banks. In small banks most stems and numbers are common ones.
func TestJoinEqualsComparedCandidatesInLargeBanks(t *testing.T) {
	t.Parallel()
	for _, n := range []int{100, 600, longtest.Pick(3000, 1000)} {
		for seed := range uint64(longtest.Pick(3, 1)) {
			checkJoin(t, listedBank(seed, n))
			checkJoin(t, templatedBank(seed, "pesos", n))
		}
	}
}

// TestJoinEqualsComparedCandidates compares the join with the comparison of each request with all its
// candidates, in both directions. TestCandidatesIncludeBase checks the candidates.
func TestJoinEqualsComparedCandidates(t *testing.T) {
	t.Parallel()
	for name, bank := range map[string][]Request{
		"mixed": mixedBank(t), "pesos": templatedBank(1, "pesos", 400), "dollars": templatedBank(2, "dollars", 400),
		"twice": writtenTwice(), "both": append(templatedBank(3, "pesos", 400), templatedBank(4, "dollars", 400)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkJoin(t, bank)
		})
	}
}

func checkJoin(t *testing.T, bank []Request) {
	t.Helper()
	got := newGroups(len(bank))
	want := newGroups(len(bank))
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
	if len(firsts) < 20 || len(firsts) > len(bank)-len(bank)/100 {
		t.Errorf("%d groups of %d requests show too little", len(firsts), len(bank))
	}
}

// TestConvertedAmountsFindNearAmounts holds the look-up by ranges of amounts against a comparison with
// every amount of the bank.
func TestConvertedAmountsFindNearAmounts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 9))
	bank := []Request{{Text: "a lamp for at most 40 pesos"}}
	for range 400 {
		bank = append(bank, Request{Text: fmt.Sprintf("a lamp under %.2f %s", math.Exp(8*r.Float64()), []string{"pesos", "dollars", "cm"}[r.IntN(3)])})
	}
	x := New(bank)
	count := 0
	for range 200 {
		n := number{value: math.Exp(10 * r.Float64()), unit: money, written: -1}
		want := map[int32]bool{}
		for i, b := range x.bases {
			for _, m := range b.profile.numbers {
				if n.isSameMoney(number{value: m.value, unit: m.unit}) {
					want[int32(i)] = true
				}
			}
		}
		got := map[int32]bool{}
		for _, b := range x.basesWith(n) {
			got[b] = true
		}
		count += len(got)
		if !maps.Equal(got, want) {
			t.Fatalf("%g is near the amounts of %d requests, not of %d", n.value, len(want), len(got))
		}
	}
	if count == 0 {
		t.Error("no amount is near another one")
	}
}

// TestJoinFindsEachPair compares the pairs that a joiner finds, if no two requests are in one group, with
// those of a comparison of each request with every other one.
func TestJoinFindsEachPair(t *testing.T) {
	t.Parallel()
	for name, bank := range map[string][]Request{
		"mixed": mixedBank(t)[100:], "listed": listedBank(11, 400), "templated": templatedBank(11, "pesos", 400),
		"twice": writtenTwice(), "both": append(templatedBank(12, "pesos", 150), templatedBank(13, "dollars", 150)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := New(bank)
			lists := newJoinLists(x, len(bank))
			lists.setGroups(func(i int) int { return i })
			w := newJoiner(lists)
			distinct := x.distinctTexts(bank)
			w.findPairs(distinct, 0, 1)
			got := map[[2]int32]bool{}
			for _, pair := range w.pairs {
				got[pair] = true
			}
			if want := x.nearPairs(distinct); len(want) == 0 || !maps.Equal(got, want) {
				t.Errorf("%d pairs of requests, not %d", len(got), len(want))
			}
		})
	}
}

// writtenTwice are requests in which a number is once a bound and once a measure, and requests with it once.
func writtenTwice() (bank []Request) {
	goods := []string{"garden hose", "rope ladder", "shower curtain", "picnic rug", "window banner", "bed canopy", "floor mop"}
	properties := []string{"velvet", "braided", "folding", "padded", "coated", "woven", "quilted"}
	for i := range 300 {
		good := goods[i%len(goods)]
		size := 731 + i/len(goods)
		text := fmt.Sprintf("%s %s %s above %d pesos; %d cm", properties[i%6], properties[i%5], good, size, size)
		bank = append(bank, Request{Text: text}, Request{Text: fmt.Sprintf("%s %s of %d", properties[i%4], good[strings.Index(good, " "):], size)})
	}
	return bank
}

// nearPairs returns the pairs of a request with one of these indices and any other request that are so
// similar that the first is dropped.
func (x *Index) nearPairs(numbers []int32) map[[2]int32]bool {
	pairs := map[[2]int32]bool{}
	s := x.newScratch()
	for _, number := range numbers {
		p := x.bases[number].profile
		x.candidates(p, s)
		for i, b := range x.bases {
			base := int32(i)
			s.mark(b)
			isNear := x.features(b, p, s).score() >= dropLogOdds
			if window := x.window(b, p, s); !isNear && window != nil {
				isNear = x.compareWindow(base, window, s).score >= dropLogOdds
			}
			if isNear && base != number && x.isCovered(base, p, s) {
				pairs[[2]int32{number, base}] = true
			}
		}
	}
	return pairs
}
