package yuma

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/internal/dice"
	"github.com/trajectory-arena/arena/internal/longtest"
)

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("%s is %.15g, want %.15g", name, got, want)
	}
}

// TestByHand compares the results with values computed by hand: nodes 0 to 2 hold 50, 30 and 20 of
// the stake; 0 and 1 agree on node 3, and 2 sets its weight on node 4 alone.
func TestByHand(t *testing.T) {
	t.Parallel()
	e := &Epoch{Stake: []float64{50, 30, 20, 0, 0}, Weights: [][]Weight{
		{{3, 3}, {4, 1}}, {{3, 1}, {1, 9}}, {{4, 7}}, nil, nil}}
	if err := e.Check(); err != nil {
		t.Fatal(err)
	}
	r := Compute(e, DefaultRules(), nil)
	// Node 3 has weight 0.75 from 0.5 of the stake and 1 from 0.3: at least half of the stake sets
	// 0.75. Node 4 has 1 from 0.2 and 0.25 from 0.5, therefore 0.25.
	near(t, "consensus of 3", r.Nodes[3].Consensus, 0.75)
	near(t, "consensus of 4", r.Nodes[4].Consensus, 0.25)
	near(t, "rank of 3", r.Nodes[3].Rank, 0.5*0.75+0.3*0.75)
	near(t, "rank of 4", r.Nodes[4].Rank, 0.5*0.25+0.2*0.25)
	near(t, "trust of 4", r.Nodes[4].Trust, 0.175/0.325)
	near(t, "validator trust of 2", r.Nodes[2].ValidatorTrust, 0.25)
	near(t, "incentive of 3", r.Nodes[3].Incentive, 0.6/0.775)
	near(t, "dividends of 0", r.Nodes[0].Dividends, 0.6/0.775*(0.375/0.6)+0.175/0.775*(0.125/0.175))
	near(t, "emission of 3", r.Nodes[3].Emission, 0.3/0.775)
	near(t, "clipped", r.Clipped, 1-0.775)
	if r.Validators != 3 || r.StakeShare != 1 {
		t.Errorf("%d validators with %v", r.Validators, r.StakeShare)
	}
}

func TestComputeWithoutWeights(t *testing.T) {
	t.Parallel()
	r := Compute(&Epoch{Stake: []float64{3, 1}, Weights: make([][]Weight, 2)}, DefaultRules(), nil)
	near(t, "emission by stake", r.Nodes[0].Emission, 0.75)
}

// TestSeriesMovesBondsByAlpha checks that after a change of the stake a bond moves a tenth of the
// way to its new value in an epoch, and that another series starts without bonds.
func TestSeriesMovesBondsByAlpha(t *testing.T) {
	t.Parallel()
	e := &Epoch{ID: "x-1", Stake: []float64{1, 1, 0}, Weights: [][]Weight{{{2, 1}}, {{2, 1}}, nil}}
	next := &Epoch{ID: "x-2", Stake: []float64{3, 1, 0}, Weights: e.Weights}
	results := Series([]*Epoch{e, next, {ID: "y-3", Stake: next.Stake, Weights: next.Weights}}, DefaultRules())
	near(t, "first", results[0].Bonds[0][2], 0.5)
	near(t, "second", results[1].Bonds[0][2], 0.1*0.75+0.9*0.5)
	near(t, "another series", results[2].Bonds[0][2], 0.75)
}

// subnet samples an epoch of up to 12 nodes.
func subnet(d *dice.Dice) *Epoch {
	n := 2 + d.N(11)
	e := &Epoch{Stake: make([]float64, n), Weights: make([][]Weight, n)}
	for i := range n {
		e.Stake[i] = float64(d.N(4)) * d.Share()
		if d.N(3) > 0 {
			for peer := range n {
				if d.N(2) > 0 {
					e.Weights[i] = append(e.Weights[i], Weight{peer, float64(1 + d.N(9))})
				}
			}
		}
	}
	e.Stake[d.N(n)] += 0.5
	return e
}

