package outcome_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
)

// titled scores a recommendation of the bell for a product task with two wanted titles, and returns
// title axis, rule and source.
func titled(t *testing.T, titles outcome.Titles, id, vectors string) (string, error) {
	t.Helper()
	p, err := arena.ParseProblem([]byte(`{"query":"q","reward":{"product_id":"` + id + `","title":["gong","chime"],"price":[{"less than":[null,1]}]},"reward_title_embeddings":` + vectors + `}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := outcome.ReadCatalog(strings.NewReader(bell), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	tr := &arena.Trace{Status: arena.StatusSuccess, HasDialogue: true, Steps: []arena.Step{{Raw: arena.Raw(turnOf(recommend("7")))}}}
	o, err := outcome.New(c, titles).Score(t.Context(), tr, &p)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%.3g %.3g %s", o.Scores.Axes.Title, o.Scores.Axes.Rule, o.Titles), nil
}

func TestCarriedTitles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		titles      outcome.Titles
		id, vectors string
		want        string
	}{
		"no vectors":                      {outcome.Carried{}, "1", `null`, "0 0 none"},
		"the product's title has none":    {outcome.Carried{}, "1", `{"gong":[1,0],"chime":[0,1]}`, "0 0 none"},
		"one of two is near":              {outcome.Carried{}, "1", `{"bell":[1,0.1],"gong":[1,0],"chime":[0,1]}`, "0.5 0.333 vectors"},
		"one has no vector":               {outcome.Carried{}, "1", `{"bell":[1,0.1],"gong":[1,0]}`, "1 0.5 vectors"},
		"lengths are divided out":         {outcome.Carried{}, "1", `{"bell":[10,0],"gong":[0.6,0.8],"chime":[0.08,0.06]}`, "0.5 0.333 vectors"},
		"other dimensions are far":        {outcome.Carried{}, "1", `{"bell":[1],"gong":[1,0],"chime":[0,0]}`, "0 0 vectors"},
		"gold has the title by itself":    {outcome.Carried{}, "7", `null`, "1 1 none"},
		"gold with vectors that are idle": {outcome.Carried{}, "7", `{"gong":[1,0]}`, "1 1 vectors"},
		"titles left out":                 {nil, "1", `{"bell":[1,0],"gong":[1,0]}`, "0 0 none"},
	} {
		got, err := titled(t, c.titles, c.id, c.vectors)
		if err != nil || got != c.want {
			t.Errorf("%s: %s %v, want %s", name, got, err, c.want)
		}
	}
}

// embedder is a server whose vector of a text depends on its first letter. It
// answers in reverse order.
type embedder struct {
	requests, texts atomic.Int64
	// fail answers a request by itself where it returns true.
	fail func(n int64, w http.ResponseWriter) bool
	seen func(r *http.Request, texts []string)
}

func (e *embedder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := e.requests.Add(1)
	if e.fail != nil && e.fail(n, w) {
		return
	}
	var ask struct {
		Model  string
		Input  []string
		Format string `json:"encoding_format"`
	}
	if json.NewDecoder(r.Body).Decode(&ask) != nil || r.URL.Path != "/v1/embeddings" || ask.Format != "float" {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	if e.seen != nil {
		e.seen(r, ask.Input)
	}
	e.texts.Add(int64(len(ask.Input)))
	type item struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	var data []item
	for i := len(ask.Input) - 1; i >= 0; i-- {
		angle := float64(ask.Input[i][0]) / 20
		data = append(data, item{i, []float64{3 * math.Cos(angle), 3 * math.Sin(angle)}})
	}
	json.NewEncoder(w).Encode(map[string]any{"data": data, "model": ask.Model})
}

func endpoint(t *testing.T, e *embedder, change func(*model.EmbedderConfig)) *outcome.Endpoint {
	t.Helper()
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	c := model.DefaultEmbedder()
	c.BaseURL = server.URL + "/v1"
	c.Wait = time.Millisecond
	c.Timeout = time.Minute
	if change != nil {
		change(&c)
	}
	got, err := model.OpenEmbedder(c)
	if err != nil {
		t.Fatal(err)
	}
	return outcome.NewEndpoint(got)
}

// TestEndpointTitles checks similarity by an endpoint whose vectors depend on first letters: bell
// is near chime and gong.
func TestEndpointTitles(t *testing.T) {
	t.Parallel()
	e := &embedder{}
	titles := endpoint(t, e, nil)
	for range 2 {
		if got, err := titled(t, titles, "1", "null"); err != nil || got != "1 0.667 endpoint" {
			t.Errorf("%s %v", got, err)
		}
	}
	if e.requests.Load() != 1 || e.texts.Load() != 3 {
		t.Errorf("%d requests of %d texts, want the second scoring to ask nothing", e.requests.Load(), e.texts.Load())
	}
	if got, err := titled(t, titles, "7", "null"); err != nil || got != "1 1 endpoint" || e.requests.Load() != 1 {
		t.Errorf("gold: %s %v", got, err)
	}
}

// TestCarriedVectorsAreUsedForTheirModelOnly checks that distant vectors for gong are taken
// from the problem under the suites' model, and requested under another.
func TestCarriedVectorsAreUsedForTheirModelOnly(t *testing.T) {
	t.Parallel()
	const vectors = `{"gong":[0,1],"chime":[0,1]}`
	if got, err := titled(t, endpoint(t, &embedder{}, nil), "1", vectors); err != nil || got != "0 0 endpoint" {
		t.Errorf("same model: %s %v", got, err)
	}
	other := endpoint(t, &embedder{}, func(c *model.EmbedderConfig) { c.Model = "another" })
	if got, err := titled(t, other, "1", vectors); err != nil || got != "1 0.667 endpoint" {
		t.Errorf("other model: %s %v", got, err)
	}
	if got, err := titled(t, endpoint(t, &embedder{}, nil), "1", `{"gong":[0,1,0]}`); err == nil || !strings.Contains(err.Error(), "2 dimensions, those of the problem 3") {
		t.Errorf("same model at another length: %s %v", got, err)
	}
}

// TestAModelEmbedsTextOnly checks that with a model a title that is no text leaves the attempt
// without a score, and that without a model the title is left out.
func TestAModelEmbedsTextOnly(t *testing.T) {
	t.Parallel()
	model := endpoint(t, &embedder{}, nil)
	for name, c := range map[string]struct{ category, reward, document, want string }{
		"a wish of another type":       {"Product", `{"product_id":"1","title":[5]}`, bell, "title: a number cannot be embedded"},
		"wishes of null":               {"Product", `{"product_id":"1","title":null}`, bell, "title: cannot walk over null"},
		"a product without a title":    {"Product", `{"product_id":"1","title":[]}`, `{"product_id":"7","price":1}`, `read "title": no such key`},
		"a product's title of null":    {"Product", `{"product_id":"1","title":[]}`, `{"product_id":"7","price":1,"title":null}`, "title: null cannot be embedded"},
		"a title without a wish":       {"Product", `{"product_id":"1"}`, `{"product_id":"7","price":1,"title":null}`, ""},
		"in a task of several, always": {"Shop", `[{"product_id":"1"}]`, `{"product_id":"7","price":1,"title":null}`, "title: null cannot be embedded"},
		"but not of the gold product":  {"Shop", `[{"product_id":"7"}]`, `{"product_id":"7","price":1,"title":null,"shop_id":1}`, ""},
	} {
		p, err := arena.ParseProblem([]byte(`{"query":"q","category":"` + c.category + `","reward":` + c.reward + `}`))
		if err != nil {
			t.Fatal(err)
		}
		products, err := outcome.ReadCatalog(strings.NewReader(c.document), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		tr := &arena.Trace{Status: arena.StatusSuccess, HasDialogue: true, Steps: []arena.Step{{Raw: arena.Raw(turnOf(recommend("7")))}}}
		o, err := outcome.New(products, model).Score(t.Context(), tr, &p)
		if err != nil || o.Error != c.want {
			t.Errorf("%s: %q %v, want %q", name, o.Error, err, c.want)
		}
	}
}

// TestAProductsOwnTitleIsEmbedded holds that the vector which a problem has for a title is used for
// a wish, never for a product of that title.
func TestAProductsOwnTitleIsEmbedded(t *testing.T) {
	t.Parallel()
	const far = `{"bell":[0,1],"gong":[0,1],"chime":[0,1]}`
	if got, err := titled(t, endpoint(t, &embedder{}, nil), "1", far); err != nil || got != "0 0 endpoint" {
		t.Errorf("%s %v", got, err)
	}
}

func TestEndpointBatchesKeysAndPrefixes(t *testing.T) {
	t.Parallel()
	sizes := make(chan int, 10)
	e := &embedder{seen: func(r *http.Request, texts []string) {
		sizes <- len(texts)
		if r.Header.Get("Authorization") != "Bearer sesame" || !strings.HasPrefix(texts[0], "query: ") {
			t.Errorf("asked for %q with %q", texts[0], r.Header.Get("Authorization"))
		}
	}}
	titles := endpoint(t, e, func(c *model.EmbedderConfig) {
		c.Key = "sesame"
		c.Prefix = "query: "
	})
	texts := make([]string, 130)
	for i := range texts {
		texts[i] = fmt.Sprint(i)
	}
	vectors, _, err := titles.Vectors(t.Context(), &arena.Problem{}, texts, nil)
	if err != nil || len(vectors) != 130 || vectors[129] == nil {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	a := <-sizes
	b := <-sizes
	c := <-sizes
	if a != 64 || b != 64 || c != 2 {
		t.Errorf("batches of %d, %d, %d", a, b, c)
	}
}

// TestEndpointFailures checks that temporary failures are tried again and lasting ones are not.
func TestEndpointFailures(t *testing.T) {
	t.Parallel()
	answer := func(body string) func(int64, http.ResponseWriter) bool {
		return func(_ int64, w http.ResponseWriter) bool { fmt.Fprint(w, body); return true }
	}
	status := func(code int, times int64) func(int64, http.ResponseWriter) bool {
		return func(n int64, w http.ResponseWriter) bool {
			if n <= times {
				http.Error(w, `{"error":{"message":"no"}}`, code)
			}
			return n <= times
		}
	}
	for name, c := range map[string]struct {
		fail     func(int64, http.ResponseWriter) bool
		requests int64
		want     string
	}{
		"busy twice":             {status(429, 2), 3, ""},
		"broken twice":           {status(503, 2), 3, ""},
		"broken for ever":        {status(500, 99), 5, "500"},
		"refused":                {status(401, 99), 1, "401"},
		"too few vectors":        {answer(`{"data":[{"index":0,"embedding":[1]}]}`), 1, "1 vectors for 3 texts"},
		"one index twice":        {answer(`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}`), 1, "a second one, for text 0"},
		"an index out of range":  {answer(`{"data":[{"index":7,"embedding":[1]}]}`), 1, "for text 7 of 3"},
		"an empty vector":        {answer(`{"data":[{"index":0,"embedding":[]}]}`), 1, "no vector"},
		"a vector of zeros":      {answer(`{"data":[{"index":0,"embedding":[0,0]}]}`), 1, "no vector"},
		"dimensions that differ": {answer(`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]},{"index":2,"embedding":[1]}]}`), 1, "2 dimensions, others have 1"},
	} {
		e := &embedder{fail: c.fail}
		_, err := titled(t, endpoint(t, e, nil), "1", "null")
		hasOtherError := err != nil && !strings.Contains(err.Error(), c.want)
		if (err == nil) != (c.want == "") || hasOtherError || e.requests.Load() != c.requests {
			t.Errorf("%s: %d requests, error %v", name, e.requests.Load(), err)
		}
	}
	if _, err := model.OpenEmbedder(model.EmbedderConfig{BaseURL: "ftp://x", Tries: -1}); err == nil || !strings.Contains(err.Error(), "no model") {
		t.Errorf("a useless configuration: %v", err)
	}
}
