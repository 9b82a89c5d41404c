package guard

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// lunchBox and its rewording have different gold products.
var (
	lunchBox  = problem("Looking for a stainless steel lunch box with three compartments, leakproof, priced from 240 to 515 PHP.", "8800000001")
	rewording = problem("My kid keeps spilling curry. I want a stainless steel lunchbox, 3 sections, leak-proof, from ₱240 up to ₱515.", "8800000002")
)

// dayWithEval splits a day whose lunch box is evaluated on.
func dayWithEval(t *testing.T) *State {
	t.Helper()
	day := append(things(30), lunchBox)
	for seed := range uint64(200) {
		if s := split(t, day, nil, seed); s.Pool(SpecHash(lunchBox)) == PoolEval {
			return s
		}
	}
	t.Fatal("no seed evaluates on the lunch box")
	return nil
}

func TestRewordingOfAnEarlierDayIsProtected(t *testing.T) {
	t.Parallel()
	first := dayWithEval(t)
	b := first.Encode()
	prior, err := ReadState(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	today := append(things(20), rewording)
	next := split(t, today, prior, 5)
	if got := next.Pool(SpecHash(rewording)); got != PoolEval {
		t.Errorf("the rewording is in %q", got)
	}
	slices.Reverse(today)
	forth := next.Encode()
	back := split(t, today, prior, 5).Encode()
	if !bytes.Equal(forth, back) {
		t.Error("the order of problems changes the state")
	}
	for _, c := range next.Clusters {
		if slices.Contains(c.Problems, SpecHash(rewording)) && !slices.Equal(c.Texts, []string{lunchBox.Query, rewording.Query}) {
			t.Errorf("texts of the merged cluster: %q", c.Texts)
		}
	}
}

func TestBankAloneProtectsByText(t *testing.T) {
	t.Parallel()
	state := dayWithEval(t)
	g, err := New(state.Protected("bank"), Config{})
	if err != nil {
		t.Fatal(err)
	}
	if f := g.Check(Candidate{Text: rewording.Query}); f.Tier != TierLexical || !f.Drop {
		t.Errorf("finding %+v", f)
	}
}

func TestStateEncodesTexts(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("a", 64)
	s := State{Schema: StateSchema, Shares: DefaultShares(), Clusters: []StateCluster{
		{ID: id, Pool: PoolEval, Problems: []string{id}, ItemIDs: []string{}, Texts: []string{"a kettle", "one kettle"}}}}
	b := s.Encode()
	good := string(b)
	if want := "\"texts\": [\n    \"a kettle\",\n    \"one kettle\"\n   ]"; !strings.Contains(good, want) {
		t.Errorf("state %s lacks %s", good, want)
	}
	if _, err := ReadState(strings.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"order": strings.Replace(good, "a kettle", "z kettle", 1),
		"empty": strings.Replace(good, "a kettle", "", 1),
	} {
		if _, err := ReadState(strings.NewReader(bad)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
