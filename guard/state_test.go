package guard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	arena "github.com/trajectory-arena/arena"
)

func split(t testing.TB, problems []arena.Problem, prior *State, seed uint64) *State {
	t.Helper()
	s, err := Split(t.Context(), clustered(t, problems), prior, DefaultShares(), seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func count(s *State) map[Pool]int {
	n := map[Pool]int{}
	for _, c := range s.Clusters {
		n[c.Pool]++
	}
	return n
}

func TestSplitFillsEveryPool(t *testing.T) {
	t.Parallel()
	for n := 3; n < 40; n++ {
		for seed := range uint64(5) {
			pools := count(split(t, things(n), nil, seed))
			if pools[PoolTrain] < 1 || pools[PoolEval] < 1 || pools[PoolNeverTouch] < 1 {
				t.Fatalf("%d problems, seed %d: %v", n, seed, pools)
			}
		}
	}
	if err := split(t, things(2), nil, 1).CheckPools(); !errors.Is(err, ErrFewClusters) {
		t.Errorf("two clusters: %v", err)
	}
}

// TestSplitLeavesPoolsWithoutShareEmpty checks that a share of 0 keeps back no cluster.
func TestSplitLeavesPoolsWithoutShareEmpty(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shares Shares
		empty  []Pool
	}{
		{Shares{Eval: 0.3}, []Pool{PoolNeverTouch}},
		{Shares{NeverTouch: 0.3}, []Pool{PoolEval}},
		{Shares{}, []Pool{PoolEval, PoolNeverTouch}},
	} {
		needed := 3 - len(c.empty)
		for n := 0; n < 12; n++ {
			s, err := Split(t.Context(), clustered(t, things(n)), nil, c.shares, uint64(n))
			if err != nil {
				t.Fatal(err)
			}
			if err = s.CheckPools(); errors.Is(err, ErrFewClusters) != (n < needed) {
				t.Errorf("%+v, %d clusters: %v", c.shares, n, err)
			}
			pools := count(s)
			for _, p := range []Pool{PoolTrain, PoolEval, PoolNeverTouch} {
				if isEmpty := slices.Contains(c.empty, p); n >= needed && (pools[p] == 0) != isEmpty {
					t.Errorf("%+v, %d clusters: %v", c.shares, n, pools)
				}
			}
		}
	}
}

func TestSplitKeepsItsShares(t *testing.T) {
	t.Parallel()
	pools := count(split(t, things(600), nil, 7))
	if pools[PoolEval] < 60 || pools[PoolEval] > 120 || pools[PoolNeverTouch] < 15 || pools[PoolNeverTouch] > 50 {
		t.Errorf("pools %v of 600", pools)
	}
}

func TestSplitKeepsAssignedPools(t *testing.T) {
	t.Parallel()
	problems := things(120)
	first := split(t, problems[:60], nil, 3)
	next := split(t, problems[30:], first, 4)
	for _, c := range first.Clusters {
		for _, spec := range c.Problems {
			if got := next.Pool(spec); got != c.Pool {
				t.Errorf("problem %s moved from %q to %q", spec[:8], c.Pool, got)
			}
		}
	}
	if len(next.Clusters) != 120 {
		t.Errorf("%d clusters, want all 120 kept", len(next.Clusters))
	}
}

func TestMergedClusterIsMostProtected(t *testing.T) {
	t.Parallel()
	problems := things(60)
	first := split(t, problems, nil, 3)
	var train, protected int
	for i, p := range problems {
		switch first.Pool(SpecHash(p)) {
		case PoolTrain:
			train = i
		case PoolNeverTouch:
			protected = i
		case PoolEval:
		}
	}
	bridge := problem("one request for both of them", problems[train].Rewards[0].ProductID, problems[protected].Rewards[0].ProductID)
	next := split(t, append(slices.Clone(problems), bridge), first, 3)
	for _, p := range []arena.Problem{problems[train], problems[protected], bridge} {
		if got := next.Pool(SpecHash(p)); got != PoolNeverTouch {
			t.Errorf("%q is in %q", p.Query, got)
		}
	}
}

func TestStateRoundTrip(t *testing.T) {
	t.Parallel()
	s := split(t, things(20), nil, 9)
	b := s.Encode()
	read, err := ReadState(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	again := read.Encode()
	if !bytes.Equal(b, again) {
		t.Error("reading and writing changes the state")
	}
	if len(read.Protected("x")) == 0 {
		t.Error("nothing is protected")
	}
}

func TestReadStateRejectsInvalid(t *testing.T) {
	t.Parallel()
	b := split(t, things(5), nil, 1).Encode()
	good := string(b)
	spec := good[strings.Index(good, `"id": "`)+7:][:64]
	for name, bad := range map[string]string{
		"version":     strings.Replace(good, StateSchema, "arena.bank.v9", 1),
		"unknown key": strings.Replace(good, `"seed"`, `"sead"`, 1),
		"pool":        strings.Replace(good, `"train"`, `"trian"`, 1),
		"hash":        strings.ReplaceAll(good, spec, "zz"+spec[2:]),
		"trailing":    good + "{}",
		"truncated":   good[:len(good)/2],
		"empty":       "",
		"shares":      strings.Replace(good, `"eval": 0.15`, `"eval": 1.5`, 1),
	} {
		if _, err := ReadState(strings.NewReader(bad)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	double := fmt.Sprintf(`{"schema":%q,"seed":1,"shares":{"eval":0.1,"never_touch":0.1},"clusters":[{"id":%q,"pool":"train","problems":[%q],"product_ids":[]},{"id":%q,"pool":"eval","problems":[%q],"product_ids":[]}]}`,
		StateSchema, spec, spec, spec, spec)
	if _, err := ReadState(strings.NewReader(double)); err == nil {
		t.Error("a problem in two clusters is accepted")
	}
}

func FuzzReadStateRoundTrip(f *testing.F) {
	b := split(f, things(4), nil, 1).Encode()
	f.Add(b)
	f.Add([]byte(`{"schema":"arena.bank.v3"}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		s, err := ReadState(bytes.NewReader(file))
		if err != nil {
			return
		}
		again := s.Encode()
		if _, err := ReadState(bytes.NewReader(again)); err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
	})
}

func TestSharesValidateListsEveryFault(t *testing.T) {
	t.Parallel()
	err := Shares{Eval: -1, NeverTouch: 2.5}.Validate()
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("error %v does not name three faults", err)
	}
}

func TestSplitStopsWithContext(t *testing.T) {
	t.Parallel()
	problems := things(40)
	prior := split(t, problems[:30], nil, 1)
	clusters := clustered(t, problems)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := Split(ctx, clusters, prior, DefaultShares(), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", s, err)
	}
}