// TestProperties samples 10,000 subnets, without the tag long 1,000. The results do not depend on
// the unit of stake or on the numbers of the nodes, shares add up, no node receives more than its
// consensus, and validators that hold most of the stake and set the same row determine the
// consensus for any rows of the others.
func TestProperties(t *testing.T) {
	t.Parallel()
	d := dice.New(7)
	for i := range longtest.Pick(10_000, 1_000) {
		e := subnet(d)
		r := Compute(e, DefaultRules(), nil)
		incentive := 0.0
		emission := 0.0
		for _, n := range r.Nodes {
			incentive, emission = incentive+n.Incentive, emission+n.Emission
			if n.Rank > n.Consensus+1e-12 {
				t.Fatalf("case %d: node %d has rank %v, consensus leaves it %v", i, n.UID, n.Rank, n.Consensus)
			}
		}
		if math.Abs(emission-1) > 1e-9 || incentive > 1+1e-9 {
			t.Fatalf("case %d: incentive %v, emission %v", i, incentive, emission)
		}
		scaled := scale(e, 1e6*d.Share()+1e-3)
		permuted := e
		order := permutation(d, len(e.Stake))
		permuted = permute(e, order)
		for uid, n := range r.Nodes {
			sameNode(t, i, n, Compute(scaled, DefaultRules(), nil).Nodes[uid])
			sameNode(t, i, n, Compute(permuted, DefaultRules(), nil).Nodes[order[uid]])
		}
		majority(t, d, e)
	}
}

func sameNode(t *testing.T, i int, a, b Node) {
	t.Helper()
	for k, x := range []float64{a.Rank, a.Trust, a.Consensus, a.Incentive, a.ValidatorTrust, a.Dividends, a.Emission} {
		if y := []float64{b.Rank, b.Trust, b.Consensus, b.Incentive, b.ValidatorTrust, b.Dividends, b.Emission}[k]; math.Abs(x-y) > 1e-9 {
			t.Fatalf("case %d: %+v and %+v", i, a, b)
		}
	}
}

func scale(e *Epoch, factor float64) *Epoch {
	s := *e
	s.Stake = slices.Clone(e.Stake)
	for i := range s.Stake {
		s.Stake[i] *= factor
	}
	return &s
}

func permutation(d *dice.Dice, n int) []int {
	order := make([]int, n)
	for i := range order {
		j := d.N(i + 1)
		order[i], order[j] = order[j], i
	}
	return order
}

func permute(e *Epoch, order []int) *Epoch {
	p := &Epoch{Stake: make([]float64, len(order)), Weights: make([][]Weight, len(order))}
	for i, target := range order {
		p.Stake[target] = e.Stake[i]
		for _, w := range e.Weights[i] {
			p.Weights[target] = append(p.Weights[target], Weight{order[w.Target], w.Weight})
		}
	}
	return p
}

// majority assigns more than half of the stake to the first nodes, which set one row with weights
// for the others. It checks that this row is the consensus and that the weights which the minority
// sets for the first nodes give no incentive.
func majority(t *testing.T, d *dice.Dice, e *Epoch) {
	t.Helper()
	n := len(e.Stake)
	many := 1 + d.N(n-1)
	row := []Weight{}
	total := 0.0
	for peer := many; peer < n; peer++ {
		row = append(row, Weight{peer, float64(1 + d.N(5))})
		total += row[len(row)-1].Weight
	}
	others := 0.0
	for i := many; i < n; i++ {
		others += e.Stake[i]
	}
	for i := range many {
		e.Stake[i] = (others + 0.01) * (1 + d.Share()) / float64(many)
		e.Weights[i] = row
	}
	r := Compute(e, DefaultRules(), nil)
	for i, w := range row {
		if math.Abs(r.Nodes[many+i].Consensus-w.Weight/total) > 1e-12 {
			t.Fatalf("consensus of %d is %v, want %v of the majority: %+v", many+i, r.Nodes[many+i].Consensus, w.Weight/total, e)
		}
	}
	for _, n := range r.Nodes[:many] {
		if n.Incentive > 0 {
			t.Fatalf("node %d has incentive %v of a minority: %+v", n.UID, n.Incentive, e)
		}
	}
}

