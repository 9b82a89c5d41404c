package outcome_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
)

// TestMultiplier checks the ends, the ceiling and values of the formula 0.3 + 0.875 q.
func TestMultiplier(t *testing.T) {
	t.Parallel()
	for q, want := range map[float64]float64{
		-1: 0.3, 0: 0.3, 0.1: 0.3875, 0.33333: 0.5917, 0.5: 0.7375, 0.7999: 0.9999, 0.8: 1, 1: 1, 7: 1,
		math.Inf(1): 1, math.Inf(-1): 0.3, math.NaN(): 0.3,
	} {
		if got := outcome.Multiplier(q); got != want {
			t.Errorf("multiplier of %v is %v, want %v", q, got, want)
		}
	}
	if got := outcome.FinalScore(1.0/3, 0.5); got != 0.2458 {
		t.Errorf("final score %v, want 0.3333… × 0.7375", got)
	}
}

func TestLineKeepsItsKeys(t *testing.T) {
	t.Parallel()
	one := 1
	zero := 0
	tr := &arena.Trace{RunID: "r\"1", ProblemID: "p\n"}
	for want, o := range map[string]arena.Outcome{
		`null,"success":false,"error":"it ended"}`: {Error: "it ended"},
		`{"length":0,"format":0.5},"success":false,"error":null}`: {
			Scores: &arena.Scores{Format: 0.5}},
		`{"length":0.25,"format":1,"product":1,"gt":0.5,"rule":0.3333333333333333,"title":0.1,"price":0.2,"service":0.3,"sku & attrs":0.4,"shop":1,"budget":0},"success":true,"error":null}`: {
			Scores:  &arena.Scores{Length: 0.25, Format: 1, Axes: &arena.Axes{Product: 1, GT: 0.5, Rule: 1.0 / 3, Title: 0.1, Price: 0.2, Service: 0.3, SKUAttrs: 0.4, Shop: &one, Budget: &zero}},
			Success: true},
	} {
		got := string(outcome.AppendLine(nil, tr, o))
		if want = `{"eval_run_id":"r\"1","problem_id":"p\n","score":` + want; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestUnscoredAttemptsHaveReasons(t *testing.T) {
	t.Parallel()
	good := arena.Trace{Status: arena.StatusSuccess, HasDialogue: true, ProblemID: "x"}
	timedOut := good
	silent := good
	timedOut.Status = arena.StatusTimedOut
	silent.HasDialogue = false
	p := &arena.Problem{Category: arena.CategoryProduct, Raw: `{"reward":null}`}
	for want, c := range map[string]struct {
		t arena.Trace
		p *arena.Problem
	}{
		"the attempt ended with status TIMED_OUT": {timedOut, nil},
		"the attempt left no dialogue":            {silent, p},
		`problem "x" is not among the problems`:   {good, nil},
		"the problem has no reward":               {good, p},
	} {
		o, err := outcome.New(&outcome.Catalog{}, nil).Score(t.Context(), &c.t, c.p)
		if err != nil || o.Error != want || o.Scores != nil || o.Success || o.Titles != arena.TitlesNone {
			t.Errorf("%+v %v, want %s", o, err, want)
		}
	}
}

func TestCatalog(t *testing.T) {
	t.Parallel()
	c, err := outcome.ReadCatalog(strings.NewReader("\n{\"product_id\":\"7\",\"price\":1}\r\n{\"product_id\":\"7\",\"price\":2}\n{\"product_id\":8,\"price\":-0.5}"), 100)
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := c.Document("7"); !ok || text != `{"product_id":"7","price":1}` || c.Len() != 2 {
		t.Errorf("of two documents with one id the first counts, not %s of %d", text, c.Len())
	}
	if _, ok := c.Document("8"); !ok {
		t.Error("an id that is written as a number is lost")
	}
	good := `{"product_id":"7","price":1}` + "\n"
	for text, want := range map[string]string{
		"":                                 "the file holds no document",
		good + `{"product_id":"8"}`:        "line 2: product 8 has no numeric price",
		`{"product_id":"8","price":"1"}`:   "line 1: product 8 has no numeric price",
		`{"product_id":"8","price":true}`:  "line 1: product 8 has no numeric price",
		"\n" + `{"price":1}`:               "line 2: no product_id",
		good + `{"product_id":"8",`:        "line 2: no valid JSON",
		good + strings.Repeat("x", 70_000): "line 2: longer than 60000 bytes",
	} {
		if _, err := outcome.ReadCatalog(strings.NewReader(text), 60_000); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func TestCatalogFilesAreReadWhenAsked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.jsonl")
	text := "\n  " + bell + " \r\n" + drum
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var c outcome.Catalog
	if err := c.Open(path, 1000); err != nil {
		t.Fatal(err)
	}
	if err := c.Open(path+"x", 1000); err == nil {
		t.Error("a missing file was opened")
	}
	for id, want := range map[string]string{"7": bell, "8": drum} {
		if text, ok := c.Document(id); !ok || string(text) != want {
			t.Errorf("product %s is %s", id, text)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Document("7"); ok {
		t.Error("a closed file was read")
	}
}

// TestCatalogLeavesDocumentsOnDisk is not parallel: it asks how much lives.
func TestCatalogLeavesDocumentsOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.jsonl")
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, `{"product_id":"p%d","price":1,"title":%q}`+"\n", i, strings.Repeat("word ", 3000))
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var c outcome.Catalog
	before := living()
	if err := c.Open(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	if grown := living() - before; c.Len() != 500 || grown > 1<<20 {
		t.Errorf("%d documents of 15 KB take %d bytes", c.Len(), grown)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func living() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestScorerIsForManyGoroutines is for the race detector.
func TestScorerIsForManyGoroutines(t *testing.T) {
	t.Parallel()
	c, err := outcome.ReadCatalog(strings.NewReader(bell), 1000)
	if err != nil {
		t.Fatal(err)
	}
	p, err := arena.ParseProblem([]byte(`{"query":"q","reward":{"product_id":"7"}}`))
	if err != nil {
		t.Fatal(err)
	}
	scorer := outcome.New(c, outcome.Carried{})
	tr := &arena.Trace{Status: arena.StatusSuccess, HasDialogue: true, Steps: []arena.Step{{Raw: arena.Raw(turnOf(recommend("7"), end))}}}
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for range 50 {
				if o, err := scorer.Score(t.Context(), tr, &p); err != nil || !o.Success {
					t.Errorf("%+v %v", o, err)
				}
			}
		})
	}
	workers.Wait()
}

// TestOtherShapesScoreAsTheSandboxWouldHaveRecordedThem checks steps of an OpenAI conversation,
// which have their arguments in a string and no time stamp.
func TestOtherShapesScoreAsTheSandboxWouldHaveRecordedThem(t *testing.T) {
	t.Parallel()
	c, err := outcome.ReadCatalog(strings.NewReader(bell), 1000)
	if err != nil {
		t.Fatal(err)
	}
	p, err := arena.ParseProblem([]byte(`{"query":"q","reward":{"product_id":"7"}}`))
	if err != nil {
		t.Fatal(err)
	}
	tr := &arena.Trace{Status: arena.StatusSuccess, HasDialogue: true, Steps: []arena.Step{
		{Role: arena.RoleUser, Content: "more?"},
		{Reasoning: "7 it is", Calls: []arena.ToolCall{{Name: "recommend_product", Arguments: `"{\"product_ids\":\"7\"}"`, Result: `"ok"`}}},
		{Content: "done", Calls: []arena.ToolCall{{Name: "terminate", Arguments: `"{"`}}},
	}}
	o, err := outcome.New(c, nil).Score(t.Context(), tr, &p)
	if err != nil {
		t.Fatal(err)
	}
	if !o.Success || o.Scores.Length != 0.5 || o.Scores.Format != 0.25 {
		t.Errorf("%+v %+v", o, o.Scores)
	}
}

// FuzzScoresStayInRange holds for any step, reward and document that a score is between 0 and 1 or
// absent with a reason, the same each time, and that its line is JSON.
func FuzzScoresStayInRange(f *testing.F) {
	for _, reward := range []string{`{"product_id":"7"}`, `[{"product_id":"1","price":[{"between":[1,null]}],"attributes":[{"brand":["brr",1,true]}],"sku_options":[{"colour":"red"}],"service":["COD"],"title":["x"]}]`, `[null]`, `"ab"`} {
		for _, category := range []string{"Product", "Shop", "Voucher"} {
			f.Add(turnOf(recommend("7"), end), reward, bell, category, `{"budget":1,"voucher_type":"shop","threshold":0,"discount_type":"percentage","discount":0.1,"cap":1e308}`)
		}
	}
	f.Fuzz(func(t *testing.T, step, reward, document, category, voucher string) {
		if !json.Valid([]byte(step)) {
			return
		}
		c, err := outcome.ReadCatalog(strings.NewReader(document), 1<<16)
		if err != nil {
			return
		}
		p, err := arena.ParseProblem([]byte(`{"query":"q","category":"` + category + `","reward":` + reward + `,"voucher":` + voucher + `}`))
		if err != nil {
			return
		}
		tr := &arena.Trace{Status: arena.StatusSuccess, HasDialogue: true, Steps: []arena.Step{{Raw: arena.Raw(step)}}}
		o, err := outcome.New(c, outcome.Carried{}).Score(t.Context(), tr, &p)
		if err != nil || (o.Scores == nil) == (o.Error == "") {
			t.Fatalf("%+v %v", o, err)
		}
		line := outcome.AppendLine(nil, tr, o)
		again, _ := outcome.New(c, outcome.Carried{}).Score(t.Context(), tr, &p)
		if !json.Valid(line) || string(outcome.AppendLine(nil, tr, again)) != string(line) {
			t.Fatalf("line %s", line)
		}
		if o.Scores != nil {
			inRange(t, o.Scores)
		}
	})
}

func inRange(t *testing.T, s *arena.Scores) {
	t.Helper()
	scores := []float64{s.Length, s.Format}
	if a := s.Axes; a != nil {
		scores = append(scores, a.Product, a.GT, a.Rule, a.Title, a.Price, a.Service, a.SKUAttrs)
	}
	for _, x := range scores {
		if !(x >= 0 && x <= 1) {
			t.Fatalf("score of %v", x)
		}
	}
}
