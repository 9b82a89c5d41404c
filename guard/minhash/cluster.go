package minhash

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena/internal/wrong"
)

// Options say which pairs are looked for.
type Options struct {
	// Bands and Rows cut a signature into bands; a pair is a candidate if one band
	// is equal. Bands*Rows may not exceed K.
	Bands, Rows int
	// Threshold is the Jaccard similarity from which two documents are
	// near-duplicates, 0 to 1.
	Threshold float64
	// BucketCap bounds how many documents of one bucket are compared each with
	// each. In a larger bucket each is compared with its next neighbours only.
	BucketCap int
	// Workers sign texts side by side; 0 and 1 are the same.
	Workers int
	// Signed is called with the length of each text that was signed, by any of the workers;
	// nil tells nobody.
	Signed func(bytes int)
}

// Long is for documents of a hundred shingles and more: a pair at 0.8 is a
// candidate with probability 1-(1-0.8^5)^25 = 0.99995.
func Long() Options { return Options{Bands: 25, Rows: 5, Threshold: 0.8, BucketCap: 1000} }

// Short is for requests and the like, whose common phrases would fill the
// buckets of Long: at 0.8 the probability is 1-(1-0.8^6)^21 = 0.998, at 0.5 it
// is 0.28, against 0.55.
func Short() Options { return Options{Bands: 21, Rows: 6, Threshold: 0.8, BucketCap: 1000} }

// Validate returns everything that is wrong with o.
func (o Options) Validate() error {
	var bad wrong.List
	bad.Unless(o.Bands >= 1 && o.Rows >= 1 && o.Bands*o.Rows <= K, "%d bands of %d rows do not fit %d values", o.Bands, o.Rows, K)
	bad.Unless(o.Threshold > 0 && o.Threshold <= 1, "threshold is %v: it must be above 0 and at most 1", o.Threshold)
	bad.Unless(o.BucketCap >= 2, "bucket cap is %d: it must be at least 2", o.BucketCap)
	return bad.Err()
}

// Clusters is a partition of documents into near-duplicates.
type Clusters struct {
	// Root is, for each document, the smallest index of its cluster.
	Root []uint32
	// Candidates counts pairs that were compared.
	Candidates int64
	// Capped counts buckets over the cap, Skipped the pairs in them that were not
	// compared.
	Capped, Skipped int64
}

// Cluster joins documents whose similarity reaches the threshold. jaccard
// decides on candidates; it is called with two different indices. Members do
// not depend on the documents' order.
func Cluster(sigs []Packed, jaccard func(i, j int) float64, o Options) (*Clusters, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("cluster documents: %w", err)
	}
	c := &clustering{sigs: sigs, jaccard: jaccard, options: o, parent: make([]uint32, len(sigs)), crowded: map[uint32]bool{}}
	for i := range c.parent {
		c.parent[i] = uint32(i)
	}
	c.joinCopies()
	for b := range o.Bands {
		// In the order of documents, so that signatures are read as they lie.
		for i, doc := range c.docs {
			c.records[i] = record{sigs[doc].band(b, o.Rows), doc}
		}
		c.eachBucket(func(bucket []record) { c.joinBucket(b, bucket) })
	}
	for i := range c.parent {
		c.parent[i] = c.find(uint32(i))
	}
	c.result.Root = c.parent
	return &c.result, nil
}

// record is one document in one band.
type record struct {
	key uint64
	doc uint32
}

type clustering struct {
	sigs            []Packed
	jaccard         func(i, j int) float64
	options         Options
	parent          []uint32
	records, buffer []record
	docs            []uint32 // one of each group of copies, ascending
	// crowded holds the documents of buckets over the cap, which were not compared
	// with all that share a band with them.
	crowded map[uint32]bool
	result  Clusters
}

