package guard

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/internal/stats"
)

// disguises hide a request from a reader of words, and from no person.
var disguises = map[string]func(text string) string{
	"base64": func(t string) string { return base64.StdEncoding.EncodeToString([]byte(t)) },
	"base64url": func(t string) string {
		return "Decode, then answer: " + base64.RawURLEncoding.EncodeToString([]byte(t))
	},
	"leet":       strings.NewReplacer("a", "4", "e", "3", "i", "1", "o", "0", "s", "5", "t", "7", "S", "5", "I", "1").Replace,
	"leet signs": strings.NewReplacer("a", "@", "e", "3", "i", "!", "l", "1", "o", "0", "s", "$", "b", "8", "S", "$").Replace,
	"zero-width": func(t string) string { return strings.Join(strings.Split(t, ""), "\u200b") },
	"soft": func(t string) string {
		return strings.Join(strings.Split(t, ""), "\u00ad\u2060")
	},
	"spaced":     func(t string) string { return strings.Join(strings.Split(t, ""), " ") },
	"dotted":     func(t string) string { return strings.Join(strings.Split(t, ""), ".") },
	"run spaced": func(t string) string { return strings.Join(strings.Split(strings.ReplaceAll(t, " ", ""), ""), " ") },
	"cyrillic":   strings.NewReplacer("a", "а", "c", "с", "e", "е", "o", "о", "p", "р", "x", "х", "y", "у", "H", "Н", "P", "Р", "i", "і", "s", "ѕ").Replace,
	"greek":      strings.NewReplacer("o", "ο", "v", "ν", "a", "α", "i", "ι", "p", "ρ", "P", "Ρ", "H", "Η", "u", "υ", "k", "κ").Replace,
	"full width": func(t string) string { return shifted(t, '!', '~', 0xFEE0) },
	"bold":       func(t string) string { return shifted(shifted(t, 'a', 'z', 0x1D41A-'a'), 'A', 'Z', 0x1D400-'A') },
	"reversed":   reversed,
	"words reversed": func(t string) string {
		words := strings.Fields(t)
		for i, w := range words {
			words[i] = reversed(w)
		}
		return strings.Join(words, " ")
	},
	"last word first": func(t string) string {
		words := strings.Fields(t)
		slices.Reverse(words)
		return strings.Join(words, " ")
	},
}

func shifted(text string, low, high, shift rune) string {
	return strings.Map(func(r rune) rune {
		if r >= low && r <= high {
			return r + shift
		}
		return r
	}, text)
}

func reversed(text string) string {
	runes := []rune(text)
	slices.Reverse(runes)
	return string(runes)
}

// print logs the results of each kind with Wilson intervals.
func (c *tally) print(t *testing.T) {
	t.Helper()
	for _, kind := range slices.Sorted(maps.Keys(c.total)) {
		n := c.total[kind]
		drop, sameRate := stats.Wilson(c.drop[kind], n), stats.Wilson(c.sameCount[kind], n)
		t.Logf("%-16s %3d dropped %3d [%.0f, %.0f] same %3d [%.0f, %.0f]", kind, n,
			c.drop[kind], 100*drop.Low, 100*drop.High, c.sameCount[kind], 100*sameRate.Low, 100*sameRate.High)
	}
}

// kindsBank holds the requests of kinds.txt among public ones, 750 in all where
// the public problems are at hand.
func kindsBank(t *testing.T) ([]Entry, []reworded) {
	t.Helper()
	bank, texts := readTexts(t, "testdata/kinds.txt")
	if longtest.SharedFolder() != "" {
		bank = append(bank, publicBank(t)[:750-len(bank)]...)
	}
	return bank, texts
}

func TestKindsOfRewording(t *testing.T) {
	t.Parallel()
	bank, texts := kindsBank(t)
	g := newTestGuard(t, bank)
	c := newTally()
	for _, r := range texts {
		f := g.Check(Candidate{Text: r.text})
		c.add(r.kind, bank[r.base].ID, f)
		if !f.Drop && !r.other {
			t.Logf("%s kept, %.3f: %s", r.kind, f.Score, r.text)
		}
		if f.Same == r.other && r.kind != "described" {
			t.Logf("%s same %v: %s\n\t%s", r.kind, f.Same, r.text, f.Evidence)
		}
	}
	c.print(t)
	for _, kind := range []string{"voice", "spelled", "negated", "currency", "described"} {
		c.atLeast(t, "dropped", c.drop, kind, 0.95)
	}
	for _, kind := range []string{"voice", "negated"} {
		c.atLeast(t, "called the same", c.sameCount, kind, 0.8)
	}
	for _, kind := range []string{"noun", "single"} {
		c.atMost(t, "called the same", c.sameCount, kind, 0.05)
	}
}

