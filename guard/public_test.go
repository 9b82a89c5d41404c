package guard

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// publicBank reads the public test problems, named by category and line.
func publicBank(t testing.TB) []Entry {
	t.Helper()
	var bank []Entry
	for _, category := range []string{"product", "shop", "voucher"} {
		err := rows.Each(longtest.Shared(t, "data/shoppingbench/synthesize_"+category+"_test.jsonl"), func(r rows.Row) error {
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
	err := rows.Each(longtest.Shared(t, "data/leak/pairs.jsonl"), func(r rows.Row) error {
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
	c.atMost(t, "called the same", c.sameCount, "neg_topic", 0)
	for kind, share := range map[string]float64{"light": 56. / 60, "reorder": 57. / 60, "heavy": 15. / 60} {
		c.atLeast(t, "called the same", c.sameCount, kind, share)
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
	files, err := rows.Files(longtest.Shared(t, "data/real/oro-suites"))
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
