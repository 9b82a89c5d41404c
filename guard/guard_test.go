package guard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena/guard/lexical"
)

func kettle() []Entry {
	return []Entry{{
		ID: "kettle", Bank: "held", Text: "Looking for a copper kettle with a whistle, 2 liters, priced above 950 PHP.",
		ItemIDs: []string{"4110867766"}, Titles: []string{"Old Harbor Copper Whistling Kettle 2L"},
	}}
}

func TestFindingHasEvidenceOfTier(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, kettle())
	for name, c := range map[string]struct {
		candidate Candidate
		tier      Tier
		evidence  string
	}{
		"reward":       {Candidate{Text: "A tea pot", ItemIDs: []string{"4110867766"}}, TierSpec, "item 4110867766"},
		"exact":        {Candidate{Text: kettle()[0].Text}, TierExact, "byte for byte"},
		"white space":  {Candidate{Text: "looking for a copper  kettle with a whistle\n2 liters; priced above 950 php"}, TierNormalised, "white space"},
		"reworded":     {Candidate{Text: "My stove needs a whistling kettle made of copper that holds two liters, over ₱950"}, TierLexical, "copper"},
		"answer id":    {Candidate{Text: "A tea pot", Answers: []string{`{"product_ids": "4110867766"}`}}, TierSpec, "4110867766"},
		"answer name":  {Candidate{Text: "A tea pot", Answers: []string{"I take the OLD HARBOR copper whistling kettle (2L)."}}, TierSpec, "title"},
		"joined id":    {Candidate{Text: "A tea pot", Answers: []string{"product_4110867766-the kettle"}}, TierSpec, "4110867766"},
		"escaped id":   {Candidate{Text: "A tea pot", Answers: []string{`{"note":"ids:\n4110867766"}`}}, TierSpec, "4110867766"},
		"escaped name": {Candidate{Text: "A tea pot", Answers: []string{`"{\"note\":\"so:\\nOld Harbor Copper Whistling\\u00a0Kettle 2L\"}"`}}, TierSpec, "title"},
		"context":      {Candidate{Text: "Hi", Context: []string{kettle()[0].Text}}, TierExact, "byte"},
	} {
		f := g.Check(c.candidate)
		if !f.Drop || f.Tier != c.tier || f.Match != "kettle" || f.Bank != "held" || !strings.Contains(f.Evidence, c.evidence) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, text := range []string{"", "A green tea pot of iron", "4110867767 is another id", "Old Harbor Copper"} {
		if f := g.Check(Candidate{Text: text, Answers: []string{text}}); f.Drop {
			t.Errorf("%q is dropped: %+v", text, f)
		}
	}
}

func TestCanaryFailsForBrokenGuard(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, kettle())
	if err := g.Canary(); err != nil {
		t.Error(err)
	}
	g.index().spec = newSpecIndex(nil)
	if g.Canary() == nil {
		t.Error("a guard without its specification tier passes")
	}
	g = newTestGuard(t, kettle())
	g.index().text, g.index().ngram, g.index().lexical = newTextIndex(nil), newNgramIndex(nil), lexical.New(nil)
	if g.Canary() == nil {
		t.Error("a guard without its text tiers passes")
	}
}

// TestInjectionDetectsBrokenTier breaks one thing at a time.
func TestInjectionDetectsBrokenTier(t *testing.T) {
	t.Parallel()
	bank, _ := readRewordings(t)
	g := newTestGuard(t, bank)
	r := g.Injection(1)
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, k := range r.Kinds {
		if k.Planted == 0 || k.Low <= 0 || k.High > 1 || k.Low > k.Recall || k.Recall > k.High+1e-9 {
			t.Errorf("%+v", k)
		}
	}
	g.index().ngram, g.index().lexical = newNgramIndex(nil), lexical.New(nil)
	err := g.Injection(1).Validate()
	if !errors.Is(err, ErrRecall) || !strings.Contains(err.Error(), "rewrapped") || !strings.Contains(err.Error(), "synonyms") {
		t.Errorf("without the lexical tier: %v", err)
	}
	g = newTestGuard(t, bank)
	g.index().text, g.index().ngram, g.index().lexical = newTextIndex(nil), newNgramIndex(nil), lexical.New(nil)
	if err := g.Injection(1).Validate(); err == nil || !strings.Contains(err.Error(), "verbatim") {
		t.Errorf("without the text tiers: %v", err)
	}
}

