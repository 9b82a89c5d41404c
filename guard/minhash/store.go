package minhash

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"os"
	"strings"

	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// ErrVersion says that an index was written by another version; its signatures
// do not compare with today's.
var ErrVersion = errors.New("the index was written by another version of the signatures")

// ErrTorn says that an index ends in the middle of a block: a run was
// interrupted while it added one.
var ErrTorn = errors.New("the index ends in the middle of a block")

// Index is signatures with the names of their documents' clusters, in the order
// they were added.
type Index struct {
	Names      []string
	Signatures []Packed
}

// block is one line of an index file: the documents that were added at a time.
type block struct {
	Version int `json:"version"`
	Values  int `json:"values"`
	// Names are the documents' own ids in a file from before 26 November 2026.
	Names []string `json:"ids"`
	// Signatures are those of all documents, one after the other.
	Signatures []byte `json:"signatures"`
	// Sum is the CRC-32 of names, each with a zero byte, and signatures.
	Sum uint32 `json:"crc32"`
}

func (b *block) sum() uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte(strings.Join(b.Names, "\x00"))), crc32.IEEETable, b.Signatures)
}

// Add appends one document of the cluster of that name.
func (x *Index) Add(cluster string, sig Packed) {
	x.Names = append(x.Names, strings.ToValidUTF8(cluster, "\ufffd"))
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
	b := block{Version: Version, Values: K, Names: x.Names, Signatures: make([]byte, 0, K*len(x.Signatures))}
	for i := range x.Signatures {
		b.Signatures = append(b.Signatures, x.Signatures[i][:]...)
	}
	b.Sum = b.sum()
	line := asjson.Bytes(b)
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
	return x, wrong.In("read signature index", x.read(f))
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
		case err != nil || b.Sum != b.sum() || len(b.Signatures) != K*len(b.Names):
			return fmt.Errorf("%w, or its checksum is wrong", ErrTorn)
		}
		for i, name := range b.Names {
			x.Add(name, Packed(b.Signatures[K*i:]))
		}
	}
}

// Packed is a signature with eight bits of each value: an eighth of the memory
// of Signature, and all that banding and estimating need (b-bit minwise
// hashing, Li and König 2010).
type Packed [K]byte

// Pack keeps the low eight bits of each value.
func (s *Signature) Pack() (p Packed) {
	for i, v := range s {
		p[i] = byte(v)
	}
	return p
}

// Similarity estimates the Jaccard similarity, 0 to 1, with chance agreement of
// eight bits taken out. Its standard error is that of a signature, hardly more.
func (p *Packed) Similarity(o *Packed) float64 {
	const chance = 1.0 / 256
	share := float64(float64(p.agree(o)) / K)
	return max(0, (share-chance)/(1-chance))
}

func (p *Packed) agree(o *Packed) int {
	const low, high = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	n := 0
	for i := 0; i < K; i += 8 {
		x := binary.LittleEndian.Uint64(p[i:]) ^ binary.LittleEndian.Uint64(o[i:])
		zero := ^((x&low + low) | x | low) & high
		n += bits.OnesCount64(zero)
	}
	return n
}

func (p *Packed) band(b, rows int) uint64 {
	h := uint64(b)
	for _, v := range p[b*rows : (b+1)*rows] {
		h = h<<8 | uint64(v) + h>>56*0x9E3779B97F4A7C15
	}
	return mix(h)
}

func (p *Packed) whole() uint64 {
	h := uint64(0)
	for i := 0; i < K; i += 8 {
		h = mix(h ^ binary.LittleEndian.Uint64(p[i:]))
	}
	return h
}

// table is a set of shingles in open addressing. Shingles are hashes already,
// so that their top bits are their place. It is emptied by a new stamp and not
// by clearing.
type table struct {
	// slots hold a shingle below the stamp it was put in with.
	slots []uint64
	stamp uint64
	shift int
}

// One step of the stamp, and where it would reach the sign bit.
const (
	stampStep = 1 << 32
	stampEnd  = 1 << 63
)

// fill makes t the set of xs and returns xs with each shingle once, in place and
// in order.
func (t *table) fill(xs []uint32) []uint32 {
	t.empty(len(xs))
	once := xs[:0]
	for _, x := range xs {
		if at, held := t.find(x); !held {
			t.slots[at] = t.stamp | uint64(x)
			once = append(once, x)
		}
	}
	return once
}

// empty makes room for n shingles at four slots each: the fewer share a place,
// the fewer searches the processor cannot foresee.
func (t *table) empty(n int) {
	if t.stamp += stampStep; 4*n > len(t.slots) || t.stamp == stampEnd {
		width := max(bits.Len(uint(4*n)), 10)
		t.slots, t.shift, t.stamp = make([]uint64, 1<<width), 32-width, stampStep
	}
}

func (t *table) find(x uint32) (at uint32, held bool) {
	for at = x >> t.shift; t.slots[at] >= t.stamp; at = (at + 1) & uint32(len(t.slots)-1) {
		if uint32(t.slots[at]) == x {
			return at, true
		}
	}
	return at, false
}

// count returns how many of xs, each of which is given once, t holds.
func (t *table) count(xs []uint32) (n int) {
	for _, x := range xs {
		// Hit or miss cannot be foreseen, so that neither is a branch: differs is 0
		// where x is in its place, and above 32 bits where nothing is.
		differs := t.slots[x>>t.shift] ^ (t.stamp | uint64(x))
		n += int((differs - 1) >> 63)
		if differs-1 < stampStep-1 {
			if _, held := t.find(x); held {
				n++
			}
		}
	}
	return n
}