// joinCopies joins documents with equal signatures and leaves one of each group
// for the bands: a thousand copies cost a thousand comparisons, not a million.
func (c *clustering) joinCopies() {
	c.records, c.buffer = make([]record, len(c.sigs)), make([]record, len(c.sigs))
	c.docs = make([]uint32, 0, len(c.sigs))
	for i := range c.records {
		c.records[i] = record{c.sigs[i].whole(), uint32(i)}
	}
	c.eachBucket(func(bucket []record) {
		first := bucket[0]
		c.docs = append(c.docs, first.doc)
		for _, r := range bucket[1:] {
			if c.compare(first.doc, r.doc) < 1 {
				c.docs = append(c.docs, r.doc)
			}
		}
	})
	slices.Sort(c.docs)
	c.records, c.buffer = c.records[:len(c.docs)], c.buffer[:len(c.docs)]
}

// eachBucket sorts the records by key and yields each run of equal keys.
func (c *clustering) eachBucket(yield func([]record)) {
	if len(c.records) == 0 {
		return
	}
	sorted := sortByKey(c.records, c.buffer)
	if &sorted[0] != &c.records[0] {
		c.records, c.buffer = sorted, c.records
	}
	for from := 0; from < len(c.records); {
		to := from + 1
		for to < len(c.records) && c.records[to].key == c.records[from].key {
			to++
		}
		yield(c.records[from:to])
		from = to
	}
}

// joinBucket compares the documents of one bucket of band b: each with each, or
// with its neighbours in the order of their whole signatures where the bucket is
// larger than the cap.
func (c *clustering) joinBucket(b int, bucket []record) {
	reach := len(bucket)
	if len(bucket) > c.options.BucketCap {
		reach = c.options.BucketCap / 10
		bucket = c.crowd(bucket, reach)
	}
	for i, one := range bucket {
		for _, two := range bucket[i+1 : min(len(bucket), i+1+reach)] {
			if c.find(one.doc) != c.find(two.doc) && !c.metBefore(b, one.doc, two.doc) {
				c.compare(one.doc, two.doc)
			}
		}
	}
}

// crowd counts a bucket over the cap and orders its documents by signature.
func (c *clustering) crowd(bucket []record, reach int) []record {
	c.result.Capped++
	n := int64(len(bucket))
	c.result.Skipped += n*(n-1)/2 - n*int64(reach)
	for _, r := range bucket {
		c.crowded[r.doc] = true
	}
	bucket = slices.Clone(bucket)
	slices.SortFunc(bucket, func(a, b record) int { return bytes.Compare(c.sigs[a.doc][:], c.sigs[b.doc][:]) })
	return bucket
}

// metBefore reports whether two documents of a bucket of band b shared an
// earlier one too, and were compared there.
func (c *clustering) metBefore(b int, one, two uint32) bool {
	if c.crowded[one] && c.crowded[two] {
		return false
	}
	x, y := &c.sigs[one], &c.sigs[two]
	for from := 0; from < b*c.options.Rows; from += c.options.Rows {
		if to := from + c.options.Rows; string(x[from:to]) == string(y[from:to]) {
			return true
		}
	}
	return false
}

// sureMiss is how far below the threshold an estimate must be for a pair to be
// left without a comparison: four standard errors at 0.8.
const sureMiss = 0.14

// compare joins two documents that are alike and returns their similarity, the
// estimate where that is far below the threshold.
func (c *clustering) compare(a, b uint32) float64 {
	c.result.Candidates++
	estimate := c.sigs[a].Similarity(&c.sigs[b])
	if estimate < c.options.Threshold-sureMiss {
		return estimate
	}
	similarity := c.jaccard(int(a), int(b))
	if similarity >= c.options.Threshold {
		x, y := c.find(a), c.find(b)
		c.parent[max(x, y)] = min(x, y)
	}
	return similarity
}

func (c *clustering) find(i uint32) uint32 {
	for c.parent[i] != i {
		c.parent[i] = c.parent[c.parent[i]]
		i = c.parent[i]
	}
	return i
}
