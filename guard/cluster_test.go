package guard

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	arena "github.com/trajectory-arena/arena"
)

func problem(query string, products ...string) arena.Problem {
	p := arena.Problem{Query: query}
	for _, id := range products {
		p.Rewards = append(p.Rewards, arena.Reward{ProductID: id, Titles: []string{"title of " + id}})
	}
	return p
}

// things returns distinct problems: each asks for another item.
func things(n int) []arena.Problem {
	out := make([]arena.Problem, n)
	for i := range out {
		out[i] = problem(fmt.Sprintf("A qua%cx%cle from the brand zor%cp%cm for %d pesos", 'a'+i%26, 'a'+i/26%26, 'a'+i%26, 'a'+i/26, 1000+37*i), fmt.Sprint(500000+i))
	}
	return out
}

func TestClustersJoinByProductAndText(t *testing.T) {
	t.Parallel()
	problems := []arena.Problem{
		problem("A red kettle of 2 liters under 900 pesos", "1000001"),
		problem("Socks for hiking, merino wool, three pairs", "1000002", "1000003"),
		problem("Warm socks made of merino", "1000003"),
		problem("a RED kettle,  of 2 liters under 900 pesos", "1000004"),
		problem("I want a kettle in red that holds 2 liters, cheaper than 900 pesos", "1000005"),
		problem("A violin bow of carbon fibre", "1000006"),
	}
	clusters := clustered(t, problems)
	var got []string
	for _, c := range clusters {
		got = append(got, fmt.Sprint(membersOf(&c, problems)))
		if c.ID != c.Problems[0] || !slices.IsSorted(c.Problems) {
			t.Errorf("id %s is not the smallest of %v", c.ID, c.Problems)
		}
	}
	slices.Sort(got)
	if want := []string{"[0 3 4]", "[1 2]", "[5]"}; !slices.Equal(got, want) {
		t.Errorf("clusters %v, want %v", got, want)
	}
}

func TestClustersDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	bank, texts := readRewordings(t)
	var problems []arena.Problem
	for i, r := range texts {
		problems = append(problems, problem(r.text, fmt.Sprint("p", i/3)))
	}
	for _, e := range bank {
		problems = append(problems, problem(e.Text))
	}
	want := named(t, problems)
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(problems), func(i, j int) { problems[i], problems[j] = problems[j], problems[i] })
	if got := named(t, problems); !slices.Equal(got, want) {
		t.Error("another order of requests has other clusters")
	}
	more := named(t, append(problems, things(40)...))
	for _, c := range want {
		if !slices.Contains(more, c) {
			t.Errorf("strangers changed the cluster %s", c)
		}
	}
}

func clustered(t testing.TB, problems []arena.Problem) []StateCluster {
	t.Helper()
	c, err := Clusters(t.Context(), problems)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// membersOf are the positions of a cluster's problems.
func membersOf(c *StateCluster, problems []arena.Problem) (indexes []int) {
	for i, p := range problems {
		if slices.Contains(c.Problems, SpecHash(p)) {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// named describes clusters by their members' requests.
func named(t *testing.T, problems []arena.Problem) []string {
	t.Helper()
	var out []string
	for _, c := range clustered(t, problems) {
		members := []string{c.ID}
		for _, i := range membersOf(&c, problems) {
			members = append(members, problems[i].Query)
		}
		slices.Sort(members)
		out = append(out, strings.Join(members, "|"))
	}
	return out
}

func TestSpecHashDependsOnRewardOnly(t *testing.T) {
	t.Parallel()
	a := problem("one way to say it", "77")
	b := problem("another way", "77")
	if SpecHash(a) != SpecHash(b) {
		t.Error("the request changes the hash")
	}
	high := 5.0
	c := problem("one way to say it", "77")
	c.Rewards[0].Prices = []arena.PriceBound{{Mode: "less than", High: &high}}
	if SpecHash(c) == SpecHash(a) {
		t.Error("a price does not change the hash")
	}
	two := problem("q", "1", "2")
	turned := problem("q", "2", "1")
	if SpecHash(two) != SpecHash(turned) {
		t.Error("the order of rewards changes the hash")
	}
	if SpecHash(problem("Only a REQUEST")) != SpecHash(problem("only a request!")) {
		t.Error("a request without reward is not normalised")
	}
}

// templated returns problems as a generator writes them: in three templates, with few goods, makers
// and colours, so that many of them are near one another.
func templated(n int) []arena.Problem {
	r := rand.New(rand.NewPCG(5, 6))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	out := make([]arena.Problem, n)
	for i := range out {
		thing := pick("fountain pen", "yoga block", "bicycle bell", "garden trowel", "desk lamp", "tool box", "phone case", "camp stove")
		maker := pick("tisa", "gipu", "rebe", "festo", "oze") + pick("pas", "tai", "bopai", "sume", "kla") + pick("ne", "bu", "si", "dai")
		ask := pick("Please find a %s by %s, made of %s, colour %s.", "I need a %s from %s in %s, %s one please", "Looking for a %s (brand %s), %s, shade %s")
		out[i] = problem(fmt.Sprintf(ask, thing, maker, pick("rubber", "glass", "felt", "copper", "cork"), pick("amber", "coral", "teal", "navy", "rose")), fmt.Sprint(1_000_000+i))
	}
	return out
}

// TestProductsOfALargeClusterAreListedOnce checks that a cluster lists its products once. If each
// request listed all of them, a cluster of thousands would have millions.
func TestProductsOfALargeClusterAreListedOnce(t *testing.T) {
	t.Parallel()
	problems := templated(2000)
	state, err := Split(t.Context(), clustered(t, problems), nil, Shares{Eval: 0.5}, 1)
	if err != nil {
		t.Fatal(err)
	}
	largest := 0
	entries := state.Protected("bank")
	products := 0
	for _, c := range state.Clusters {
		largest = max(largest, len(c.Problems))
	}
	for _, e := range entries {
		products += len(e.ItemIDs)
	}
	if largest < 50 || products == 0 || products > len(problems) {
		t.Errorf("%d protected requests list %d products; the largest cluster has %d problems", len(entries), products, largest)
	}
}
