package shop

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/internal/python"
)

func eachLine(t *testing.T, path string, visit func([]byte)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		visit(sc.Bytes())
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
}

func openCatalog(t *testing.T, path string) *Catalog {
	t.Helper()
	c, err := Open(t.Context(), path, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

type searchCase struct {
	ID      string
	Kind    string
	Params  map[string]string
	Status  int
	IDs     []string
	Scores  []float64
	Matches *int
	Body    *string
}

// TestSearchEqualsTheRealServer compares ids, order, scores and bodies with the real server's
// answers.
func TestSearchEqualsTheRealServer(t *testing.T) {
	t.Parallel()
	for _, set := range [][2]string{
		{"data/day/catalog.jsonl", "cases.jsonl"}, {"data/search/wild_catalog.jsonl", "wild_cases.jsonl"},
	} {
		t.Run(set[1], func(t *testing.T) {
			t.Parallel()
			c := openCatalog(t, longtest.Shared(t, set[0]))
			n := 0
			eachLine(t, longtest.Shared(t, "data/search/"+set[1]), func(b []byte) {
				var want searchCase
				if err := json.Unmarshal(b, &want); err != nil {
					t.Fatal(err)
				}
				compareSearch(t, c, want)
				n++
			})
			t.Logf("%d cases", n)
		})
	}
}

func compareSearch(t *testing.T, c *Catalog, want searchCase) {
	t.Helper()
	p := want.Params
	q := Query{Q: p["q"], Page: p["page"], ShopID: p["shop_id"], Price: p["price"], Sort: p["sort"], Service: p["service"]}
	hits, err := c.Find(q, SubnetRules)
	if (err != nil) != (want.Status == 500) {
		t.Errorf("%s %s: error %v, want status %d", want.ID, want.Kind, err, want.Status)
		return
	}
	ids := []string{}
	for i, h := range hits {
		ids = append(ids, c.ID(h))
		if i < len(want.Scores) && math.Abs(float64(h.Score)-want.Scores[i]) > 0.5001e-4 {
			t.Errorf("%s %s: score %d is %v, want %v", want.ID, want.Kind, i, h.Score, want.Scores[i])
		}
	}
	if !slices.Equal(ids, want.IDs) && len(ids)+len(want.IDs) > 0 {
		t.Errorf("%s %s: ids %v, want %v", want.ID, want.Kind, ids, want.IDs)
	}
	if want.Body == nil {
		return
	}
	v, err := c.searchResponse(q, SubnetRules)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(python.Compact(v)) + "\n"; got != *want.Body {
		t.Errorf("%s %s: body\n%s\nwant\n%s", want.ID, want.Kind, got, *want.Body)
	}
}

// allTools are the seven tools' names.
var allTools = []string{
	"find_product", "view_product_information", "recommend_product", "terminate",
	"check_product_match", "find_products_in_same_shop", "calculate_voucher",
}

// TestToolsReadLikeTheRealOnes holds the text that a model reads against that
// of the real tools over the real server.
func TestToolsReadLikeTheRealOnes(t *testing.T) {
	t.Parallel()
	c := openCatalog(t, longtest.Shared(t, "data/day/catalog.jsonl"))
	tools := NewTools(Local{c, SubnetRules}, SubnetRules, allTools)
	n := 0
	eachLine(t, longtest.Shared(t, "data/search/tools.jsonl"), func(b []byte) {
		line, err := python.Loads(string(b))
		if err != nil {
			t.Fatal(err)
		}
		name, _ := line.Get("tool")
		arguments, _ := line.Get("arguments")
		want, _ := line.Get("obs")
		got := Observation([]Answer{tools.Call(t.Context(), name.Text, arguments)})
		if got != want.Text {
			id, _ := line.Get("id")
			t.Errorf("%s %s(%s):\n%s\nwant\n%s", id.Text, name.Text, python.Repr(arguments), got, want.Text)
		}
		n++
	})
	t.Logf("%d cases", n)
}
