package distil

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/dice"
	"github.com/trajectory-arena/arena/internal/longtest"
)

const (
	sample    = "../../testdata/contest/distil/"
	published = "data/real/distil" // in the folder shared
)

// replayed reads a folder of rounds and replays them.
func replayed(t *testing.T, folder, scores string) ([]*Round, *Report) {
	t.Helper()
	rounds, err := ReadRounds(filepath.Join(folder, "rounds.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	states, err := ReadStates(filepath.Join(folder, scores))
	if err != nil {
		t.Fatal(err)
	}
	return rounds, ReplayAll(rounds, states)
}

// TestSample replays a small synthetic contest: a correct winner with a forged and a copied student
// as opponents, a round in which the king stays, and one whose published winner differs.
func TestSample(t *testing.T) {
	t.Parallel()
	rounds, r := replayed(t, sample, "scores.jsonl")
	var messages []string
	for _, p := range r.Rounds {
		messages = append(messages, p.ID, p.Winner, p.Published, p.Evidence, p.Outcome)
	}
	const wantRounds = "r1 alder/one 2 named agrees r2 alder/one 2 named agrees r3 willow/three 9 rescored explained"
	if got := strings.Join(messages, " "); got != wantRounds {
		t.Errorf("%s, want %s", got, wantRounds)
	}
	if reasons := r.Rounds[2].Why; len(reasons) != 1 || !strings.HasPrefix(reasons[0], "stale score: uid 9") {
		t.Errorf("%q", reasons)
	}
	var flags []string
	for _, f := range r.Flags {
		flags = append(flags, f.Model, f.Kind)
	}
	const wantFlags = "sedge/flat forged rush/again copy moss/none published"
	if got := strings.Join(flags, " "); got != wantFlags {
		t.Errorf("%s, want %s", got, wantFlags)
	}
	if r.Means != 10 || r.MeansEqual != 10 || r.Stops != 1 || r.StopsEqual != 1 || r.Network != "finney" {
		t.Errorf("%+v", r)
	}
	scores, err := ReadScores(sample + "benchmarks.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	c := Correlate(rounds, scores)
	if len(c) != 1 || c[0].Spearman.N != 4 || math.Abs(float64(c[0].Spearman.Value)-0.2) > 1e-9 {
		t.Errorf("%+v", c)
	}
}

// TestPublishedRounds compares the replay with what subnet 97 published in March
// and April 2026.
func TestPublishedRounds(t *testing.T) {
	t.Parallel()
	rounds, r := replayed(t, longtest.Shared(t, published), "score_series.jsonl")
	students := 0
	kls := 0
	for _, x := range rounds {
		students += len(x.Eval.Students)
		for i := range x.Eval.Students {
			kls += len(x.Eval.Students[i].KLs)
		}
	}
	if len(rounds) != 29 || students != 172 || kls != 12_453 {
		t.Errorf("%d files, %d students, %d KLs", len(rounds), students, kls)
	}
	if r.Means != 170 || r.MeansEqual != 170 {
		t.Errorf("%d of %d means", r.MeansEqual, r.Means)
	}
	if r.Known != 24 || math.Abs(float64(r.Agreed.Value)-20./24) > 1e-9 || r.Explained != 4 {
		t.Errorf("%d decisions, %v agree, %d explained", r.Known, r.Agreed, r.Explained)
	}
	causes := map[string]int{}
	for _, p := range r.Rounds {
		for _, reason := range p.Why {
			cause, _, _ := strings.Cut(reason, ":")
			causes[cause]++
		}
	}
	if causes["stale score"] != 2 || causes["forged"] != 1 || causes["polluted file"] != 1 {
		t.Errorf("%v", causes)
	}
	flagged := map[string]string{}
	for _, f := range r.Flags {
		flagged[f.Round+" "+f.UID] += f.Kind
	}
	for model, kind := range map[string]string{"e58690f9 210": "forged", "ac744a08 179": "copy", "93e1e9f3 185": "copy", "7d051aae 18": "kl"} {
		if flagged[model] != kind {
			t.Errorf("%s is flagged %q, want %q", model, flagged[model], kind)
		}
	}
	if len(r.Flags) != 11 {
		t.Errorf("%d flags: %+v", len(r.Flags), r.Flags)
	}
	if r.Stops != 18 || r.StopsEqual != 8 {
		t.Errorf("%d of %d stops", r.StopsEqual, r.Stops)
	}
}

// TestSimulatedRates checks each rule against its parameters where the
// noise is real: the t-test keeps its level, the margin costs power, prompts help.
func TestSimulatedRates(t *testing.T) {
	t.Parallel()
	rounds, _ := replayed(t, longtest.Shared(t, published), "score_series.jsonl")
	simulated, err := Simulate(rounds, []Rule{kl, tTest, margin, composite}, []int{40, 100, 300}, []float64{0, 0.05}, 40)
	if err != nil || len(simulated) != 18 {
		t.Fatalf("%d rates: %v", len(simulated), err)
	}
	for _, s := range simulated {
		if s.Challenger.Low > s.Challenger.Value || s.Challenger.High < s.Challenger.Value || s.FromRounds != 22 || s.FromPairs != 107 {
			t.Errorf("%+v", s)
		}
	}
	test := func(r Rule, n int, better float64) Simulated {
		one, err := Simulate(rounds, []Rule{r}, []int{n}, []float64{better}, 40)
		if err != nil {
			t.Fatal(err)
		}
		return one[0]
	}
	if s := test(tTest, 300, 0); s.Challenger.Low > 0.05 || s.Challenger.High < 0.05 {
		t.Errorf("a t-test at 0.05 crowns %v", s.Challenger)
	}
	relative := test(kl, 40, 0)
	withMargin := test(margin, 100, 0)
	if relative.Round.Low < withMargin.Round.High {
		t.Errorf("1 %% at 40 prompts dethrones falsely in %v rounds, t-test with margin at 100 in %v", relative.Round, withMargin.Round)
	}
	few := test(margin, 100, 0.05)
	many := test(margin, 300, 0.05)
	if few.Challenger.Value > many.Challenger.Value {
		t.Errorf("power falls with prompts: %v, %v", few.Challenger, many.Challenger)
	}
	if s := test(margin, 40, 0.05); s.Challenger.Value != 0 {
		t.Errorf("40 prompts are below the least: %v", s.Challenger)
	}
}

// The rules of four versions that differ in kind; composite has equal weights and no floor.
var (
	kl        = Versions[0].Rule
	tTest     = Versions[1].Rule
	margin    = Versions[5].Rule
	composite = Rule{Kind: Composite, Margin: 0.05, Bottom: 0.75, Worst: 3}
)

// student is a scored one with these KLs.
func student(model string, kls ...float64) Student {
	return Student{Model: model, KLs: kls, Published: math.NaN()}
}

func TestRules(t *testing.T) {
	t.Parallel()
	d := dice.New(3)
	king := student("king")
	near := student("near")
	far := student("far")
	for range 120 {
		kl := 0.05 + d.Share()/10
		king.KLs = append(king.KLs, kl)
		near.KLs = append(near.KLs, 0.985*kl+d.Share()/1e4)
		far.KLs = append(far.KLs, 0.94*kl+d.Share()/1e4)
	}
	axes := func(s Student, v ...float64) Student {
		s.Axes = map[string]float64{"a": v[0], "b": v[1], "c": v[2], "d": v[3]}
		return s
	}
	for _, c := range []struct {
		rule       Rule
		king, near Student
		far        Student
		want       string
	}{
		{kl, king, near, far, "far"},
		{tTest, king, near, student("far", far.KLs[:1]...), "near"},
		{margin, king, near, far, "far"},
		{margin, king, near, student("far", far.KLs[:99]...), "king"},
		{Rule{Kind: Relative, Epsilon: 0.5}, king, near, far, "king"},
		{composite, axes(king, 0.5, 0.5, 0.5, 0.5), axes(near, 0.5, 0.5, 0.5, 0.6), axes(far, 0.53, 0.53, 0.53, 0.53), "far"},
		{Rule{Kind: Composite, Margin: 0.05, Bottom: 0.75, Worst: 3, Weights: map[string]float64{"d": 1}}, axes(king, 0.5, 0.5, 0.5, 0.5),
			axes(near, 0.1, 0.1, 0.1, 0.9), axes(far, 1, 1, 1, 0.5), "near"},
		{composite, king, near, far, "king"},
	} {
		if got := c.rule.decide(&c.king, []Student{c.king, c.near, c.far}, nil); got.Model != c.want {
			t.Errorf("%s: %s is king, want %s", c.rule.String(), got.Model, c.want)
		}
	}
	four := axes(king, 0.2, 0.4, 0.6, 1)
	if got := composite.composite(&four); math.Abs(got-0.4375) > 1e-12 {
		t.Errorf("composite %v", got)
	}
}

func TestSuspects(t *testing.T) {
	t.Parallel()
	e := Eval{Vocabulary: 10, Students: []Student{
		student("a", 0.1, 0.2, 0.3), student("two equal", 0.1, 0.2), student("two points", 0.4, 0.4),
		{Model: "large", KLs: []float64{0.1, 0.3}, Parameters: 6e9},
		{Model: "other words", KLs: []float64{0.1, 0.31}, Vocabulary: 11},
		{Model: "hash", KLs: []float64{0.1, 0.32}, Hash: "x"}, {Model: "hash again", KLs: []float64{0.2, 0.32}, Hash: "x"},
		student("far", 3, 4), student("unlike", 0.1, 0.25), student("broken", math.Inf(1), math.Inf(1), math.Inf(1)),
	}}
	var got []string
	for _, f := range e.suspects("r") {
		got = append(got, f.Model+": "+f.Kind)
	}
	want := "two equal: copy, large: size, other words: vocabulary, hash again: copy, far: kl, broken: kl"
	if strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestMissingExtremesAreNoEvidence checks that students whose file lacks the minimum KLs are not taken
// for copies because of equal maximum KLs.
func TestMissingExtremesAreNoEvidence(t *testing.T) {
	t.Parallel()
	for least, want := range map[string]int{`"kl_min":0.01,`: 1, "": 0} {
		e, err := parseEval(fmt.Sprintf(`{"students":{"a":{"kl_per_prompt":[{"kl_mean":0.1,%[1]s"kl_max":0.5,"n_positions":200}]},
			"b":{"kl_per_prompt":[{"kl_mean":0.2,%[1]s"kl_max":0.5,"n_positions":200}]}}}`, least))
		if err != nil {
			t.Fatal(err)
		}
		if flags := e.suspects("r"); len(flags) != want {
			t.Errorf("with %q: %+v", least, flags)
		}
	}
}

// TestReadRejectsInvalidFiles reads every kind of invalid input.
func TestReadRejectsInvalidFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("e.json", `{"students":{"a":{"kl_per_prompt":[1,2]}}}`)
	write("word.json", `{"students":{"a":{"kl_per_prompt":["x"]}}}`)
	write("list.json", `[1]`)
	for line, want := range map[string]string{
		`{"eval":"x","file":"../e.json"}`:                                                    "does not lie beside",
		`{"eval":"x","file":"no.json"}`:                                                      "no such file",
		`{"eval":"x","file":"word.json"}`:                                                    "its KL is no number",
		`{"eval":"x","file":"list.json"}`:                                                    "no students",
		`{"eval":"x","file":"e.json","rule_in_force":{"kind":"luck"}}`:                       "kinds are",
		`{"eval":"x","network":"a","file":"e.json"}` + "\n" + `{"eval":"y","file":"e.json"}`: "networks",
		``: "no rounds",
	} {
		if _, err := ReadRounds(write("rounds.jsonl", line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := ReadStates(write("s.jsonl", `{"block":2}`+"\n"+`{"block":1}`)); err == nil {
		t.Error("blocks may go back")
	}
	if _, err := ReadScores(write("b.jsonl", `{"model":"a"}`)); err == nil {
		t.Error("a result may have no benchmark")
	}
	if _, err := Simulate([]*Round{{Eval: &Eval{}}}, []Rule{kl}, []int{40}, []float64{0}, 1); err == nil {
		t.Error("noise from nothing")
	}
	rounds, err := ReadRounds(write("rounds.jsonl", `{"eval":"x","file":"e.json","block":5,"rule_in_force":{"kind":"relative"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if r := ReplayAll(rounds, nil); r.Rounds[0].Outcome != "unknown" || r.Known != 0 {
		t.Errorf("%+v", r)
	}
}

// TestReplayWithoutScores replays a round after which the next round names a winner that the rule
// does not determine.
func TestReplayWithoutScores(t *testing.T) {
	t.Parallel()
	rule := &Rule{Kind: Relative, Epsilon: 0.01}
	eval := &Eval{Students: []Student{{Model: "king", UID: "1", KLs: []float64{1, 1.1, 1.2}}, {Model: "other", UID: "2", KLs: []float64{1.1, 1.2, 1.4}}}}
	rounds := []*Round{
		{ID: "a", Block: 1, KingUID: "1", Rule: rule, Eval: eval},
		{ID: "b", Block: 2, KingUID: "2", Rule: rule, Eval: eval},
	}
	r := ReplayAll(rounds, nil).Rounds[0]
	if r.Outcome != "unexplained" || r.Published != "2" || r.Evidence != "named" || len(r.Why) > 0 {
		t.Errorf("%+v", r)
	}
}

// TestAKingWithoutPromptsDecidesNothing checks that a rule by KL has no winner, and no share of
// draws that confirm one, if the king's KL is unknown.
func TestAKingWithoutPromptsDecidesNothing(t *testing.T) {
	t.Parallel()
	rule := &Rule{Kind: Relative, Epsilon: 0.01}
	eval := &Eval{Students: []Student{student("king"), student("other", 1.1, 1.2)}}
	r := ReplayAll([]*Round{{ID: "a", Block: 1, KingModel: "king", Rule: rule, Eval: eval}}, nil).Rounds[0]
	if r.Winner != "" || r.Outcome != "unknown" || r.Stability.N != 0 || !slices.Contains(r.Unchecked, unknownKL) {
		t.Errorf("%+v", r)
	}
}

// TestAWinnerWithoutUID checks that a round whose winner has no known uid is compared with nothing,
// also if a flag or the scores would explain another king.
func TestAWinnerWithoutUID(t *testing.T) {
	t.Parallel()
	rule := &Rule{Kind: Relative, Epsilon: 0.01}
	for name, c := range map[string]struct {
		uid    uid
		states []State
		copied bool
	}{
		"named":      {uid: "2"},
		"a flag":     {uid: "2", copied: true},
		"scores":     {uid: "2", states: []State{{Block: 1, Scores: map[string]float64{"2": 0.5, "3": 0.4}}, {Block: 2, Scores: map[string]float64{"2": 0.5, "3": 0.4}}}},
		"scores too": {states: []State{{Block: 1, Scores: map[string]float64{"2": 0.5}}, {Block: 2, Scores: map[string]float64{"2": 0.7}}}},
	} {
		eval := &Eval{Students: []Student{{Model: "king", KLs: []float64{1, 1.1, 1.2}}, {Model: "other", KLs: []float64{0.5, 0.6, 0.7}}}}
		if c.copied {
			eval.Students = append(eval.Students, Student{Model: "copy", UID: "2", KLs: []float64{1, 1.1, 1.2}})
		}
		rounds := []*Round{{ID: "a", Block: 1, KingModel: "king", Rule: rule, Eval: eval}, {ID: "b", Block: 2, KingUID: c.uid, KingModel: "other", Rule: rule, Eval: eval}}
		r := ReplayAll(rounds, c.states)
		if r.Rounds[0].Winner != "other" || r.Rounds[0].Published != "2" || r.Rounds[0].Outcome != "unknown" || r.Known != 0 || r.Explained != 0 || r.Rounds[0].Why != nil {
			t.Errorf("%s: %+v", name, r.Rounds[0])
		}
	}
}

// TestAStudentWithoutUIDExplainsNothing has a student without a uid in the file, which may be the
// king that has a score already.
func TestAStudentWithoutUIDExplainsNothing(t *testing.T) {
	t.Parallel()
	r := &Round{KingModel: "king", Eval: &Eval{Students: []Student{{Model: "king", UID: "1", KLs: []float64{1, 1.1}}, {Model: "other", KLs: []float64{0.5, 0.6}}, {Model: "winner", UID: "3", Stopped: true}}}}
	if why := explain(r, nil, []string{"2"}, "3", map[string]float64{"2": 0.55}); why != nil {
		t.Errorf("%q", why)
	}
	if !r.Eval.hasScore("2", 0.55) {
		t.Error("a score that the round gave is older than it")
	}
}

// FuzzParseEval checks that any text is rejected or replayed.
func FuzzParseEval(f *testing.F) {
	b, err := os.ReadFile(sample + "evals/r2.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b))
	f.Add(`{"students":{"a":{"kl_per_prompt":[{"kl_mean":1,"n_positions":3}],"kl_global_avg":Infinity},"b":{"kl_per_prompt":[NaN],"axes":{"x":1}}}}`)
	f.Add(`{"students":{"":{"kl_per_prompt":[{"kl_mean":1,"n_positions":3}]}}}`)
	f.Add(`{"students":{"a":{"kl_per_prompt":[]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parseEval(text)
		if err != nil {
			return
		}
		for i := range Versions {
			r := ReplayAll([]*Round{{ID: "x", Block: 1, Rule: &Versions[i].Rule, Eval: e}}, []State{{Block: 1}, {Block: 2}})
			for _, round := range r.Rounds {
				isKnown := !slices.Contains(round.Unchecked, unknownKL)
				if isKnown != (round.Winner != "") {
					t.Fatalf("the winner is %q, unchecked is %q", round.Winner, round.Unchecked)
				}
			}
		}
	})
}

// TestFloors applies the rules of two versions to challengers with a low axis or few axes. The
// challenger's score is always sufficient.
func TestFloors(t *testing.T) {
	t.Parallel()
	axes := func(model string, n int, lowest, others float64) *Student {
		s := student(model)
		s.Axes = map[string]float64{"a": lowest}
		for i := range n - 1 {
			s.Axes[string(rune('b'+i))] = others
		}
		return &s
	}
	newest, err := Named("2026-05-16")
	if err != nil {
		t.Fatal(err)
	}
	closed := *newest
	closed.Weights = nil
	open := closed
	open.MinAxes = 3
	open.SparsePasses = true
	for _, c := range []struct {
		name       string
		rule       *Rule
		king       *Student
		challenger *Student
		refused    string
	}{
		{"good", &closed, axes("k", 6, 0.4, 0.4), axes("c", 6, 0.5, 0.9), ""},
		{"lopsided", &closed, axes("k", 6, 0.4, 0.4), axes("c", 6, 0.1, 0.99), "axis a is 0.1, the floor is 0.2"},
		{"on the floor", &closed, axes("k", 6, 0.4, 0.4), axes("c", 6, 0.2, 0.9), ""},
		{"three axes", &closed, axes("k", 6, 0.4, 0.4), axes("c", 3, 0.9, 0.9), "the challenger has 3 axes, the rule needs 5"},
		{"king of four", &closed, axes("k", 4, 0.4, 0.4), axes("c", 6, 0.9, 0.9), "the king has 4 axes, the rule needs 5"},
		{"open, king of one", &open, axes("k", 1, 0.4, 0.4), axes("c", 6, 0.9, 0.9), ""},
		{"open, two axes", &open, axes("k", 6, 0.4, 0.4), axes("c", 2, 0.1, 1.9), ""},
		{"open, lopsided", &open, axes("k", 6, 0.4, 0.4), axes("c", 6, 0.1, 0.99), "axis a is 0.1, the floor is 0.2"},
	} {
		v := c.rule.verdict(c.king, c.challenger, "")
		if v.Refused != c.refused || v.Passes != (c.refused == "") {
			t.Errorf("%s: passes %v, refused %q, want %q", c.name, v.Passes, v.Refused, c.refused)
		}
	}
}

// TestVersions reads rules by name and by date, and checks the defaults of a composite rule.
func TestVersions(t *testing.T) {
	t.Parallel()
	for i := 1; i < len(Versions); i++ {
		if !Versions[i].Since.After(Versions[i-1].Since) || Versions[i].Rule.check() != nil {
			t.Errorf("version %s", Versions[i].Name)
		}
	}
	for text, want := range map[string]string{
		`"2026-04-02"`:                       "paired t-test at 0.05",
		`{"kind":"composite","margin":0.05}`: "composite (0.75 of the 3 worst axes) above the king's by 5 %, no axis below 0.2, at least 5 axes",
		`{"kind":"composite","margin":0.1,"floor":0,"min_axes":0}`:   "composite (0.75 of the 3 worst axes) above the king's by 10 %",
		`{"kind":"relative","epsilon":0.01,"also":"something else"}`: "KL below the king's by 1 %",
	} {
		r, err := parseRule([]byte(text))
		if err != nil || r.String() != want {
			t.Errorf("%s: %v, %v", text, r, err)
		}
	}
	if _, err := parseRule([]byte(`"2026-01-01"`)); err == nil || !strings.Contains(err.Error(), "2026-05-16") {
		t.Errorf("%v", err)
	}
	for seconds, want := range map[int64]string{0: "", 1774820000: "", 1775000000: Relative, 1775171922: PairedT, 1779000000: Composite} {
		r := ruleAt(seconds)
		if (r == nil) != (want == "") || r != nil && r.Kind != want {
			t.Errorf("%d: %+v", seconds, r)
		}
	}
}

// TestPublishedRoundsByDate decides the published rounds by their dates alone. One round is
// dated six minutes before the first rule's commit.
func TestPublishedRoundsByDate(t *testing.T) {
	t.Parallel()
	rounds, _ := replayed(t, longtest.Shared(t, published), "score_series.jsonl")
	states, err := ReadStates(filepath.Join(longtest.Shared(t, published), "score_series.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	undated := 0
	for _, r := range rounds {
		if r.Rule == nil {
			continue
		}
		text := r.Rule.String()
		r.Rule = ruleAt(r.Committed)
		if r.Rule == nil {
			undated++
			continue
		}
		if r.Rule.String() != text {
			t.Errorf("round %s: got %s by date, want %s", r.ID, r.Rule.String(), text)
		}
	}
	r := ReplayAll(rounds, states)
	if undated != 1 || r.Known != 23 || r.Explained != 4 || math.Abs(float64(r.Agreed.Value)-19./23) > 1e-9 {
		t.Errorf("%d undated; %d known, %v agree, %d explained", undated, r.Known, r.Agreed, r.Explained)
	}
}

// TestSimulateAxes checks that false dethronings fall with the margin and with the number of
// items, and that a better challenger passes more often.
func TestSimulateAxes(t *testing.T) {
	t.Parallel()
	king := student("king")
	king.Axes = map[string]float64{}
	for i := range 11 {
		king.Axes[string(rune('a'+i))] = 0.5
	}
	rounds := []*Round{{Eval: &Eval{Students: []Student{king}}}}
	simulated := SimulateAxes(rounds, []float64{0.03, 0.1}, []int{8, 128}, []float64{0, 0.2}, 400)
	if len(simulated) != 8 {
		t.Fatalf("%d rates", len(simulated))
	}
	for _, pair := range [][2]int{{4, 0}, {2, 0}, {0, 1}, {2, 3}} {
		low := simulated[pair[0]]
		high := simulated[pair[1]]
		if low.Challenger.Value >= high.Challenger.Value {
			t.Errorf("%+v, %+v", low, high)
		}
	}
	if SimulateAxes([]*Round{{Eval: &Eval{Students: []Student{student("bare")}}}}, nil, nil, nil, 1) != nil {
		t.Error("simulated without axes")
	}
}
