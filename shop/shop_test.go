package shop

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/python"
)

var update = flag.Bool("update", false, "write the golden files anew")

const sample = "testdata/catalog.jsonl"

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestSearchesOnTheSample pins a search per rule, for those who have no
// answers of the real server at hand.
func TestSearchesOnTheSample(t *testing.T) {
	t.Parallel()
	c := openCatalog(t, sample)
	var b strings.Builder
	for _, q := range []Query{
		{Q: "steel rake"}, {Q: "steel rake", Page: "1"}, {Q: "steel rake", Page: "2"}, {Q: "steel rake", Page: "6"}, {Q: "rake", Page: "²"},
		{Q: "kettles", Page: "01"}, {Q: "  (!)  ", Page: "1"}, {Q: "brand:olivka AND (glass)", Page: "1"}, {Q: "茶壶 größe", Page: "1"},
		{Q: "fan", Page: "1", Price: "100-400"}, {Q: "fan", Page: "1", Price: "-400"}, {Q: "fan", Page: "1", Price: "nan-1e3"},
		{Q: "fan", Page: "1", Price: "1-2-3"}, {Q: "fan", Page: "1", Price: "400-100"}, {Q: "fan", Page: "1", Price: "1_00 - ٤٠٠"},
		{Q: "cotton", Page: "1", Service: "COD"}, {Q: "cotton", Page: "1", Service: "COD, official"}, {Q: "cotton", Page: "1", Service: "COD,official,x"},
		{Q: "cotton", Page: "1", ShopID: "303"}, {Q: "cotton", Page: "1", ShopID: "none"},
		{Q: "bamboo", Page: "1", Sort: "priceasc"}, {Q: "bamboo", Page: "1", Sort: "pricedesc"}, {Q: "bamboo", Page: "1", Sort: "order"},
		{Q: "wall hook", Page: "1", Sort: "order"}, {Q: "the and of", Page: "1"}, {Q: strings.Repeat("x ", 1100), Page: "1"}, {Q: manyTerms(), Page: "1"},
	} {
		hits, err := c.Find(q, SubnetRules)
		fmt.Fprintf(&b, "%.90s\n", strings.Replace(fmt.Sprintf("%+v", q), "Q:", "q:", 1))
		if err != nil {
			fmt.Fprintf(&b, "  error: %v\n", err)
		}
		for _, h := range hits {
			fmt.Fprintf(&b, "  %s %v %v\n", c.ID(h), h.Score, c.price(h.Document))
		}
	}
	golden(t, "searches.golden", b.String())
}

func manyTerms() string {
	var b strings.Builder
	for i := range 1025 {
		fmt.Fprintf(&b, "w%d ", i)
	}
	return b.String()
}

// TestToolsOnTheSample compares the texts that a model receives with fixed ones, one call per rule.
func TestToolsOnTheSample(t *testing.T) {
	t.Parallel()
	tools := NewTools(Local{openCatalog(t, sample), SubnetRules}, SubnetRules, allTools)
	var b strings.Builder
	calls, err := os.ReadFile("testdata/calls.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(calls)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		arguments, err := python.Loads(text)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		fmt.Fprintf(&b, "%s %s\n  %s\n", name, text, Observation([]Answer{tools.Call(t.Context(), name, arguments)}))
	}
	golden(t, "calls.golden", b.String())
}

func TestServerAnswersLikeTheTools(t *testing.T) {
	t.Parallel()
	c := openCatalog(t, sample)
	server := httptest.NewServer(Handler(Local{c, SubnetRules}))
	defer server.Close()
	for url, want := range map[string]int{
		"/health": 200, "/": 200, "/find_product?q=steel&page=1": 200, "/find_product": 200, "/view_product_information": 500,
		"/get_product_raw": 200, "/else": 404, "/find_product?q=a&page=%C2%B2": 500, "/find_product?q=100%&page=1&page=9": 200,
	} {
		res, err := http.Get(server.URL + url)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", url, res.StatusCode, want)
		}
	}
	calls, err := os.ReadFile("testdata/calls.txt")
	if err != nil {
		t.Fatal(err)
	}
	local := NewTools(Local{c, SubnetRules}, SubnetRules, allTools)
	r := NewRemote(server.URL, "")
	r.wait = 0
	r.busy = 0
	remote := NewTools(r, SubnetRules, allTools)
	for line := range strings.Lines(string(calls)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		arguments, err := python.Loads(text)
		if err != nil {
			t.Fatal(err)
		}
		a := local.Call(t.Context(), name, arguments)
		b := remote.Call(t.Context(), name, arguments)
		if diff := cmp.Diff(Observation([]Answer{a}), Observation([]Answer{b})); diff != "" {
			t.Errorf("%s: over HTTP (-local +remote):\n%s", line, diff)
		}
	}
}

func TestIndexFileIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	build := func() (string, []byte) {
		f, err := os.Create(filepath.Join(t.TempDir(), "i"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err = BuildIndex(t.Context(), sample, f); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return f.Name(), b
	}
	path, one := build()
	if _, two := build(); !bytes.Equal(one, two) {
		t.Error("the same catalogue has another index")
	}
	c, err := Open(t.Context(), sample, path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Verify(); err != nil {
		t.Error(err)
	}
	if _, err := Open(t.Context(), "testdata/calls.txt", path); err == nil || !strings.Contains(err.Error(), "another catalogue") {
		t.Errorf("an index of another catalogue: %v", err)
	}
}

func TestACompressedCatalogueIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.jsonl.gz")
	if err := os.WriteFile(path, []byte("\x1f\x8b\x08"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, ""); !errors.Is(err, arena.ErrCompressed) {
		t.Error(err)
	}
}

// TestADamagedIndexIsRefused flips one bit of every 64 bytes: opening the index or verifying it
// returns an error, or it answers as before; nothing panics.
func TestADamagedIndexIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err = errors.Join(BuildIndex(t.Context(), sample, f), f.Close()); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	answers := func() (text string, seen bool) {
		c, refused := Open(t.Context(), sample, path)
		if refused != nil {
			return "", true
		}
		defer c.Close()
		for _, q := range []string{"steel rake", "glass", "bamboo cotton fan"} {
			v, _, _ := Local{c, SubnetRules}.Get(t.Context(), findPath, python.DictOf(
				python.Item{Key: "q", Value: python.String(q)}, python.Item{Key: "page", Value: python.String("1")},
				python.Item{Key: "shop_id", Value: python.String("302")}, python.Item{Key: "sort", Value: python.String("order")},
			))
			text += v.String()
		}
		return text, c.VerifyIndex() != nil
	}
	want, broken := answers()
	if broken {
		t.Fatal("a good index is refused")
	}
	for offset := 0; offset < len(good); offset += 64 {
		bad := bytes.Clone(good)
		bad[offset] ^= 1 << (offset / 64 % 8)
		if err = os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if text, seen := answers(); !seen && text != want {
			t.Errorf("a flipped bit of byte %d is not detected", offset)
		}
	}
}

func TestBadCatalogueLinesAreNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\"product_id\":\"1\",\"price\":1}\n{": "line 2: not valid JSON", "[]": "line 1: not a JSON object",
		`{"price":1}`: "no product_id", `{"product_id":"1","price":"5"}`: "no numeric price",
	} {
		path := filepath.Join(t.TempDir(), "c.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), path, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestProductsAreLookedUp(t *testing.T) {
	t.Parallel()
	c := openCatalog(t, sample)
	lines, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	text, ok := c.Document("55002")
	if !ok || !strings.Contains(string(text), `"55002"`) || !strings.Contains(string(lines), string(text)+"\n") {
		t.Errorf("%v %s", ok, text)
	}
	for _, id := range []string{"", "nothing", "55001"} {
		if _, ok := c.Document(id); ok {
			t.Errorf("%q was found", id)
		}
	}
}

// FuzzFind checks that no query causes a panic, and that no page has more than ten products.
func FuzzFind(f *testing.F) {
	c, err := Open(f.Context(), sample, "")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("steel's kettle", "1", "10-1_0.5", "order")
	f.Add("茶 壶\xff", "②", "nan--", "priceasc")
	f.Fuzz(func(t *testing.T, q, page, price, sort string) {
		hits, _ := c.Find(Query{Q: q, Page: page, Price: price, Sort: sort}, SubnetRules)
		if len(hits) > pageSize {
			t.Fatalf("%d hits", len(hits))
		}
	})
}

// FuzzCall checks that no arguments of a tool cause a panic.
func FuzzCall(f *testing.F) {
	c, err := Open(f.Context(), sample, "")
	if err != nil {
		f.Fatal(err)
	}
	tools := NewTools(Local{c, SubnetRules}, SubnetRules, allTools)
	calls, err := os.ReadFile("testdata/calls.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(calls)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		f.Add(name, text)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		arguments, err := python.Loads(text)
		if err != nil {
			return
		}
		obs := Observation([]Answer{tools.Call(t.Context(), name, arguments)})
		if _, err := python.Loads(strings.TrimSuffix(strings.TrimPrefix(obs, "<obs>"), "</obs>")); err != nil {
			t.Fatalf("%s %s: %v in %s", name, text, err, obs)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	c, err := Open(b.Context(), sample, "")
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.searchResponse(Query{Q: "steel kettle amber", Page: "1"}, SubnetRules); err != nil {
			b.Fatal(err)
		}
	}
}

func TestCancelledIndexBuildEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f, err := os.Create(filepath.Join(t.TempDir(), "i"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := BuildIndex(ctx, sample, f); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled build: %v", err)
	}
	if _, err := Open(ctx, sample, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled build on the spot: %v", err)
	}
}

func TestServerRefusesMethodsAsFlaskDoes(t *testing.T) {
	t.Parallel()
	h := Handler(Local{})
	for request, want := range map[string]int{"POST /find_product": 405, "OPTIONS /find_product": 200, "POST /nowhere": 404, "DELETE /": 405} {
		method, path, _ := strings.Cut(request, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if allow := w.Header().Get("Allow"); w.Code != want || (allow == "") != (want == 404) {
			t.Errorf("%s: %d, allow %q, want %d", request, w.Code, allow, want)
		}
	}
}

// catalogOf opens a catalogue of these lines.
func catalogOf(t *testing.T, lines ...string) *Catalog {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return openCatalog(t, path)
}

// TestFirstDocumentOfAnIDIsShown holds that an id is shown once, at the rank of its best document,
// as its first document in the catalogue, which alone is matched by filters.
func TestFirstDocumentOfAnIDIsShown(t *testing.T) {
	t.Parallel()
	c := catalogOf(
		t, `{"product_id":"2","title":"lamp oil","price":5,"service":[]}`, `{"product_id":"2","title":"lamp","price":50,"service":["COD"]}`,
		`{"product_id":"1","title":"lamp shade","price":50,"service":["COD"]}`,
	)
	for q, want := range map[Query]string{
		{Q: "lamp", Page: "1"}: "2/5 1/50", {Q: "lamp", Page: "1", Price: "9-"}: "1/50", {Q: "lamp", Page: "1", Service: "COD"}: "1/50",
		{Q: "lamp", Page: "1", Sort: "pricedesc"}: "1/50 2/5", {Q: "shade", Page: "1"}: "1/50",
	} {
		hits, err := c.Find(q, SubnetRules)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range hits {
			got = append(got, fmt.Sprintf("%s/%v", c.ID(h), c.price(h.Document)))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%+v: %v, want %s", q, got, want)
		}
	}
}

// TestBlankDocumentsAreJavas checks that an ideographic blank is text, as to Java, and that a zero
// is not.
func TestBlankDocumentsAreJavas(t *testing.T) {
	t.Parallel()
	c := catalogOf(t, `{"product_id":"1","title":"\u3000","price":1}`, `{"product_id":"2","title":"\u0000 \t","price":1}`, `{"product_id":"3","title":"the","price":1}`)
	if !c.Has("1") || c.Has("2") || !c.Has("3") {
		t.Errorf("1 %v, 2 %v, 3 %v", c.Has("1"), c.Has("2"), c.Has("3"))
	}
}

// TestAnswersHaveTheRealLengths compares the Content-Length of answers with those of the real
// server, which sends an HTML page with an error.
func TestAnswersHaveTheRealLengths(t *testing.T) {
	t.Parallel()
	h := Handler(Local{openCatalog(t, sample), SubnetRules})
	for request, want := range map[string]string{
		"GET /find_product?q=%ff&page=1": "3", "HEAD /health": "47", "GET //health": "47", "GET /nowhere": "207", "POST /": "153",
		"GET /view_product_information": "265", "OPTIONS /": "0",
	} {
		method, path, _ := strings.Cut(request, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "http://shop"+path, nil))
		if got := w.Header().Get("Content-Length"); got != want {
			t.Errorf("%s: length %s, want %s: %s", request, got, want, w.Body)
		}
	}
}
