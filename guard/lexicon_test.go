package guard

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/asjson"
)

// harbour is a domain with a currency, a unit and synonyms that no built-in domain has.
const harbour = `name: harbour
title: Harbours
outcome: {from: declared, pass: 1}
unlogged: keep
lexicon:
  currencies:
    crown: {rate: 1, words: [crowns], signs: [k]}
    eur: {rate: 11}
    mxn: {rate: 0.6, words: [pesos], signs: [$]}
  units:
    cable: {of: mm, factor: 185200, words: [cables]}
  synonyms: [[berth, mooring, slip]]
`

// own returns the lexicon of a domain file.
func own(t *testing.T, text string) *arena.Lexicon {
	t.Helper()
	d, err := domain.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d.GuardLexicon()
}

// TestTheLexiconOfADomainIsRead compares texts with a request by the words of its domain, and by
// those that every domain has.
func TestTheLexiconOfADomainIsRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		request, text string
	}{
		"currency": {"Book a berth for a sloop of teak with shore power, at most 550 crowns a night", "A berth with shore power for my teak sloop for 50 euros a night or less please"},
		"pesos":    {"Book a berth for a sloop of teak with shore power, at most 550 crowns a night", "A berth with shore power for my teak sloop for $920 a night or less please"},
		"unit":     {"Book a berth for a sloop of teak with shore power within 2 cables of the pier", "A berth with shore power for my teak sloop, no more than 370.4 m from the pier"},
		"synonyms": {"Book a berth in June", "Book a mooring in June"},
	} {
		for _, isOwn := range []bool{true, false} {
			e := Entry{ID: "b", Bank: "b", Text: tt.request, Lexicon: &arena.Lexicon{}}
			if isOwn {
				e.Lexicon = own(t, harbour)
			}
			f := newTestGuard(t, []Entry{e}).Check(Candidate{Text: tt.text})
			if f.Same != isOwn {
				t.Errorf("%s, own words %t: %+v", name, isOwn, f)
			}
		}
	}
}

