package minhash

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
)

// ErrVersion says that an index was written by another version; its signatures
// do not compare with today's.
var ErrVersion = errors.New("the index was written by another version of the signatures")

// ErrTorn says that an index ends in the middle of a block: a run was
// interrupted while it added one.
var ErrTorn = errors.New("the index ends in the middle of a block")

// Index is signatures with the ids of their documents, in the order they were
// added.
type Index struct {
	IDs        []string
	Signatures []Packed
}

// block is one line of an index file: the documents that were added at a time.
type block struct {
	Version int      `json:"version"`
	Values  int      `json:"values"`
	IDs     []string `json:"ids"`
	// Signatures are those of all documents, one after the other.
	Signatures []byte `json:"signatures"`
	// Sum is the CRC-32 of ids, each with a zero byte, and signatures.
	Sum uint32 `json:"crc32"`
}

func (b *block) sum() uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte(strings.Join(b.IDs, "\x00"))), crc32.IEEETable, b.Signatures)
}

// Add appends one document.
func (x *Index) Add(id string, sig Packed) {
	x.IDs = append(x.IDs, strings.ToValidUTF8(id, "\ufffd"))
	x.Signatures = append(x.Signatures, sig)
}

// Cluster joins the documents by the estimate of their signatures: an index
// holds no texts to compare.
func (x *Index) Cluster(o Options) (*Clusters, error) {
	return Cluster(x.Signatures, func(i, j int) float64 { return x.Signatures[i].Similarity(&x.Signatures[j]) }, o)
}

// Append adds the documents of x, say of one more day, to the index file at
// path, which is created if need be. Nothing is appended behind a torn block.
func (x *Index) Append(path string) (err error) {
	b := block{Version: Version, Values: K, IDs: x.IDs, Signatures: make([]byte, 0, K*len(x.Signatures))}
	for i := range x.Signatures {
		b.Signatures = append(b.Signatures, x.Signatures[i][:]...)
	}
	b.Sum = b.sum()
	line, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("append to signature index: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("open signature index: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err = (&Index{}).read(f); err != nil {
		return fmt.Errorf("append to signature index: %w", err)
	}
	before, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("append to signature index: %w", err)
	}
	if _, err = f.Write(append(line, '\n')); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return fmt.Errorf("append to signature index: %w", errors.Join(err, f.Truncate(before)))
	}
	return nil
}

// ReadIndex reads an index file.
func ReadIndex(path string) (*Index, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open signature index: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	x := &Index{}
	if err := x.read(f); err != nil {
		return nil, fmt.Errorf("read signature index: %w", err)
	}
	return x, nil
}

func (x *Index) read(in io.Reader) error {
	for d, first := json.NewDecoder(in), true; ; first = false {
		var b block
		err := d.Decode(&b)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && first && !errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("%w: no block of one", ErrVersion)
		case err == nil && (b.Version != Version || b.Values != K):
			return fmt.Errorf("%w: version %d with %d values, not %d with %d", ErrVersion, b.Version, b.Values, Version, K)
		case err != nil || b.Sum != b.sum() || len(b.Signatures) != K*len(b.IDs):
			return fmt.Errorf("%w, or its checksum is wrong", ErrTorn)
		}
		for i, id := range b.IDs {
			x.Add(id, Packed(b.Signatures[K*i:]))
		}
	}
}
