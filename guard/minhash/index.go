package minhash

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/asjson"
)

// ErrVersion is returned, wrapped, for an index of another version: its signatures
// are not comparable with those of this one.
var ErrVersion = errors.New("the index was written by another version of the signatures")

// ErrDamaged is returned, wrapped, for an index with a complete block that was changed after
// it was written.
var ErrDamaged = errors.New("a block of the index was changed after it was written")

// Index holds signatures and the names of their documents' clusters, in the order
// in which they were added.
type Index struct {
	Names      []string
	Signatures []Packed
}

// Add adds one document of the named cluster.
func (x *Index) Add(cluster string, sig Packed) {
	x.Names = append(x.Names, strings.ToValidUTF8(cluster, "\ufffd"))
	x.Signatures = append(x.Signatures, sig)
}

// Cluster joins the documents by the estimate from their signatures: an index has
// no texts to compare.
func (x *Index) Cluster(o Options) (*Clusters, error) {
	return Cluster(x.Signatures, func(i, j int) float64 {
		return x.Signatures[i].Similarity(&x.Signatures[j])
	}, o)
}

// IndexFile is an index in a file. Each run of a program appends one block, a line of the file.
// A killed run can leave an incomplete line at the end, which is no part of the index and is
// removed by the next Append. Only one process at a time may use the file.
type IndexFile struct {
	path string
	all  Index
	// sums are the hashes of the signatures of each block, starts the number of documents
	// before it.
	sums   [][sha256.Size]byte
	starts []int
	// end is the length in bytes of the complete blocks.
	end int64
}

// block is one line of an index file: the documents that one call of Append adds.
type block struct {
	Version int `json:"version"`
	Values  int `json:"values"`
	// Names are the documents' ids, instead of their clusters, in files from before
	// 26 November 2026.
	Names []string `json:"ids"`
	// Signatures are the signatures of all documents, concatenated.
	Signatures []byte `json:"signatures"`
	// Sum is the CRC-32 of the names, joined with zero bytes, and the signatures.
	Sum uint32 `json:"crc32"`
}

// newBlock returns the block of an index file that stores the documents of x.
func newBlock(x *Index) block {
	b := block{
		Version:    Version,
		Values:     K,
		Names:      x.Names,
		Signatures: packedBytes(x.Signatures),
	}
	b.Sum = b.sum()
	return b
}

// packedBytes returns the bytes of all signatures, one signature after the other.
func packedBytes(signatures []Packed) []byte {
	b := make([]byte, 0, K*len(signatures))
	for i := range signatures {
		b = append(b, signatures[i][:]...)
	}
	return b
}

func (b *block) sum() uint32 {
	return crc32.Update(
		crc32.ChecksumIEEE([]byte(strings.Join(b.Names, "\x00"))),
		crc32.IEEETable,
		b.Signatures,
	)
}

// ReadIndexFile reads the index file at path. A missing file is an empty index, and Append
// creates it. The error is ErrVersion or ErrDamaged, wrapped, for a file that cannot be used.
func ReadIndexFile(path string) (*IndexFile, error) {
	x := &IndexFile{path: path}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return x, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open signature index: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if err = x.read(f); err != nil {
		return nil, fmt.Errorf("read signature index %s: %w", path, err)
	}
	return x, nil
}

// read appends the complete blocks of an index file to x. It returns the error of the first block
// that cannot be read (see readBlock) or of an incomplete end that is no block.
func (x *IndexFile) read(r io.Reader) error {
	lines := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return x.checkTail(line)
		}
		if err != nil {
			return err
		}
		b, err := readBlock(line)
		if err != nil {
			return err
		}
		x.addBlock(&b, int64(len(line)))
	}
}

// addBlock adds a block that takes size bytes of the file.
func (x *IndexFile) addBlock(b *block, size int64) {
	x.sums = append(x.sums, sha256.Sum256(b.Signatures))
	x.starts = append(x.starts, len(x.all.Names))
	for i, name := range b.Names {
		x.all.Add(name, Packed(b.Signatures[K*i:]))
	}
	x.end += size
}

// blockStart is how each block begins, in every version of the format.
const blockStart = `{"version":`

// checkTail checks tail, what follows the last complete line of an index file. It returns nil if
// the tail is empty or the beginning of a block that was not written to its end, and ErrVersion
// otherwise. Zeros at the end, as a crash of the machine may leave, are ignored.
func (x *IndexFile) checkTail(tail []byte) error {
	tail = bytes.TrimRight(tail, "\x00")
	n := min(len(tail), len(blockStart))
	if string(tail[:n]) != blockStart[:n] {
		return fmt.Errorf("%w: it is no index", ErrVersion)
	}
	return nil
}

// readBlock reads one line of an index file. The error is ErrVersion, wrapped, for a line of
// another format or version, and ErrDamaged for one that is no JSON or has a wrong checksum.
func readBlock(line []byte) (block, error) {
	var b block
	if !bytes.HasPrefix(line, []byte(blockStart)) {
		return b, fmt.Errorf("%w: it is no index", ErrVersion)
	}
	if err := json.Unmarshal(line, &b); err != nil {
		return b, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if b.Version != Version || b.Values != K {
		return b, fmt.Errorf("%w: version %d with %d values, not %d with %d", ErrVersion, b.Version, b.Values, Version, K)
	}
	if b.Sum != b.sum() || len(b.Signatures) != K*len(b.Names) {
		return b, fmt.Errorf("%w: its checksum is wrong", ErrDamaged)
	}
	return b, nil
}

// Before returns the documents that were added before the documents with these signatures, or all
// documents if those were never added. A run that is repeated therefore compares its texts with
// the same documents again, and not with themselves.
func (x *IndexFile) Before(signatures []Packed) *Index {
	n := len(x.all.Names)
	if i := slices.Index(x.sums, sha256.Sum256(packedBytes(signatures))); i >= 0 {
		n = x.starts[i]
	}
	return &Index{
		Names:      x.all.Names[:n:n],
		Signatures: x.all.Signatures[:n:n],
	}
}

// Append appends the documents of today to the file, unless a block of the file has the same
// signatures. An incomplete block at the end of the file is overwritten. If the write fails, the
// blocks that were there before stay.
func (x *IndexFile) Append(today *Index) (err error) {
	b := newBlock(today)
	if slices.Contains(x.sums, sha256.Sum256(b.Signatures)) {
		return nil
	}
	f, err := os.OpenFile(x.path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("open signature index: %w", err)
	}
	defer func() {
		err = errors.Join(err, f.Close())
	}()
	if err = f.Truncate(x.end); err != nil {
		return fmt.Errorf("append to signature index: %w", err)
	}
	line := append(asjson.Bytes(b), '\n')
	if _, err = f.WriteAt(line, x.end); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return fmt.Errorf("append to signature index: %w", errors.Join(err, f.Truncate(x.end)))
	}
	x.addBlock(&b, int64(len(line)))
	return nil
}