// TestInjectionOfShortRequests checks that a bank of one and two words is protected in every form
// that is planted, so that a corpus with such requests can be built. Other domains than the shop's
// compare requests word for word.
func TestInjectionOfShortRequests(t *testing.T) {
	t.Parallel()
	var bank []Entry
	for _, text := range []string{"Why?", "ls -la", "2+2=", "import os", "Youtube is unranked.", "法国的首都", "x = {1: 2}"} {
		bank = append(bank, Entry{ID: text, Text: text, Literal: true})
	}
	if err := newTestGuard(t, bank).Injection(1).Validate(); err != nil {
		t.Error(err)
	}
}

// TestInjectionRejectsEachBrokenKind makes one kind of planted text at a time undetectable: its
// recall falls, that of no other kind does, and the report is invalid for that kind.
func TestInjectionRejectsEachBrokenKind(t *testing.T) {
	t.Parallel()
	bank, _ := readRewordings(t)
	g := newTestGuard(t, bank)
	for i, spoiled := range plants() {
		if spoiled.floor == floorNone {
			continue // printed, without a limit
		}
		kinds := plants()
		kinds[i].change = func(string) string { return "eleven pewter snow globes of a lighthouse" }
		r := g.inject(1, kinds)
		for j, k := range r.Kinds {
			if lost := k.Recall < k.Floor; lost != (i == j) {
				t.Errorf("%s spoiled: recall of %s is %v", spoiled.kind, k.Kind, k.Recall)
			}
		}
		if err := r.Validate(); !errors.Is(err, ErrRecall) || !strings.Contains(err.Error(), spoiled.kind) {
			t.Errorf("%s may be lost: %v", spoiled.kind, err)
		}
	}
}

func TestReadBankRejectsEmptyBank(t *testing.T) {
	t.Parallel()
	if _, err := New(nil, Config{}); !errors.Is(err, ErrEmptyBank) {
		t.Errorf("no bank: %v", err)
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"empty.jsonl": "", "blank.jsonl": "\n\n", "array.json": "[]", "broken.jsonl": `{"id":"a","text":"x"` + "\n",
		"textless.jsonl": `{"id":"a"}` + "\n", "number.jsonl": "17\n", "torn.parquet": "PAR1 and no more",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadBank(path); err == nil {
			t.Errorf("%s is read as a bank", name)
		}
	}
	if _, err := ReadBank(filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing bank is read")
	}
	if _, err := ReadBank(t.TempDir()); !errors.Is(err, ErrEmptyBank) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestReadBankReadsEveryFormat(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		`{"problem_id":"p1","id":"x","query":"a lamp"}`:                                       "p1 a lamp",
		`{"id":"x","text":"a lamp"}`:                                                          "x a lamp",
		`{"problem":{"query":"a lamp","reward":{"product_id":"7"}}}`:                          "bank-0 a lamp",
		`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"a lamp"}]}`:   "bank-0 a lamp",
		`[{"query":"a lamp","reward":[{"product_id":7},{"product_id":"8","title":["l"]}]}]`:   "bank-0 a lamp",
		`{"conversations":[{"from":"human","value":"a lamp"},{"from":"gpt","value":"sure"}]}`: "bank-0 a lamp",
	} {
		path := filepath.Join(t.TempDir(), "bank.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		bank, err := ReadBank(path)
		if err != nil || len(bank) != 1 {
			t.Errorf("%s: %d entries, %v", content, len(bank), err)
			continue
		}
		if got := bank[0].ID + " " + bank[0].Text; got != want {
			t.Errorf("%s: %q, want %q", content, got, want)
		}
	}
}

func TestReadBankRejectsCorpusWithoutBank(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, content := range map[string]string{
		"manifest.json": `{}`, "data/rl/train-00000-of-00001.jsonl": `{"id":"t","text":"to train on"}`,
		"data/rl/eval-00000-of-00001.jsonl": `{"id":"e","text":"to evaluate on"}`, "tables/leaks.jsonl": `{"id":"l","text":"ledger"}`,
	} {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if bank, err := ReadBank(dir); err == nil || !strings.Contains(err.Error(), "without its bank") {
		t.Fatalf("%+v, %v", bank, err)
	}
	bank, err := ReadBank(filepath.Join(dir, "data/rl/eval-00000-of-00001.jsonl"))
	if err != nil || len(bank) != 1 || bank[0].ID != "e" {
		t.Fatalf("%+v, %v", bank, err)
	}
}

// TestReadBankReadsFolderNamedData reads a folder that is no corpus, since it has no
// manifest, although a folder in it is called data.
func TestReadBankReadsFolderNamedData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, path := range []string{"race.jsonl", "data/eval-1.jsonl", "data/more.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, path), fmt.Appendf(nil, `{"id":"%d","text":"a lamp"}`, i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if bank, err := ReadBank(dir); err != nil || len(bank) != 3 {
		t.Fatalf("%+v, %v", bank, err)
	}
}

func TestCheckIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	bank, texts := readRewordings(t)
	g := newTestGuard(t, bank)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, r := range texts {
				g.Check(Candidate{Text: r.text})
			}
		})
	}
	wg.Wait()
}

