package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/shop/analyzer"
	"github.com/trajectory-arena/arena/shop/store"
)

// corpus makes documents of words by a power law.
func corpus(n int) []string {
	random := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(random, 1.1, 4, 4000)
	docs := make([]string, n)
	for i := range docs {
		words := make([]string, 3+random.IntN(60))
		for k := range words {
			words[k] = fmt.Sprintf("w%dx", zipf.Uint64())
		}
		docs[i] = strings.Join(words, " ")
	}
	return docs
}

func build(t testing.TB, docs []string) *Index {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "index"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := store.NewWriter(f, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := Builder{}
	for _, d := range docs {
		b.Add(d)
	}
	if err = b.Write(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if err = w.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(f.Name(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	x, err := Open(s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestSearchEqualsTheFormula scores every document by the published formula and compares the
// rankings.
func TestSearchEqualsTheFormula(t *testing.T) {
	t.Parallel()
	docs := append(corpus(17_000), "the", "!!") // more than two windows; the last hold no term and do not count
	x := build(t, docs)
	words := count(docs)
	for _, q := range []string{"w0x w1x", "w7x w7x w200x w3999x", "w3x", "none", "w12x w90x w900x"} {
		want := words.rank(q)
		for _, limit := range []int{1, 50, 100_000} {
			got, matches, err := x.Search(q, limit)
			if err != nil {
				t.Fatal(err)
			}
			if matches != len(want) {
				t.Errorf("%s: %d matches, want %d", q, matches, len(want))
			}
			if !slices.Equal(got, want[:min(limit, len(want))]) {
				t.Errorf("%s: the best %d differ", q, limit)
			}
		}
	}
}

// naive has the values of every document that the formula needs.
type naive struct {
	lengths         []uint32
	total, nonEmpty uint64
	frequency       []map[string]int
	holders         map[string]int
}

func count(docs []string) *naive {
	c := &naive{frequency: make([]map[string]int, len(docs)), holders: map[string]int{}}
	for i, d := range docs {
		c.frequency[i] = map[string]int{}
		n := uint32(0)
		analyzer.Terms(d, func(b []byte) {
			n++
			if c.frequency[i][string(b)]++; c.frequency[i][string(b)] == 1 {
				c.holders[string(b)]++
			}
		})
		c.lengths = append(c.lengths, n)
		c.total += uint64(n)
		c.nonEmpty += uint64(min(n, 1))
	}
	return c
}

// rank holds every document against the query.
func (c *naive) rank(q string) []Hit {
	var terms []string
	counts := map[string]int{}
	analyzer.Terms(q, func(b []byte) {
		if counts[string(b)]++; counts[string(b)] == 1 {
			terms = append(terms, string(b))
		}
	})
	table := norms(c.nonEmpty, c.total)
	var hits []Hit
	for i := range c.lengths {
		sum := 0.0
		any := false
		for _, term := range terms {
			tf := c.frequency[i][term]
			if tf == 0 {
				continue
			}
			any = true
			w := float32(counts[term]) * idf(c.holders[term], c.nonEmpty)
			sum += float64(w - w/(1+float32(float32(tf)*table[lengthByte(c.lengths[i])])))
		}
		if any {
			hits = append(hits, Hit{uint32(i), float32(sum)})
		}
	}
	slices.SortFunc(hits, compareHits)
	return hits
}

func TestLengthsSurviveTheirByte(t *testing.T) {
	t.Parallel()
	for n := range uint32(40) {
		if got := byteLength(lengthByte(n)); got != n {
			t.Errorf("%d was read as %d", n, got)
		}
	}
	last := byte(0)
	for n := range uint32(1 << 16) {
		c := lengthByte(n)
		if c < last || byteLength(c) > n {
			t.Fatalf("length %d has byte %d after %d", n, c, last)
		}
		last = c
	}
}

// FuzzDamagedPostings checks that a cursor over any bytes ends, and that its values are in range.
func FuzzDamagedPostings(f *testing.F) {
	f.Add([]byte{3, 5, 0x80, 0x80})
	f.Fuzz(func(t *testing.T, code []byte) {
		c := cursor{code: code, end: 100}
		for range len(code) + 1 {
			c.next()
			if c.document >= 100 && c.document != math.MaxUint32 {
				t.Fatalf("document %d of 100", c.document)
			}
			if c.document == math.MaxUint32 {
				return
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	x := build(b, corpus(50_000))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := x.Search("w5x w70x w900x", 50); err != nil {
			b.Fatal(err)
		}
	}
}

// TestDamagedPostingsLeadNowhere checks postings with a distance that would wrap around to an
// earlier document.
func TestDamagedPostingsLeadNowhere(t *testing.T) {
	t.Parallel()
	code := appendPosting(appendPosting(nil, 2*window, 1), math.MaxUint32-window, 1)
	x := &Index{norms: make([]byte, 4*window)}
	s := &scratch{cursors: []cursor{{code: code, weight: 1, end: 4 * window}}, top: topHits{limit: 10, minScore: -1}}
	s.cursors[0].next()
	for base, more := nextWindow(s.cursors); more; base, more = nextWindow(s.cursors) {
		x.score(s, base)
		s.collect(base)
	}
	if len(s.top.hits) != 1 {
		t.Errorf("%d documents of one", len(s.top.hits))
	}
}