func TestParseRowOfBothForms(t *testing.T) {
	t.Parallel()
	epochs, err := readJSON(strings.NewReader(`{"netuid":15,"stake":[2,1,0],"weights":[[[1,2],[2,3]],[0,0,1],[]]}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = "{ 15 [2 1 0] [[{1 2} {2 3}] [{0 0} {1 0} {2 1}] []]}"
	if got := fmt.Sprint(*epochs[0]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestReadTables compares CSV and Parquet with the same epoch in JSON.
func TestReadTables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "uid,stake,target,weight\n0,2,1,2\n0,2,2,3\n1,1,2,1\n2,0,,\n"
	one := int64(1)
	w := 2.0
	two := int64(2)
	x := 3.0
	y := 1.0
	rows := []entry{{0, 2, &one, &w}, {0, 2, &two, &x}, {1, 1, &two, &y}, {2, 0, nil, nil}}
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"w.csv": text, "w.parquet": b.String(),
		"w.json": `{"stake":[2,1,0],"weights":[[[1,2],[2,3]],[[2,1]],[]]}`} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		epochs, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, Compute(epochs[0], DefaultRules(), nil).Nodes[2].Incentive, 0.6/(0.6+0.4*2/3))
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"stake":[1],"weights":[]}`:                   "1 stakes and 0 rows",
		`{"stake":[0],"weights":[[]]}`:                 "nobody has stake",
		`{"stake":[-1],"weights":[[]]}`:                "stake -1",
		`{"stake":[1],"weights":[[[5,1]]]}`:            "node 5",
		`{"stake":[1],"weights":[[[0,-1]]]}`:           "weight -1",
		`{"stake":[1,1],"weights":[[[1,1],[1,1]],[]]}`: "at most once",
		`{"stake":[1,1],"weights":[[[0.5,1]],[]]}`:     "whole number",
		"": "no epoch",
		`{"network":"a","stake":[1],"weights":[[]]}` + "\n" + `{"network":"b","stake":[1],"weights":[[]]}`: "networks",
	} {
		if _, err := readJSON(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"a,b\n":                              "it names uid",
		"uid,stake,target,weight\n0,1,7,1\n": "node 0 gives node 7",
		"uid,stake,target,weight\n0,1,,\n0,2,,\n": "has stake 1 and 2",
		"uid,stake,target,weight\n9999,1,,\n":     "uid 9999",
		"uid,stake,target,weight\n0,x,,\n":        "line 2",
	} {
		if _, err := readCSV(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	e := &Epoch{Stake: []float64{6, 4, 0, 0}, Weights: [][]Weight{{{2, 1}}, {{3, 1}}, nil, nil}}
	c, err := ParseChange("0:3=1,2=1")
	if err != nil {
		t.Fatal(err)
	}
	changed, err := e.WithChanges([]Change{c})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "before", Compute(e, DefaultRules(), nil).Nodes[3].Incentive, 0)
	near(t, "after", Compute(changed, DefaultRules(), nil).Nodes[3].Incentive, 5.0/8)
	for _, text := range []string{"", "3", "x:1=1", "3:1", "3:1=x", "3:1=2x"} {
		if _, err = ParseChange(text); err == nil {
			t.Errorf("%q is a change", text)
		}
	}
	if c, err = ParseChange("9:"); err != nil || c.Row != nil {
		t.Errorf("%+v %v", c, err)
	}
	if _, err = e.WithChanges([]Change{c}); err == nil {
		t.Error("node 9 of 4")
	}
}

// TestLoggedEpochs reads the chain's own cases and the 256 nodes of a real subnet.
func TestLoggedEpochs(t *testing.T) {
	t.Parallel()
	real := longtest.Shared(t, "data/real/yuma")
	epochs, err := Read(filepath.Join(real, "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	results := Series(epochs, DefaultRules())
	if len(results) != 10 || results[7].Bonds[3][7] == results[4].Bonds[3][7] {
		t.Errorf("%d epochs; bonds stay at %v", len(results), results[7].Bonds[3][7])
	}
	near(t, "node 7 when all agree", results[0].Nodes[7].Incentive, 65535./(16383+32767+49149+65535))
	if _, err = Read(filepath.Join(real, "metagraph_15_4769998.json")); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkCompute256(b *testing.B) {
	d := dice.New(1)
	e := &Epoch{Stake: make([]float64, 256), Weights: make([][]Weight, 256)}
	for i := range e.Stake {
		e.Stake[i] = d.Share()
		for peer := range 256 {
			e.Weights[i] = append(e.Weights[i], Weight{peer, d.Share()})
		}
	}
	for b.Loop() {
		Compute(e, DefaultRules(), nil)
	}
}

// FuzzParse checks that a line is rejected or an epoch whose shares add up.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"stake":[2,1,0],"weights":[[[1,2],[2,3]],[0,0,1],[]]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := parse(b)
		if err != nil {
			return
		}
		total := 0.0
		for _, n := range Compute(e, DefaultRules(), nil).Nodes {
			total += n.Emission
		}
		if math.Abs(total-1) > 1e-6 {
			t.Fatalf("%s: emission %v", b, total)
		}
	})
}

// TestYuma3 computes the dividends of two scenarios by the parameters that the tests of the
// chain (opentensor/subtensor, 30 June 2026) use, and compares them with the figures of these
// tests, which have four decimals. In the first, three validators move from node 3 to node 4,
// the largest one first. In the second, without liquid alpha, one validator leaves for one epoch.
func TestYuma3(t *testing.T) {
	t.Parallel()
	const parameters = `{"kappa":32767,"bonds_moving_avg":975000,"bonds_penalty":0,"liquid_alpha_enabled":%t,
		"alpha_low":6553,"alpha_high":19660,"alpha_sigmoid_steepness":1000,"yuma_version":3}`
	for _, c := range []struct {
		liquid bool
		stake  []float64
		// votes has, for each epoch, the node for which each validator sets its weight.
		votes [][3]int
		want  [][3]float64
	}{
		{
			true, []float64{8, 1, 1, 0, 0},
			[][3]int{{3, 3, 3}, {4, 3, 3}, {4, 4, 3}, {4, 4, 4}, {4, 4, 4}, {4, 4, 4}},
			[][3]float64{{0.8, 0.1, 0.1}, {1, 0, 0}, {0.9382, 0.0618, 0}, {0.8819, 0.0773, 0.0407}, {0.8564, 0.0844, 0.0592}, {0.8418, 0.0884, 0.0697}},
		},
		{
			false, []float64{33, 33, 34, 0, 0},
			[][3]int{{3, 3, 3}, {3, 3, 3}, {3, 3, 4}, {3, 3, 3}, {3, 3, 3}, {3, 3, 3}},
			[][3]float64{{0.33, 0.33, 0.34}, {0.33, 0.33, 0.34}, {0.3734, 0.3734, 0.2532}, {0.3611, 0.3611, 0.2779}, {0.3541, 0.3541, 0.2919}, {0.3495, 0.3495, 0.3009}},
		},
	} {
		r, err := ParseRules(fmt.Appendf(nil, parameters, c.liquid))
		if err != nil {
			t.Fatal(err)
		}
		var epochs []*Epoch
		for i, votes := range c.votes {
			e := &Epoch{ID: fmt.Sprintf("x-%d", i+1), Stake: c.stake, Weights: make([][]Weight, 5)}
			for v, node := range votes {
				e.Weights[v] = []Weight{{node, 1}}
			}
			epochs = append(epochs, e)
		}
		for i, result := range Series(epochs, r) {
			for v, want := range c.want[i] {
				if got := result.Nodes[v].Dividends; math.Abs(got-want) > 1e-4 {
					t.Errorf("%s, epoch %d, validator %d: %.5f, want %.4f", r, i+1, v, got, want)
				}
			}
		}
	}
}

// TestBondsPenalty checks that with penalty 0 a validator's weight above the consensus counts for
// its bond.
func TestBondsPenalty(t *testing.T) {
	t.Parallel()
	e := &Epoch{Stake: []float64{6, 4, 0, 0}, Weights: [][]Weight{{{2, 1}}, {{2, 1}, {3, 1}}, nil, nil}}
	for penalty, want := range map[float64]float64{0: 1, 1: 0} {
		r := DefaultRules()
		r.BondsPenalty = penalty
		near(t, "bond in 3", Compute(e, r, nil).Bonds[1][3], want)
	}
}

func TestParseRules(t *testing.T) {
	t.Parallel()
	r, err := ParseRules([]byte(`{"kappa":32767,"bonds_moving_avg":900000,"unknown":[1]}`))
	if err != nil || math.Abs(r.BondAlpha-0.1) > 1e-12 || math.Abs(r.Kappa-0.5) > 1e-4 || r.Yuma3 {
		t.Errorf("%+v %v", r, err)
	}
	for text, want := range map[string]string{
		`{"kappa":0.5}`:                       "as the chain does",
		`{"bonds_penalty":70000}`:             "0 to 65535",
		`{"alpha_low":60000,"alpha_high":10}`: "is above alpha_high",
		`{"alpha_low":60000}`:                 "is above alpha_high",
		`[]`:                                  "read hyperparameters",
	} {
		if _, err := ParseRules([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
