package minhash

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Options are the parameters of the search for near-duplicates.
type Options struct {
	// Bands is the number of bands of a signature, Rows the number of values of each
	// band. A pair is a candidate if one band is equal. Bands*Rows must not exceed K.
	Bands, Rows int
	// Threshold is the Jaccard similarity from which two documents are
	// near-duplicates, 0 to 1.
	Threshold float64
	// BucketCap is the maximum size of a bucket in which all pairs are compared. In a
	// larger bucket each document is compared with its next neighbours only.
	BucketCap int
	// Workers is the number of goroutines that sign texts; 0 means 1.
	Workers int
	// Signed, if not nil, is called with the length of each text that was signed, from
	// any of the workers.
	Signed func(bytes int)
}

// Long returns options for documents of a hundred shingles and more: a pair at 0.8
// is a candidate with probability 1-(1-0.8^5)^25 = 0.99995.
func Long() Options {
	return Options{Bands: 25, Rows: 5, Threshold: 0.8, BucketCap: 1000}
}

// Short returns options for short texts such as requests, with whose common phrases
// Long would fill its buckets: a pair at 0.8 is a candidate with probability
// 1-(1-0.8^6)^21 = 0.998, one at 0.5 with 0.28 instead of 0.55.
func Short() Options {
	return Options{Bands: 21, Rows: 6, Threshold: 0.8, BucketCap: 1000}
}

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	var bad wrong.List
	bad.Unless(
		o.Bands >= 1 && o.Rows >= 1 && o.Bands*o.Rows <= K,
		"%d bands of %d rows do not fit %d values",
		o.Bands,
		o.Rows,
		K,
	)
	bad.Unless(o.Threshold > 0 && o.Threshold <= 1, "threshold is %v: it must be above 0 and at most 1", o.Threshold)
	bad.Unless(o.BucketCap >= 2, "bucket cap is %d: it must be at least 2", o.BucketCap)
	return bad.Err()
}

// Clusters is a partition of documents into near-duplicates.
type Clusters struct {
	// Root is, for each document, the smallest index of its cluster.
	Root []uint32
	// Candidates is the number of pairs that were compared.
	Candidates int64
	// Capped is the number of buckets over the cap, Skipped the number of pairs in
	// them that were not compared.
	Capped, Skipped int64
}

// Cluster joins documents with a similarity of at least the threshold. jaccard
// returns the similarity of a candidate pair; it is called with two different
// indices. The clusters do not depend on the documents' order.
func Cluster(
	sigs []Packed,
	jaccard func(i, j int) float64,
	o Options,
) (*Clusters, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("cluster documents: %w", err)
	}
	c := &clustering{
		sigs:    sigs,
		jaccard: jaccard,
		options: o,
		parent:  make([]uint32, len(sigs)),
		crowded: map[uint32]bool{},
	}
	for i := range c.parent {
		c.parent[i] = uint32(i)
	}
	c.joinCopies()
	for b := range o.Bands {
		// In the order of documents, so that signatures are read sequentially.
		for i, doc := range c.docs {
			c.records[i] = record{sigs[doc].band(b, o.Rows), doc}
		}
		c.eachBucket(func(bucket []record) {
			c.joinBucket(b, bucket)
		})
	}
	for i := range c.parent {
		c.parent[i] = c.find(uint32(i))
	}
	c.result.Root = c.parent
	return &c.result, nil
}

// record is a document and the hash by which it is put into buckets: that of one band (a few
// consecutive values of the signature), or of the full signature.
type record struct {
	key uint64
	doc uint32
}

// clustering is the state of one call of Cluster, which groups near-duplicate documents.
type clustering struct {
	sigs            []Packed
	jaccard         func(i, j int) float64
	options         Options
	parent          []uint32
	records, buffer []record
	docs            []uint32 // one document of each group of copies, ascending
	// crowded holds the documents of buckets with more than BucketCap documents, in which not all
	// pairs were compared.
	crowded map[uint32]bool
	result  Clusters
}

