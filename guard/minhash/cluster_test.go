package minhash

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trajectory-arena/arena/internal/longtest"
)

// vary makes n texts: families of near-copies with edits, and loners.
func vary(r *rand.Rand, n, words int) []string {
	out := make([]string, 0, n)
	for len(out) < n {
		base := make([]string, words)
		for i := range base {
			base[i] = fmt.Sprintf("w%d", r.IntN(5000))
		}
		out = append(out, strings.Join(base, " "))
		for range r.IntN(4) {
			edited := slices.Clone(base)
			for range r.IntN(1 + words/40) {
				edited[r.IntN(words)] = fmt.Sprintf("x%d", r.IntN(5000))
			}
			out = append(out, strings.Join(edited, " "))
		}
	}
	return out[:n]
}

func BenchmarkTextsShort(b *testing.B) {
	texts := vary(rand.New(rand.NewPCG(1, 2)), 100_000, 40)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Texts(texts, Short()); err != nil {
			b.Fatal(err)
		}
	}
}

func TestSignedIsCalledForEveryText(t *testing.T) {
	t.Parallel()
	o := Long()
	var signed atomic.Int64
	o.Workers = 3
	o.Signed = func(bytes int) { signed.Add(int64(bytes)) }
	if _, _, err := Texts([]string{"a", "bcd", "", "ef", "ghij"}, o); err != nil || signed.Load() != 10 {
		t.Errorf("signed %d bytes, want 10: %v", signed.Load(), err)
	}
}

// TestClustersIncludeEveryExactPair compares with the partition that all pairs
// give.
func TestClustersIncludeEveryExactPair(t *testing.T) {
	t.Parallel()
	texts := vary(rand.New(rand.NewPCG(3, 4)), longtest.Pick(1500, 500), 120)
	for name, o := range map[string]Options{"long": Long(), "short": Short()} {
		_, c, err := Texts(texts, o)
		if err != nil {
			t.Fatal(err)
		}
		sets := make([][]uint32, len(texts))
		for i := range texts {
			sets[i] = sortedSet(shingles(new(shingler), texts[i], nil))
		}
		matched := 0
		missed := 0
		wrong := 0
		exact := newExact(sets, o.Threshold)
		for i := range texts {
			for j := range i {
				together := c.Root[i] == c.Root[j]
				switch {
				case together && exact[i] == exact[j]:
					matched++
				case together:
					wrong++
				case exact[i] == exact[j]:
					missed++
				}
			}
		}
		f1 := 2 * float64(matched) / float64(2*matched+missed+wrong)
		t.Logf("%s: F1 %.4f found %d missed %d wrong %d, %d candidates", name, f1, matched, missed, wrong, c.Candidates)
		if wrong > 0 || f1 < map[string]float64{"long": 0.999, "short": 0.95}[name] {
			t.Errorf("%s: F1 %.4f, %d wrong", name, f1, wrong)
		}
	}
}

// newExact returns the root of each document by comparing all pairs.
func newExact(sets [][]uint32, threshold float64) []uint32 {
	c := &clustering{parent: make([]uint32, len(sets))}
	for i := range c.parent {
		c.parent[i] = uint32(i)
	}
	for i := range sets {
		for j := range i {
			if plainJaccard(sets[i], sets[j]) >= threshold {
				x := c.find(uint32(i))
				y := c.find(uint32(j))
				c.parent[max(x, y)] = min(x, y)
			}
		}
	}
	for i := range c.parent {
		c.parent[i] = c.find(uint32(i))
	}
	return c.parent
}

// TestClustersDoNotDependOnOrder shuffles the texts and adds unrelated ones.
func TestClustersDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	texts := vary(r, 600, 60)
	want := members(t, texts, Long())
	shuffled := slices.Clone(texts)
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for _, workers := range []int{1, 2, 8, 1000} {
		o := Long()
		o.Workers = workers
		if got := members(t, shuffled, o); !slices.Equal(got, want) {
			t.Errorf("another order and %d workers give other clusters", workers)
		}
	}
	more := members(t, append(slices.Clone(texts), vary(rand.New(rand.NewPCG(7, 8)), 100, 61)...), Long())
	for _, m := range want {
		if !slices.Contains(more, m) {
			t.Errorf("strangers changed a cluster of %d bytes", len(m))
		}
	}
}

// members names each cluster by its sorted texts.
func members(t *testing.T, texts []string, o Options) []string {
	t.Helper()
	_, c, err := Texts(texts, o)
	if err != nil {
		t.Fatal(err)
	}
	byHash := map[uint32][]string{}
	for i, root := range c.Root {
		byHash[root] = append(byHash[root], texts[i])
	}
	var out []string
	for _, m := range byHash {
		slices.Sort(m)
		out = append(out, strings.Join(m, "\n"))
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}

func TestCappedBucketsAreReported(t *testing.T) {
	t.Parallel()
	texts := make([]string, 400)
	for i := range texts {
		texts[i] = strings.Repeat("all of these share one long opening that fills every bucket there is ", 12) + fmt.Sprint("tail ", i)
	}
	o := Long()
	o.BucketCap = 20
	_, c, err := Texts(texts, o)
	if err != nil {
		t.Fatal(err)
	}
	if c.Capped == 0 || c.Skipped == 0 {
		t.Errorf("capped %d skipped %d: nothing is reported", c.Capped, c.Skipped)
	}
	want := members(t, texts, o)
	rand.New(rand.NewPCG(9, 9)).Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	if !slices.Equal(members(t, texts, o), want) {
		t.Error("another order has other clusters where buckets are capped")
	}
}

func TestOptionsValidateListsEveryFault(t *testing.T) {
	t.Parallel()
	err := Options{Bands: 200, Rows: 2, Threshold: 2, BucketCap: 1}.Validate()
	for _, want := range []string{"bands", "threshold", "cap"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not name %s", err, want)
		}
	}
	if _, err := Cluster(nil, nil, Options{}); err == nil {
		t.Error("empty options pass")
	}
	if c, err := Cluster(nil, nil, Long()); err != nil || len(c.Root) != 0 {
		t.Errorf("no documents: %v, %v", c, err)
	}
}
