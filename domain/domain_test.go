package domain_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
)

const small = `
name: chess
title: Chess trajectories
recognise: {formats: [pgn], tools: [move, resign, offer_draw]}
tools: {move: {role: act}}
outcome: {from: declared, pass: 0.5, agent_errors: [illegal_*]}
unlogged: keep
`

func TestEveryBuiltInDomainIsReadAndListed(t *testing.T) {
	t.Parallel()
	var builtin *domain.Set
	want := "base coding envpack service shop"
	if got := strings.Join(builtin.Names(), " "); got != want {
		t.Errorf("domains %s, want %s", got, want)
	}
	for _, d := range domain.Builtin() {
		files, err := filepath.Glob("builtin/" + d.Name + ".yaml")
		if err != nil || len(files) != 1 {
			t.Errorf("domain %s is in a file of another name", d.Name)
		}
	}
}

// TestWhatIsWrongIsNamed holds the error of a faulty file to what its author needs to mend it.
func TestWhatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ source, target, want string }{
		"unknown key":       {"title:", "titel:", `did you mean "title"?`},
		"unknown inner key": {"pass:", "pas:", `did you mean "outcome.pass"?`},
		"key of a tool":     {"{role: act}", "{rolle: act}", `did you mean "tools.role"?`},
		"role":              {"role: act", "role: play", `tools.move.role is "play": want one of search`},
		"source":            {"from: declared", "from: referee", `outcome.from is "referee": want one of shop`},
		"unlogged":          {"unlogged: keep", "unlogged: maybe", `unlogged is "maybe": want keep or drop`},
		"rule of steps":     {"unlogged: keep", "steps: repeats\nunlogged: keep", `steps is "repeats": want one of steps_v2, repeats_v1`},
		"reading tools":     {"unlogged: keep", "reading: ['get_[']\nunlogged: keep", `reading has "get_[": want a pattern`},
		"identity":          {"unlogged: keep", "identity: ['(']\nunlogged: keep", "want a regular expression"},
		"evidence":          {"unlogged: keep", "evidence: [path, pth]\nunlogged: keep", `evidence has "pth": want one of id, path`},
		"two readers":       {"unlogged: keep", "evidence: [catalogue, id]\nunlogged: keep", "evidence has catalogue beside other kinds"},
		"rivals, not read":  {"unlogged: keep", "rivals: moves\nrubric: {reasoning: {rules: Grade it.}}\nunlogged: keep", "rivals is not read"},
		"two bases":         {"unlogged: keep", "lexicon: {currencies: {usd: {rate: 1}, eur: {rate: 1}}}\nunlogged: keep", "2 currencies with the rate 1"},
		"no base":           {"unlogged: keep", "lexicon: {currencies: {usd: {rate: 2}}}\nunlogged: keep", "0 currencies with the rate 1"},
		"unit of nothing":   {"unlogged: keep", "lexicon: {units: {lb: {of: gramm, factor: 453.6}}}\nunlogged: keep", `lexicon.units.lb.of is "gramm": want a unit of the file that is of itself, or one of mm`},
		"no factor":         {"unlogged: keep", "lexicon: {units: {lb: {of: g}}}\nunlogged: keep", "lexicon.units.lb.factor is 0"},
		"endless rate":      {"unlogged: keep", "lexicon: {currencies: {usd: {rate: .inf}}}\nunlogged: keep", "lexicon.currencies.usd.rate is +Inf"},
		"endless factor":    {"unlogged: keep", "lexicon: {units: {lb: {of: g, factor: .inf}}}\nunlogged: keep", "lexicon.units.lb.factor is +Inf"},
		"no number":         {"unlogged: keep", "lexicon: {units: {lb: {of: g, factor: .nan}}}\nunlogged: keep", "lexicon.units.lb.factor is NaN"},
		"two words":         {"unlogged: keep", "lexicon: {synonyms: [[trip, round trip]]}\nunlogged: keep", `lexicon.synonyms has the word "round trip": want one word`},
		"one synonym":       {"unlogged: keep", "lexicon: {synonyms: [[trip]]}\nunlogged: keep", "want two words or more"},
		"sign":              {"unlogged: keep", "lexicon: {currencies: {usd: {signs: [US$]}}}\nunlogged: keep", "want small letters or one other character"},
		"key of a unit":     {"unlogged: keep", "lexicon: {units: {lb: {of: g, factr: 2}}}\nunlogged: keep", `did you mean "lexicon.units.factor"?`},
		"key of evidence":   {"unlogged: keep", "evidense: [id]\nunlogged: keep", `did you mean "evidence"?`},
		"pattern":           {"illegal_*", `"illegal_["`, "want a pattern such as limit_*"},
		"name":              {"name: chess", "name: Chess 2", `name is "Chess 2"`},
		"no title":          {"title: Chess trajectories", "", "title is empty"},
	} {
		_, err := domain.Parse([]byte(strings.Replace(small, tt.source, tt.target, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestDomainByNameOrFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "chess.yaml")
	if err := os.WriteFile(file, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := domain.NewSet(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := s.Recognise(&arena.Trace{}, &arena.Dialogue{}, domain.Base); d.Name != "chess" {
		t.Errorf("an attempt is of %v, although a file was named", d)
	}
	if _, err = domain.NewSet("codng"); err == nil || !strings.Contains(err.Error(), "did you mean coding?") {
		t.Errorf("a mistyped name: %v", err)
	}
	again := filepath.Join(dir, "shop.yaml")
	if err = os.WriteFile(again, []byte(strings.Replace(small, "chess", "shop", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = domain.NewSet(again); err == nil || !strings.Contains(err.Error(), "built in") {
		t.Errorf("a second shop: %v", err)
	}
}

func calling(names ...string) *arena.Dialogue {
	d := &arena.Dialogue{}
	for _, name := range names {
		d.Turns = append(d.Turns, arena.Turn{Calls: []arena.Call{{Name: name}}})
	}
	return d
}

func TestDomainIsRecognised(t *testing.T) {
	t.Parallel()
	declared := arena.Raw(`[{"type":"function","function":{"name":"bash"}},{"name":"submit"}]`)
	for name, tt := range map[string]struct {
		trace  arena.Trace
		called []string
		want   string
	}{
		"format of the shop":      {trace: arena.Trace{Source: arena.Source{Shape: "envelope"}}, want: "shop"},
		"episode of a pack":       {trace: arena.Trace{Source: arena.Source{Shape: "episode"}}, want: "envpack"},
		"an episode with a shell": {trace: arena.Trace{Tools: declared, Source: arena.Source{Shape: "episode"}}, want: "coding"},
		"tools that are called":   {called: []string{"get_user_details", "cancel_reservation"}, want: "service"},
		"one tool is too few":     {called: []string{"bash"}, want: "base"},
		"one tool twice":          {called: []string{"bash", "bash"}, want: "base"},
		"declared beats called":   {trace: arena.Trace{Tools: declared}, called: []string{"get_user_details", "cancel_reservation"}, want: "coding"},
		"chat without tools":      {want: "base"},
		"format without tools":    {trace: arena.Trace{Source: arena.Source{Shape: "tau_bench"}}, want: "service"},
		"shop tools in a chat":    {called: []string{"find_product", "recommend_product"}, want: "shop"},
		"most tools in common":    {called: []string{"search", "view", "edit", "bash", "submit"}, want: "coding"},
	} {
		var builtin *domain.Set
		d := builtin.Recognise(&tt.trace, calling(tt.called...), domain.Base)
		if d.Name != tt.want || len(tt.trace.Vetoes) > 0 {
			t.Errorf("%s: %v, vetoes %v, want %s", name, d, tt.trace.Vetoes, tt.want)
		}
	}
	var builtin *domain.Set
	tied := &arena.Trace{ID: "a", Declared: new(1.0)}
	d := builtin.Recognise(tied, calling("search", "view", "bash", "edit"), domain.Shop)
	if d.Name != domain.Base || !slices.Contains(tied.Vetoes, domain.VetoSeveral) {
		t.Errorf("as many tools of two domains: %s, vetoes %v", d.Name, tied.Vetoes)
	}
	if r := d.Ruled(tied).Ruling; r.Success || r.Score != nil || r.Void != domain.VetoSeveral {
		t.Errorf("as many tools of two domains: outcome %+v", r)
	}
}

// TestUndeclaredIsUnknown checks a declared outcome against the source: a missing reward is
// unknown, and an error that the agent did not cause is no failure.
func TestUndeclaredIsUnknown(t *testing.T) {
	t.Parallel()
	d, err := domain.Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	n := func(x float64) *float64 { return &x }
	for name, tt := range map[string]struct {
		reward  *float64
		err     *arena.AttemptError
		success bool
		score   *float64
		void    string
	}{
		"solved":                    {reward: n(1), success: true, score: n(1)},
		"at the mark":               {reward: n(0.5), success: true, score: n(0.5)},
		"in part":                   {reward: n(0.25), score: n(0.25)},
		"failed":                    {reward: n(0), score: n(0)},
		"below the scale":           {reward: n(-3), score: n(0)},
		"above the scale":           {reward: n(12), success: true, score: n(1)},
		"no reward":                 {void: domain.VoidUndeclared},
		"the agent's error":         {reward: n(0), err: &arena.AttemptError{Type: "Illegal_move"}, score: n(0)},
		"another's error":           {reward: n(0), err: &arena.AttemptError{Type: "DockerError"}, void: domain.VoidInfrastructure},
		"another's error, no score": {err: &arena.AttemptError{Type: "DockerError"}, void: domain.VoidInfrastructure},
		"solved before an error":    {reward: n(1), err: &arena.AttemptError{Type: "DockerError"}, success: true, score: n(1)},
	} {
		before := &arena.Trace{Declared: tt.reward, Error: tt.err, Status: arena.StatusSuccess}
		r := d.Ruled(before).Ruling
		sameScore := (r.Score == nil) == (tt.score == nil) && (r.Score == nil || *r.Score == *tt.score)
		if r.Success != tt.success || !sameScore || r.Void != tt.void || !r.Declared {
			t.Errorf("%s: %+v", name, r)
		}
		if before.Ruling != nil {
			t.Errorf("%s: the trace was changed", name)
		}
	}
	verdict := &arena.Ruling{}
	if d.Ruled(&arena.Trace{Ruling: verdict, Declared: n(1)}).Ruling != verdict {
		t.Error("a verifier's ruling was replaced")
	}
}

// TestInstrumentsAreOnWhereTheyWereMeasured holds the marks: below its mark, in another version or
// unmeasured an instrument is off.
func TestInstrumentsAreOnWhereTheyWereMeasured(t *testing.T) {
	t.Parallel()
	const line = "measured: {judge: {version: j_v1, figure: auc, value: 0.65, n: 200}, rewordings: {version: l_v1, figure: recall, value: 0.9, n: 60, false_drops: 0.03}}\n"
	d, err := domain.Parse([]byte(small + line))
	if err != nil {
		t.Fatal(err)
	}
	for instrument, want := range map[string]bool{domain.Judge: true, domain.Steps: false, domain.Rewordings: false} {
		version := map[string]string{domain.Judge: "j_v1", domain.Rewordings: "l_v1"}[instrument]
		if d.On(instrument, version) != want {
			t.Errorf("%s is on: %v, want %v", instrument, !want, want)
		}
	}
	if d.On(domain.Judge, "j_v2") {
		t.Error("a version that was not measured is on")
	}
	for _, bad := range []string{"figure: recall", "n: 0"} {
		key, _, _ := strings.Cut(bad, ":")
		old := map[string]string{"figure": "figure: auc", "n": "n: 200"}[key]
		if _, err := domain.Parse([]byte(small + strings.Replace(line, old, bad, 1))); err == nil {
			t.Errorf("measured with %s is read", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := domain.Parse(text)
		if err == nil && (d.Name == "" || d.Title == "") {
			t.Errorf("%q is a domain without name or title", text)
		}
	})
}