// joinCopies joins documents that are copies of each other, which have equal signatures, and sets
// docs to one document of each group of copies. A thousand copies then need a thousand comparisons
// instead of half a million.
func (c *clustering) joinCopies() {
	c.records = make([]record, len(c.sigs))
	c.buffer = make([]record, len(c.sigs))
	c.docs = make([]uint32, 0, len(c.sigs))
	for i := range c.records {
		c.records[i] = record{c.sigs[i].hash(), uint32(i)}
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
	c.records = c.records[:len(c.docs)]
	c.buffer = c.buffer[:len(c.docs)]
}

// eachBucket sorts the records by key and calls yield with each group of records that have the same
// key.
func (c *clustering) eachBucket(yield func([]record)) {
	if len(c.records) == 0 {
		return
	}
	sorted := sortByKey(c.records, c.buffer)
	if &sorted[0] != &c.records[0] {
		c.records, c.buffer = sorted, c.records
	}
	for start := 0; start < len(c.records); {
		end := start + 1
		for end < len(c.records) && c.records[end].key == c.records[start].key {
			end++
		}
		yield(c.records[start:end])
		start = end
	}
}

// joinBucket compares the documents of one bucket, which have equal values in band b, and joins
// near-duplicates. In a bucket of more than BucketCap documents, it compares each document with the
// next BucketCap/10 in the order of signatures instead of with all.
func (c *clustering) joinBucket(b int, bucket []record) {
	reach := len(bucket)
	if len(bucket) > c.options.BucketCap {
		reach = c.options.BucketCap / 10
		bucket = c.crowd(bucket, reach)
	}
	for i, x := range bucket {
		for _, y := range bucket[i+1 : min(len(bucket), i+1+reach)] {
			if c.find(x.doc) != c.find(y.doc) && !c.wereCompared(b, x.doc, y.doc) {
				c.compare(x.doc, y.doc)
			}
		}
	}
}

// crowd returns a copy of a bucket with more than BucketCap documents, sorted by signature. Each
// document is then compared with its next reach neighbours only. crowd marks the documents in
// c.crowded, and adds the bucket to c.result.Capped and the pairs that are not compared to
// c.result.Skipped.
func (c *clustering) crowd(bucket []record, reach int) []record {
	c.result.Capped++
	n := int64(len(bucket))
	c.result.Skipped += n*(n-1)/2 - n*int64(reach)
	for _, r := range bucket {
		c.crowded[r.doc] = true
	}
	bucket = slices.Clone(bucket)
	slicesx.SortFunc(bucket, func(a, b record) int {
		return bytes.Compare(c.sigs[a.doc][:], c.sigs[b.doc][:])
	})
	return bucket
}

// wereCompared reports whether documents i and j, which have equal values in band b, also have
// equal values in an earlier band and so were compared there. It reports false if both are in
// buckets with more than BucketCap documents, where not all pairs are compared.
func (c *clustering) wereCompared(b int, i, j uint32) bool {
	if c.crowded[i] && c.crowded[j] {
		return false
	}
	x := &c.sigs[i]
	y := &c.sigs[j]
	for start := 0; start < b*c.options.Rows; start += c.options.Rows {
		end := start + c.options.Rows
		if string(x[start:end]) == string(y[start:end]) {
			return true
		}
	}
	return false
}

// sureMiss limits the work of comparing documents: if the similarity estimated from signatures is
// more than this below the threshold, the exact one is not computed. It is four standard errors of
// the estimate at a similarity of 0.8.
const sureMiss = 0.14

// compare joins documents a and b (indices) into one cluster if their similarity is at least the
// threshold. It returns the exact similarity, 0 to 1, or the estimate if that is more than sureMiss
// below the threshold.
func (c *clustering) compare(a, b uint32) float64 {
	c.result.Candidates++
	estimate := c.sigs[a].Similarity(&c.sigs[b])
	if estimate < c.options.Threshold-sureMiss {
		return estimate
	}
	similarity := c.jaccard(int(a), int(b))
	if similarity >= c.options.Threshold {
		x := c.find(a)
		y := c.find(b)
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
