package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/guard/rows"
)

// conformance finds the folder of measured data above the package; tests that
// need it are skipped where it is absent.
func conformance(t testing.TB) string {
	t.Helper()
	if data := sharedData(t); data != "" {
		return data
	}
	t.Skip("needs shared/data next to the repository: the public problems are not part of it")
	return ""
}

func sharedData(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if data := filepath.Join(dir, "shared", "data"); isDir(data) {
			return data
		}
	}
	return ""
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// publicBank reads the public test problems, named by category and line.
func publicBank(t testing.TB) []Entry {
	t.Helper()
	root := conformance(t)
	var bank []Entry
	for _, category := range []string{"product", "shop", "voucher"} {
		err := rows.Each(filepath.Join(root, "shoppingbench", "synthesize_"+category+"_test.jsonl"), func(r rows.Row) error {
			c := rows.Read(r)
			e := rowEntry(r, &c)
			e.ID = fmt.Sprintf("%s-%d", category, r.Line)
			bank = append(bank, e)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return bank
}

func TestPublicPairs(t *testing.T) {
	t.Parallel()
	bank := publicBank(t)
	g := newTestGuard(t, bank)
	c := newTally()
	err := rows.Each(filepath.Join(conformance(t), "leak", "pairs.jsonl"), func(r rows.Row) error {
		p := gjson.Parse(r.JSON)
		c.add(p.Get("kind").Str, p.Get("base_id").Str, g.Check(Candidate{Text: p.Get("text").Str}))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("dropped %v, the same %v, matched to another %v", c.drop, c.sameCount, c.wrong)
	c.atLeast(t, "dropped", c.drop, "light", 1)
	c.atLeast(t, "dropped", c.drop, "reorder", 1)
	c.atLeast(t, "dropped", c.drop, "heavy", 57./60)
	c.atMost(t, "dropped", c.drop, "neg_topic", 1./60)
	c.atMost(t, "called the same", c.sameCount, "neg_near", 3./60)
	hits := c.sameCount["light"] + c.sameCount["reorder"] + c.sameCount["heavy"]
	false_ := c.sameCount["neg_near"] + c.sameCount["neg_topic"]
	if f1 := 2 * float64(hits) / float64(hits+false_+180); f1 < 0.97 {
		t.Errorf("same: F1 %.4f, want at least 0.97", f1)
	}
}

// TestSharedProductsAreFound checks every pair of public problems with a gold
// product in common, by specification alone.
func TestSharedProductsAreFound(t *testing.T) {
	t.Parallel()
	bank := publicBank(t)
	pairs := 0
	for i := range bank {
		for j := range i {
			if !slices.ContainsFunc(bank[i].ItemIDs, func(id string) bool { return slices.Contains(bank[j].ItemIDs, id) }) {
				continue
			}
			pairs++
			g := newTestGuard(t, bank[j:j+1])
			if f := g.Check(Candidate{ItemIDs: bank[i].ItemIDs}); !f.Drop || f.Tier != TierSpec || f.Match != bank[j].ID {
				t.Errorf("%s and %s share a product: %+v", bank[i].ID, bank[j].ID, f)
			}
		}
	}
	if pairs != 13 {
		t.Errorf("%d pairs share a product, want 13", pairs)
	}
}

func TestPublishedSuitesAreInThePublicBank(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, publicBank(t))
	files, err := rows.Files(filepath.Join(conformance(t), "real", "oro-suites"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, f := range files {
		err := rows.Each(f, func(r rows.Row) error {
			if g.Check(Candidate{Text: rows.Read(r).Request}).Same {
				count++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if count != 180 {
		t.Errorf("%d of 180 requests found by text", count)
	}
}