// TestNoCurrencyNoConversion compares an amount in dollars with one in pesos: they are equal in the
// shop, and in no domain without rates.
func TestNoCurrencyNoConversion(t *testing.T) {
	t.Parallel()
	const request, text = "Find me a brass lantern with a carved handle, at most 5700 pesos", "A brass lantern, carved handle, up to $100"
	for name, lexicon := range map[string]*arena.Lexicon{"shop": nil, "none": {}} {
		f := newTestGuard(t, []Entry{{ID: "b", Bank: "b", Text: request, Lexicon: lexicon}}).Check(Candidate{Text: text})
		if f.Same != (name == "shop") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestBuiltInLexicons holds which domains convert pesos: those whose banks did before domains had a
// lexicon.
func TestBuiltInLexicons(t *testing.T) {
	t.Parallel()
	got := map[string]bool{}
	for _, d := range domain.Builtin() {
		got[d.Name] = d.GuardLexicon() == nil
		if version := RewordingsIn(d); version != RewordingsVersion {
			t.Errorf("%s: %s", d.Name, version)
		}
	}
	want := map[string]bool{"base": false, "coding": false, "envpack": true, "service": false, "shop": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestAUnitMayBeOfAnyUnitThatTheGuardKnows checks that the names of these units are those of the
// guard's list.
func TestAUnitMayBeOfAnyUnitThatTheGuardKnows(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("lexical/lexicon/units.txt")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for line := range strings.Lines(string(list)) {
		if !strings.HasPrefix(line, "#") {
			known = append(known, strings.Fields(line)[0])
		}
	}
	if diff := cmp.Diff(slices.Compact(known), domain.BaseUnits); diff != "" {
		t.Error(diff)
	}
}

// TestFiguresAreOfOneLexicon checks that the detector has another version in a domain with another
// lexicon, so that figures for one do not turn it on with the other.
func TestFiguresAreOfOneLexicon(t *testing.T) {
	t.Parallel()
	var versions []string
	for _, text := range []string{harbour, strings.Replace(harbour, "rate: 11", "rate: 12", 1)} {
		d, err := domain.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, RewordingsIn(d))
	}
	if versions[0] == versions[1] || !strings.HasPrefix(versions[0], RewordingsVersion+"_") {
		t.Errorf("versions %q", versions)
	}
}

// TestABankKeepsItsLexicon checks that a stored bank has the lexicon, in its hash too, and that
// clusters of two domains convert nothing.
func TestABankKeepsItsLexicon(t *testing.T) {
	t.Parallel()
	words := own(t, harbour)
	problem := arena.Problem{ID: "a", Query: "Book a berth in June", Lexicon: words}
	other := arena.Problem{ID: "b", Query: "Book a berth in June"}
	for n, want := range map[int]*arena.Lexicon{1: words, 2: {}} {
		clusters, err := Clusters(t.Context(), []arena.Problem{problem, other}[:n])
		if err != nil || len(clusters) != 1 {
			t.Fatalf("%d clusters: %v", len(clusters), err)
		}
		if diff := cmp.Diff(want, clusters[0].Lexicon); diff != "" {
			t.Error(diff)
		}
	}
	with := []Entry{NewEntry("b", problem, "a")}
	without := []Entry{NewEntry("b", other, "a")}
	if Digest(with) == Digest(without) {
		t.Error("two lexicons have one hash")
	}
	f, err := Freeze("harbour", 1, with)
	if err != nil {
		t.Fatal(err)
	}
	entries, _, err := readFrozen(f.Encode(), FrozenSchema)
	if err != nil || !cmp.Equal(entries[0].Lexicon, words) {
		t.Errorf("%+v, %v", entries, err)
	}
}

// literal returns a problem as a run has it whose detector of rewordings is off.
func literal(p arena.Problem) arena.Problem {
	p.Literal = true
	p.Lexicon = nil
	return p
}

// TestTheWordsOfTheRunCount merges a problem with the same one of an earlier build, of which a
// domain compared word for word only, had other words, or could have none.
func TestTheWordsOfTheRunCount(t *testing.T) {
	t.Parallel()
	words := own(t, strings.Replace(harbour, "eur: {rate: 11}", "eur: {rate: 11, words: []}", 1))
	problem := arena.Problem{ID: "a", Query: "Book a berth in June", Lexicon: words, Identity: []string{"id ([0-9]+)"}}
	for name, change := range map[string]func(p *arena.Problem){
		"literal":     func(p *arena.Problem) { *p = literal(*p) },
		"no lexicon":  func(p *arena.Problem) { p.Lexicon = nil },
		"other words": func(p *arena.Problem) { p.Lexicon = &arena.Lexicon{Synonyms: [][]string{{"pier", "quay"}}} },
		"other names": func(p *arena.Problem) { p.Identity = nil },
		"the same":    func(*arena.Problem) {},
	} {
		earlier := problem
		change(&earlier)
		var state *State
		for _, p := range []arena.Problem{earlier, problem, problem} {
			clusters, err := Clusters(t.Context(), []arena.Problem{p})
			if err != nil {
				t.Fatal(err)
			}
			if state, err = Split(t.Context(), clusters, state, DefaultShares(), 1); err != nil {
				t.Fatal(err)
			}
			if state, err = ReadState(bytes.NewReader(state.Encode())); err != nil {
				t.Fatal(err)
			}
		}
		got := state.Clusters[0]
		if got.Literal || !bytes.Equal(asjson.Bytes(got.Lexicon), asjson.Bytes(words)) || len(got.Identity) != 1 {
			t.Errorf("%s: lexicon %s, identity %q", name, asjson.Bytes(got.Lexicon), got.Identity)
		}
	}
	clusters, err := Clusters(t.Context(), []arena.Problem{literal(problem), problem})
	if err != nil || len(clusters) != 1 || !cmp.Equal(clusters[0].Lexicon, words) {
		t.Errorf("literal beside others: %+v, %v", clusters, err)
	}
}

// TestAChineseBaseCurrencyIsRead compares an amount in a base currency of several characters, which
// the program or the domain names, with one in dollars.
func TestAChineseBaseCurrencyIsRead(t *testing.T) {
	t.Parallel()
	for word, lexicon := range map[string]*arena.Lexicon{
		"人民币":       {Currencies: map[string]arena.Currency{"cny": {Rate: 1}, "usd": {Rate: 7.2}}},
		"中华人民共和国货币": {Currencies: map[string]arena.Currency{"cny": {Rate: 1, Words: []string{"中华人民共和国货币"}}, "usd": {Rate: 7.2}}},
	} {
		e := Entry{ID: "b", Bank: "b", Text: "Find me a brass lantern with a carved handle below 500 " + word, Lexicon: lexicon}
		f := newTestGuard(t, []Entry{e}).Check(Candidate{Text: "A brass lantern, carved handle, below 70 usd"})
		if !f.Same {
			t.Errorf("%s: %+v", word, f)
		}
	}
}

// TestEveryWordOfALexiconIsRead compares requests that differ in words of the domain only.
func TestEveryWordOfALexiconIsRead(t *testing.T) {
	t.Parallel()
	words := &arena.Lexicon{
		Currencies: map[string]arena.Currency{"czk": {Rate: 1, Words: []string{"kč"}}, "eur": {Rate: 25}},
		Units:      map[string]arena.Unit{"coudée": {Of: "mm", Factor: 500, Words: []string{"coudées"}}},
		Synonyms:   [][]string{{"café", "кофейня", "咖啡馆"}},
	}
	for request, text := range map[string]string{
		"Find me a brass lantern with a carved handle, at most 2500 kč":   "A brass lantern, carved handle, at most 100 eur",
		"Find me a brass lantern with a carved handle, at most 3 coudées": "A brass lantern, carved handle, at most 1.5 m",
		"Find a café in June": "Find a кофейня in June",
		"Find a CAFÉ in July": "Find a 咖啡馆 in July",
	} {
		f := newTestGuard(t, []Entry{{ID: "b", Bank: "b", Text: request, Lexicon: words}}).Check(Candidate{Text: text})
		if !f.Same {
			t.Errorf("%s: %+v", request, f)
		}
	}
}

// TestAWordThatIsNeverReadIsRefused checks the words of domains and of files of protected problems.
func TestAWordThatIsNeverReadIsRefused(t *testing.T) {
	t.Parallel()
	for w, isRead := range map[string]bool{
		"kč": true, "café": true, "咖啡馆": true, "рублей": true, "zl": true, "रुपये": true, "ユーロ": true, "straße": true, "申し込み": true,
		"zł": false, "łódź": false, "euroв": false, strings.Repeat("a", 65): false,
	} {
		d, err := domain.Parse([]byte(strings.Replace(harbour, "words: [crowns]", "words: ["+w+"]", 1)))
		if err != nil {
			t.Fatalf("%s: %v", w, err)
		}
		if err = CheckLexicon(&d.Lexicon); (err == nil) != isRead {
			t.Errorf("%s: %v", w, err)
		}
		f := newTestGuard(t, []Entry{{ID: "b", Bank: "b", Text: "A brass lantern with a carved handle, at most 550 " + w, Lexicon: &d.Lexicon}})
		if isRead && !f.Check(Candidate{Text: "A brass lantern, carved handle, at most 50 euros"}).Same {
			t.Errorf("%s is not read", w)
		}
	}
	for _, d := range domain.Builtin() {
		if err := CheckLexicon(&d.Lexicon); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
}

// TestABankWithFaultyWordsIsNotRead reads files of protected problems by whose words no request
// could be compared.
func TestABankWithFaultyWordsIsNotRead(t *testing.T) {
	t.Parallel()
	units := map[string]arena.Unit{}
	for i := range 300 {
		name := string([]rune{'a' + rune(i/26), 'a' + rune(i%26)})
		units[name] = arena.Unit{Of: name, Factor: 1}
	}
	for name, p := range map[string]arena.Problem{
		"sign":    {Lexicon: &arena.Lexicon{Currencies: map[string]arena.Currency{"eur": {Rate: 1, Signs: []string{""}}}}},
		"units":   {Lexicon: &arena.Lexicon{Units: units}},
		"word":    {Lexicon: &arena.Lexicon{Synonyms: [][]string{{"zł", "crown"}}}},
		"group":   {Lexicon: &arena.Lexicon{Synonyms: [][]string{{}}}},
		"pattern": {Identity: []string{"("}},
	} {
		p.Query = "Book a berth in June"
		e := NewEntry("b", p, "a")
		frozen := &Frozen{Schema: FrozenSchema, Name: "a", Version: 1, SHA256: Digest([]Entry{e}), Problems: []Entry{e}}
		rotated := Rotated{Entry: e, Stage: StageHeldOut, Since: "2026-11-30", By: "a"}
		for file, content := range map[string][]byte{
			"state":    HoldOut([]Entry{e}).Encode(),
			"frozen":   frozen.Encode(),
			"rotation": asjson.Bytes(Rotation{Schema: RotationSchema, Problems: []Rotated{rotated}}),
		} {
			path := filepath.Join(t.TempDir(), "bank.json")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadBank(path); !errors.Is(err, ErrBank) {
				t.Errorf("%s in a %s: %v", name, file, err)
			}
		}
	}
}
