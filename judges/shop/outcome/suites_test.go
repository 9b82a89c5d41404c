package outcome_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
)

// TestPublishedSuitesAreRead reads each published suite completely: JSON lines and arrays, with and
// without categories and vectors.
func TestPublishedSuitesAreRead(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(longtest.Shared(t, "data/real/oro-suites"), "*.json*"))
	if err != nil || len(files) != 6 {
		t.Fatalf("%d suites, %v", len(files), err)
	}
	for _, file := range files {
		count := map[arena.Category]int{}
		vectors := 0
		for _, p := range readProblems(t, file) {
			count[p.Category]++
			if p.TitleVectors != nil {
				vectors++
			}
			if len(p.Rewards) == 0 || p.Rewards[0].ProductID == "" || (p.Voucher != nil) != (p.Category == arena.CategoryVoucher) {
				t.Errorf("%s: %+v", file, p)
			}
		}
		got := fmt.Sprint(count, vectors)
		name := filepath.Base(file)
		want := "map[Product:10 Shop:10 Voucher:10] 0"
		if name == "suite_v2.json" || name == "suite_v3.json" {
			want = "map[Product:10 Shop:10 Voucher:10] 30"
		}
		if got != want {
			t.Errorf("%s holds %s, want %s", name, got, want)
		}
	}
}

func readProblems(t *testing.T, path string) []arena.Problem {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	problems, err := arena.ReadProblems(f, 1<<26)
	if err != nil {
		t.Fatal(err)
	}
	return problems
}

// TestRealVectorsAreNoUnitVectors holds that the titles of one published suite contain a pair for
// which a plain dot product is on the wrong side of the limit.
func TestRealVectorsAreNoUnitVectors(t *testing.T) {
	t.Parallel()
	titles := map[string][]float64{}
	for _, p := range readProblems(t, filepath.Join(longtest.Shared(t, "data/real/oro-suites"), "suite_v2.json")) {
		for title, v := range p.TitleVectors {
			titles[title] = v
		}
	}
	wrong := 0
	for a, va := range titles {
		for b, vb := range titles {
			var dot, aa, bb float64
			for i := range va {
				dot, aa, bb = dot+va[i]*vb[i], aa+va[i]*va[i], bb+vb[i]*vb[i]
			}
			similar := dot >= 0.7*math.Sqrt(aa)*math.Sqrt(bb)
			if a >= b || similar == (dot >= 0.7) {
				continue
			}
			wrong++
			if got := agree(t, a, va, b, vb); got != similar {
				t.Errorf("%q and %q: match %v, want %v", a, b, got, similar)
			}
		}
	}
	if wrong != 1 {
		t.Errorf("%d pairs differ, want 1", wrong)
	}
}

// agree scores a product titled a against a reward for the title b.
func agree(t *testing.T, a string, va []float64, b string, vb []float64) bool {
	t.Helper()
	c, err := outcome.ReadCatalog(strings.NewReader(fmt.Sprintf(`{"product_id":"5","price":1,"title":%q}`, a)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	p := &arena.Problem{
		Category: arena.CategoryProduct, Raw: arena.Raw(fmt.Sprintf(`{"reward":{"product_id":"6","title":[%q]}}`, b)),
		TitleVectors: map[string][]float64{a: va, b: vb},
	}
	tr := &arena.Trace{Status: arena.StatusSuccess, HasDialogue: true, Steps: []arena.Step{{Raw: arena.Raw(turnOf(recommend("5")))}}}
	o, err := outcome.New(c, outcome.Carried{}).Score(t.Context(), tr, p)
	if err != nil {
		t.Fatal(err)
	}
	return o.Success
}