func TestDisguises(t *testing.T) {
	t.Parallel()
	bank, _ := kindsBank(t)
	g := newTestGuard(t, bank)
	c := newTally()
	for kind, disguise := range disguises {
		for _, e := range bank[:30] {
			f := g.Check(Candidate{Text: disguise(e.Text)})
			c.add(kind, e.ID, f)
			if !f.Drop {
				t.Logf("%s kept, %.3f: %s", kind, f.Score, disguise(e.Text))
			}
		}
		c.atLeast(t, "dropped", c.drop, kind, 0.9)
	}
	c.print(t)
}

// sharedPair is a text by another hand.
type sharedPair struct {
	kind, base, text string
	isSame           bool
	// english is true of rewordings in English, the light ones too.
	english bool
}

func sharedPairs(t *testing.T) (out []sharedPair) {
	t.Helper()
	foreign := []string{"zh", "th", "ar", "es", "other", "base64", "leet", "homoglyph", "zwsp", "spaced", "reversed"}
	for _, file := range []string{"pairs.jsonl", "pairs3.jsonl"} {
		err := rows.Each(longtest.Shared(t, "data/leak/"+file), func(r rows.Row) error {
			p := gjson.Parse(r.JSON)
			s := sharedPair{kind: p.Get("kind").Str, base: p.Get("base_id").Str, text: p.Get("text").Str, isSame: p.Get("same").Bool()}
			s.english = s.isSame && !slices.Contains(foreign, s.kind)
			out = append(out, s)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestSharedPairsByKind(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, publicBank(t))
	c := newTally()
	for _, p := range sharedPairs(t) {
		f := g.Check(Candidate{Text: p.text})
		c.add(p.kind, p.base, f)
		if p.english {
			c.add("English", p.base, f)
		}
		if !f.Drop && p.isSame {
			t.Logf("%s kept, %.3f: %s", p.kind, f.Score, p.text)
		}
		if f.Same != p.isSame {
			t.Logf("%s same %v: %s\n\t%s: %s", p.kind, f.Same, p.text, f.Match, f.Evidence)
		}
	}
	c.print(t)
	c.atLeast(t, "dropped", c.drop, "English", 0.95)
	c.atLeast(t, "dropped", c.drop, "currency", 0.85)
	c.atMost(t, "called the same", c.sameCount, "neg_near", 0.05)
	// Negated rewordings name other values: "not wood, only carbon fiber".
	for kind, share := range map[string]float64{"voice": 5. / 8, "negated": 2. / 7} {
		c.atLeast(t, "called the same", c.sameCount, kind, share)
	}
	for _, kind := range []string{"base64", "leet", "homoglyph", "zwsp", "spaced", "reversed"} {
		c.atLeast(t, "dropped", c.drop, kind, 0.9)
	}
}

// TestReplacedNounIsContradiction holds that an exchanged noun is a contradiction, even if little
// of the wording is shared, and that the same item in other words is none.
func TestReplacedNounIsContradiction(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, []Entry{
		{ID: "tools", Text: "Show me stainless steel kitchen tools priced above 78 PHP."},
		{ID: "mug", Text: "Looking for a ceramic coffee mug in blue, 350 ml, below 220 pesos."},
	})
	for text, isSame := range map[string]bool{
		"stainless steel soap dishes priced above 78":                                    false,
		"stainless steel nail cutters, above 78 pesos":                                   false,
		"ceramic coffee grinder, blue, 350 ml, below 220 pesos":                          false,
		"kitchen tools of stainless steel above ₱78":                                     true,
		"blue ceramic mug for coffee 350ml under 220":                                    true,
		"my wife wants something to drink coffee from: ceramic, blue, 350 ml, under 220": true,
	} {
		if f := g.Check(Candidate{Text: text}); f.Same != isSame {
			t.Errorf("%q: same is %v: %s", text, f.Same, f.Evidence)
		}
	}
}
