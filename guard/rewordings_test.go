package guard

import (
	"os"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/longtest"
)

// reworded is a text made of one protected request.
type reworded struct {
	base  int
	kind  string
	text  string
	other bool // asks for something else than the base
}

// readRewordings reads testdata/rewordings.txt and returns the base requests and their rewordings.
func readRewordings(t testing.TB) (bank []Entry, texts []reworded) {
	t.Helper()
	return readTexts(t, "testdata/rewordings.txt")
}

func readTexts(t testing.TB, path string) (bank []Entry, texts []reworded) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		kind, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(kind, "#") {
			continue
		}
		text = strings.ReplaceAll(text, `\n`, "\n")
		if kind == "base" {
			bank = append(bank, Entry{ID: text, Bank: "own", Text: text})
			continue
		}
		texts = append(texts, reworded{len(bank) - 1, kind, text, kind == "single" || kind == "topic" || kind == "noun"})
	}
	return bank, texts
}

func newTestGuard(t testing.TB, bank []Entry) *Guard {
	t.Helper()
	g, err := New(bank, Config{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// tally counts answers by kind of text.
type tally struct{ drop, sameCount, wrong, total map[string]int }

func newTally() *tally {
	return &tally{map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}}
}

func (c *tally) add(kind, base string, f Finding) {
	c.total[kind]++
	if f.Drop {
		c.drop[kind]++
		if f.Match != base {
			c.wrong[kind]++
		}
	}
	if f.Same {
		c.sameCount[kind]++
	}
}

// atLeast and atMost check the share of a kind's texts against a limit.
func (c *tally) atLeast(t *testing.T, name string, counts map[string]int, kind string, share float64) {
	t.Helper()
	if float64(counts[kind]) < share*float64(c.total[kind]) || c.total[kind] == 0 {
		t.Errorf("%s %s: %d of %d, want at least %g", kind, name, counts[kind], c.total[kind], share)
	}
}

func (c *tally) atMost(t *testing.T, name string, counts map[string]int, kind string, share float64) {
	t.Helper()
	if float64(counts[kind]) > share*float64(c.total[kind]) || c.total[kind] == 0 {
		t.Errorf("%s %s: %d of %d, want at most %g", kind, name, counts[kind], c.total[kind], share)
	}
}

func TestRewordings(t *testing.T) {
	t.Parallel()
	bank, texts := readRewordings(t)
	g := newTestGuard(t, bank)
	c := newTally()
	for _, r := range texts {
		f := g.Check(Candidate{Text: r.text})
		c.add(r.kind, bank[r.base].ID, f)
		if f.Drop && f.Evidence == "" {
			t.Errorf("no evidence for %q", r.text)
		}
		if f.Same && !f.Drop {
			t.Errorf("the same, but not dropped: %q", r.text)
		}
	}
	t.Logf("of %v dropped %v, the same %v", c.total, c.drop, c.sameCount)
	for _, kind := range []string{"light", "heavy", "chatty", "notation", "typo", "es", "de", "id", "tl", "zh"} {
		c.atLeast(t, "dropped", c.drop, kind, 0.95)
		c.atMost(t, "matched to another", c.wrong, kind, 0)
	}
	c.atMost(t, "dropped", c.drop, "topic", 0)
	// Most heavy ones tell of something else too, which the bases do not name.
	for _, kind := range []string{"light", "notation"} {
		c.atLeast(t, "called the same", c.sameCount, kind, 0.85)
	}
	c.atMost(t, "called the same", c.sameCount, "single", 0.1)
}

// TestUnseenRewordings checks texts that nothing was tuned on.
func TestUnseenRewordings(t *testing.T) {
	t.Parallel()
	bank, texts := readTexts(t, "testdata/fresh.txt")
	g := newTestGuard(t, bank)
	c := newTally()
	for _, r := range texts {
		kind := "reworded"
		if r.other {
			kind = "changed"
		}
		c.add(kind, bank[r.base].ID, g.Check(Candidate{Text: r.text}))
	}
	t.Logf("of %v dropped %v, the same %v", c.total, c.drop, c.sameCount)
	c.atLeast(t, "dropped", c.drop, "reworded", 0.95)
	c.atLeast(t, "called the same", c.sameCount, "reworded", 0.5)
	c.atMost(t, "called the same", c.sameCount, "changed", 0.1)
}

// TestCheckFindsEmbeddedRequests hides each rewording between two other
// requests and in a long system prompt, without the tag long every third.
func TestCheckFindsEmbeddedRequests(t *testing.T) {
	t.Parallel()
	bank, texts := readRewordings(t)
	var guards []*Guard
	for i := range bank {
		guards = append(guards, newTestGuard(t, bank[i:i+1]))
	}
	prompt := strings.Repeat("You are a careful assistant. Use the tools, read what they return, and answer the customer in a friendly way. ", 40)
	c := newTally()
	for i, r := range texts {
		if r.other || i%longtest.Pick(1, 3) > 0 {
			continue
		}
		before := texts[(i+37)%len(texts)].text
		after := texts[(i+71)%len(texts)].text
		g := guards[r.base]
		id := bank[r.base].ID
		c.add("between", id, g.Check(Candidate{Text: before + "\n\n" + r.text + "\n\n" + after}))
		c.add("prompt", id, g.Check(Candidate{Text: prompt + r.text + " " + prompt}))
		c.add("system", id, g.Check(Candidate{Text: "Hello", Context: []string{prompt + r.text}}))
		c.add("alone", id, g.Check(Candidate{Text: prompt}))
	}
	t.Logf("of %v found %v", c.total, c.drop)
	for _, place := range []string{"between", "prompt", "system"} {
		c.atLeast(t, "found", c.drop, place, 0.95)
	}
	c.atMost(t, "found", c.drop, "alone", 0)
}

// TestSurroundingText checks requests within other text: the rewordings are dropped, at least 85 % of those
// with few other words are the same request, and at most 10 % of those with a change inside the request.
func TestSurroundingText(t *testing.T) {
	t.Parallel()
	bank, texts := readRewordings(t)
	g := newTestGuard(t, bank)
	c := newTally()
	for _, r := range texts {
		quoted := "Translate this message of a customer into French: \"" + r.text + "\" Then explain each hard word to a beginner, and write two exercises on grammar."
		c.add(r.kind, bank[r.base].ID, g.Check(Candidate{Text: quoted}))
	}
	t.Logf("of %v the same %v", c.total, c.sameCount)
	c.atLeast(t, "dropped", c.drop, "heavy", 1)
	c.atLeast(t, "called the same", c.sameCount, "light", 0.85)
	c.atMost(t, "called the same", c.sameCount, "single", 0.1)
}

// TestCheckIsDeterministic runs all texts in two orders on one guard.
func TestCheckIsDeterministic(t *testing.T) {
	t.Parallel()
	bank, texts := readRewordings(t)
	g := newTestGuard(t, bank)
	first := make([]Finding, len(texts))
	for i, r := range texts {
		first[i] = g.Check(Candidate{Text: r.text})
	}
	for i := len(texts) - 1; i >= 0; i-- {
		if again := g.Check(Candidate{Text: texts[i].text}); again != first[i] {
			t.Fatalf("%q: %+v, then %+v", texts[i].text, first[i], again)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	bank, texts := readRewordings(b)
	g := newTestGuard(b, bank)
	n := 0
	for _, r := range texts {
		n += len(r.text)
	}
	b.SetBytes(int64(n / len(texts)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		g.Check(Candidate{Text: texts[i%len(texts)].text})
	}
}