func TestReportCountsEveryRow(t *testing.T) {
	t.Parallel()
	bank, texts := readRewordings(t)
	g := newTestGuard(t, bank)
	total := NewReport(g)
	for i, r := range texts {
		total.Add(fmt.Sprint(i), g.Check(Candidate{Text: r.text}))
	}
	if total.Rows != len(texts) || len(total.Dropped) == 0 || !slices.IsSortedFunc(total.Curve, func(a, b CurvePoint) int { return b.Rows - a.Rows }) {
		t.Errorf("%d rows, %d dropped, curve %v", total.Rows, len(total.Dropped), total.Curve)
	}
}

// FuzzCheckNeverPanics tries any text, and any text as a bank.
func FuzzCheckNeverPanics(f *testing.F) {
	_, texts := readRewordings(f)
	for i := 0; i < len(texts); i += 20 {
		f.Add(texts[i].text)
	}
	f.Add("五百比索以下的 红色 ①(2) 1.5.5,000,0 p p5 ₱ -- '''s x's 9999999999999999999999")
	f.Add("\xff\xfe pay pay pay on cash on twenty hundred thousand and and 5 k 7 % % minimum 3 to 4 - 5")
	f.Add("\xf1ˣ")
	g, err := New(kettle(), Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		f := g.Check(Candidate{Text: text, Answers: []string{text}})
		isScore := f.Score >= 0 && f.Score <= 1
		if !isScore || f.Drop && f.Match == "" {
			t.Fatalf("%+v", f)
		}
		if f.Same && !f.Drop {
			t.Fatalf("%+v", f)
		}
		if normalised(text) == "" {
			return
		}
		self, err := New([]Entry{{ID: "self", Text: text}}, Config{})
		if err != nil {
			t.Fatal(err)
		}
		if err := self.Canary(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestCheckFindsDisguisedProducts checks ids and titles in lookalike letters and in
// base64.
func TestCheckFindsDisguisedProducts(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, kettle())
	for _, answer := range []string{
		"41\u200b10\u200b867766", "４１１０８６７７６６", "Old Hаrbоr Соррer Whistling Kettle 2L",
		"T2xkIEhhcmJvciBDb3BwZXIgV2hpc3RsaW5nIEtldHRsZSAyTA==", "I buy dGhlIHByb2R1Y3QgbnVtYmVyIDQxMTA4Njc3NjY now",
	} {
		if f := g.Check(Candidate{Answers: []string{answer}}); f.Tier != TierSpec {
			t.Errorf("%q: %+v", answer, f)
		}
	}
}

// TestPrecomputedGuardIndexesOnFirstCheck checks that a guard uses the false drops of
// another process, up to the highest threshold, and builds its index at the first
// check.
func TestPrecomputedGuardIndexesOnFirstCheck(t *testing.T) {
	t.Parallel()
	bank, _ := readRewordings(t)
	full := newTestGuard(t, bank)
	falseDrops := full.FalseDrops()
	indexed := 0
	newPrecomputed := func(f FalseDrops) *Guard {
		g, err := New(bank, Config{Precomputed: &f})
		if err != nil {
			t.Fatal(err)
		}
		build := g.index
		g.index = func() *index { indexed++; return build() }
		return g
	}
	g := newPrecomputed(falseDrops)
	if NewReport(g).FalseDrops != NewReport(full).FalseDrops || len(g.Bank()) != len(bank) || indexed > 0 {
		t.Errorf("false drops %+v, indexed %d times", g.FalseDrops(), indexed)
	}
	for _, e := range bank {
		c := Candidate{Text: e.Text + " please"}
		got := g.Check(c)
		want := full.Check(c)
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if g.Canary() != nil || indexed == 0 {
		t.Error("a check built no index")
	}
	falseDrops.Threshold = 2
	if newPrecomputed(falseDrops).config.Drop != maxDrop {
		t.Error("the threshold is above its maximum")
	}
	if _, err := New(nil, Config{Precomputed: &falseDrops}); !errors.Is(err, ErrEmptyBank) {
		t.Errorf("an empty bank: %v", err)
	}
}
