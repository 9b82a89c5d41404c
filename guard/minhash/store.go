package minhash

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// storeMagic opens an index file, followed by Version and K as 32-bit numbers.
const storeMagic = "ARENAMH\n"

// ErrVersion says that an index was written by another version; its signatures
// do not compare with today's.
var ErrVersion = errors.New("the index was written by another version of the signatures")

// ErrTorn says that an index ends in the middle of a block: a run was
// interrupted while it added one.
var ErrTorn = errors.New("the index ends in the middle of a block")

// maxIDBytes bounds one document's id, maxBlockBytes one block.
const (
	maxIDBytes    = 1 << 12
	maxBlockBytes = 1 << 31
)

// Index is signatures with the ids of their documents, in the order they were
// added.
type Index struct {
	IDs        []string
	Signatures []Packed
}

// Add appends one document.
func (x *Index) Add(id string, sig Packed) {
	x.IDs = append(x.IDs, id)
	x.Signatures = append(x.Signatures, sig)
}

// Cluster joins the documents by the estimate of their signatures: an index
// holds no texts to compare.
func (x *Index) Cluster(o Options) (*Clusters, error) {
	return Cluster(x.Signatures, func(i, j int) float64 { return x.Signatures[i].Similarity(&x.Signatures[j]) }, o)
}

// Append adds the documents of x, say of one more day, to the index file at
// path, which is created if need be.
func (x *Index) Append(path string) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("open signature index: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err = prepare(f); err != nil {
		return fmt.Errorf("append to signature index: %w", err)
	}
	before, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("append to signature index: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err = errors.Join(x.writeBlock(w), w.Flush(), f.Sync()); err != nil {
		return fmt.Errorf("append to signature index: %w", errors.Join(err, f.Truncate(before)))
	}
	return nil
}

// prepare writes the header of a new file and checks that of an old one, with
// all its blocks: nothing is appended behind a torn one.
func prepare(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		head := binary.LittleEndian.AppendUint32([]byte(storeMagic), Version)
		_, err := f.Write(binary.LittleEndian.AppendUint32(head, K))
		return err
	}
	return (&Index{}).read(f, false)
}

func (x *Index) writeBlock(w io.Writer) error {
	sum := crc32.NewIEEE()
	body := io.MultiWriter(w, sum)
	size := uint64(0)
	for _, id := range x.IDs {
		if len(id) > maxIDBytes {
			return fmt.Errorf("id of %d bytes is longer than %d", len(id), maxIDBytes)
		}
		size += uint64(2 + len(id) + K)
	}
	head := binary.LittleEndian.AppendUint64(nil, size)
	if _, err := w.Write(head); err != nil {
		return err
	}
	for i, id := range x.IDs {
		record := append(binary.LittleEndian.AppendUint16(nil, uint16(len(id))), id...)
		if _, err := body.Write(append(record, x.Signatures[i][:]...)); err != nil {
			return err
		}
	}
	_, err := w.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
	return err
}

// ReadIndex reads an index file.
func ReadIndex(path string) (*Index, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open signature index: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	x := &Index{}
	if err := x.read(f, true); err != nil {
		return nil, fmt.Errorf("read signature index: %w", err)
	}
	return x, nil
}

// read checks a whole index and, where keep is set, takes its documents.
func (x *Index) read(in io.Reader, keep bool) error {
	r := bufio.NewReaderSize(in, 1<<20)
	var head [len(storeMagic) + 8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return fmt.Errorf("%w: no header", ErrVersion)
	}
	version, k := binary.LittleEndian.Uint32(head[len(storeMagic):]), binary.LittleEndian.Uint32(head[len(storeMagic)+4:])
	if string(head[:len(storeMagic)]) != storeMagic || version != Version || k != K {
		return fmt.Errorf("%w: version %d with %d values, not %d with %d", ErrVersion, version, k, Version, K)
	}
	for {
		var size [8]byte
		if _, err := io.ReadFull(r, size[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return ErrTorn
		}
		if err := x.readBlock(r, binary.LittleEndian.Uint64(size[:]), keep); err != nil {
			return err
		}
	}
}

func (x *Index) readBlock(r io.Reader, size uint64, keep bool) error {
	if size > maxBlockBytes {
		return fmt.Errorf("%w: a block of %d bytes", ErrTorn, size)
	}
	sum := crc32.NewIEEE()
	body := io.TeeReader(io.LimitReader(r, int64(size)), sum)
	for left := int64(size); left > 0; {
		id, sig, err := readRecord(body)
		if err != nil {
			return err
		}
		left -= int64(2 + len(id) + K)
		if keep {
			x.Add(id, sig)
		}
	}
	var want [4]byte
	if _, err := io.ReadFull(r, want[:]); err != nil || binary.LittleEndian.Uint32(want[:]) != sum.Sum32() {
		return fmt.Errorf("%w, or its checksum is wrong", ErrTorn)
	}
	return nil
}

func readRecord(r io.Reader) (id string, sig Packed, err error) {
	var n [2]byte
	if _, err := io.ReadFull(r, n[:]); err != nil {
		return "", sig, ErrTorn
	}
	name := make([]byte, min(int(binary.LittleEndian.Uint16(n[:])), maxIDBytes))
	if _, err := io.ReadFull(r, name); err != nil {
		return "", sig, ErrTorn
	}
	if _, err := io.ReadFull(r, sig[:]); err != nil {
		return "", sig, ErrTorn
	}
	return string(name), sig, nil
}
