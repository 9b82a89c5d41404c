package guard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	arena "github.com/trajectory-arena/arena"
)

// mixedBank are requests of every nearness: rewordings, near misses, strangers,
// and a shop's goods in the words of one template.
func mixedBank(t *testing.T) []Entry {
	t.Helper()
	bank, texts := readRewordings(t)
	for i, r := range texts {
		bank = append(bank, Entry{ID: fmt.Sprint("r", i), Text: r.text})
	}
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	for i := range 250 {
		bank = append(bank, Entry{ID: fmt.Sprint("t", i), Text: fmt.Sprintf("I am looking for a %s %s made of %s priced between %d and %d pesos",
			pick("red", "blue", "green", "black"), pick("kettle", "lamp", "desk", "phone case", "towel"), pick("steel", "cotton", "glass"),
			100+r.IntN(300), 1000+r.IntN(500))})
	}
	return bank
}

// TestJoinLexicalJoinsAsAllPairsDo holds the joining against the comparison of
// every request with every other, in both directions.
func TestJoinLexicalJoinsAsAllPairsDo(t *testing.T) {
	t.Parallel()
	bank := mixedBank(t)
	got, want := newForest(len(bank)), newForest(len(bank))
	if err := joinLexical(t.Context(), got, bank); err != nil {
		t.Fatal(err)
	}
	x := newLexicalIndex(bank)
	s := x.newScratch()
	for i, b := range x.bases {
		for _, j := range x.candidates(b.profile, s) {
			if x.judge(j, b.profile).score >= dropLogOdds {
				want.join(x.entry[i], x.entry[j])
			}
		}
	}
	groups := map[int]bool{}
	for i := range bank {
		groups[want.find(i)] = true
		if got.find(i) != want.find(i) {
			t.Errorf("%q is with %q, not with %q", bank[i].Text, bank[got.find(i)].Text, bank[want.find(i)].Text)
		}
	}
	if len(groups) < 20 || len(groups) > len(bank)-100 {
		t.Errorf("%d groups of %d requests show too little", len(groups), len(bank))
	}
}

func alikeProblems(n int) []arena.Problem {
	out := make([]arena.Problem, n)
	for i := range out {
		out[i] = problem(fmt.Sprintf("A red kettle of steel with free shipping, number %d, below 900 pesos", 1000+i), fmt.Sprint(500000+i))
	}
	return out
}

// TestAlikeProblemsAreNotComparedPairwise would take many minutes if they were.
func TestAlikeProblemsAreNotComparedPairwise(t *testing.T) {
	t.Parallel()
	if clusters := clustered(t, alikeProblems(20000)); len(clusters) != 1 {
		t.Errorf("%d clusters", len(clusters))
	}
}

func TestClustersObeyTheirContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if c, err := Clusters(ctx, things(3)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", c, err)
	}
}

func BenchmarkClusters(b *testing.B) {
	for name, problems := range map[string][]arena.Problem{"alike": alikeProblems(4000), "strangers": things(4000)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				clustered(b, problems)
			}
		})
	}
}
