// Package shuffle divides streams of records into partitions by a key, in bounded memory, and runs
// work on the partitions in rounds that several processes share.
package shuffle

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/trajectory-arena/arena/corpus"
)

// Partitions is the number of partitions. A reader has the records of one in memory.
const Partitions = 256

// PartitionOf returns the partition of a key.
func PartitionOf(key string) int { return int(xxh3.HashString(key) % Partitions) }

// RangeOf returns the partition of item i of n items, of which each partition has a range.
func RangeOf(i, n int) int { return i * Partitions / n }

// Range returns the first item of a partition of n items and the one after its last.
func Range(part, n int) (first, end int) {
	ceil := func(part int) int { return (part*n + Partitions - 1) / Partitions }
	return ceil(part), ceil(part + 1)
}

// ErrDamaged is returned if a file of records does not have its checksums.
var ErrDamaged = errors.New("the records are damaged")

// Store holds records in memory up to a limit, and all others in one file. Add is safe for
// concurrent use, but not with Records.
type Store struct {
	fs     corpus.FS
	path   string
	limit  int
	mu     sync.Mutex
	parts  map[place]*partition
	memory int // the records in memory, in bytes
	file   *corpus.Output
	err    error // of the first write that failed
	// end is the end of the finished file that parts are of, zero if the store is no finished file.
	end [tail]byte
}

// place is a partition of a stream.
type place struct{ stream, part int }

// partition has the records of one partition: first those in ranges of the Store's file (extents),
// then those still in memory (tail).
type partition struct {
	extents []extent
	tail    []byte
}

// extent is a range of bytes of the file in which a Store keeps records.
type extent struct {
	Stream int    `json:"r"`
	Part   int    `json:"p"`
	Offset int64  `json:"o"`
	Size   int64  `json:"s"`
	CRC    uint32 `json:"c"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// New returns an empty store. It creates the file at path, which must be on a temporary folder, if
// there are more than limit bytes of records.
func New(fsys corpus.FS, path string, limit int) *Store {
	return &Store{
		fs:    fsys,
		path:  filepath.Clean(path),
		limit: limit,
		parts: map[place]*partition{},
	}
}

// Add adds a record to a partition of a stream. appendTo appends the record to its argument. After an
// error, which Job.Round returns, it does nothing.
func (s *Store) Add(stream, part int, appendTo func([]byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	p := s.partition(place{stream, part})
	before := len(p.tail)
	p.tail = appendTo(p.tail)
	s.memory += len(p.tail) - before
	if s.memory >= s.limit {
		s.err = s.flush()
	}
}

func (s *Store) partition(key place) *partition {
	p := s.parts[key]
	if p == nil {
		p = &partition{}
		s.parts[key] = p
	}
	return p
}

// flush moves the records in memory to the file.
func (s *Store) flush() (err error) {
	if s.file == nil {
		s.file, err = corpus.Create(s.fs, s.path)
		if err != nil {
			return err
		}
	}
	keys := slices.SortedFunc(maps.Keys(s.parts), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.stream, b.stream), cmp.Compare(a.part, b.part))
	})
	for _, key := range keys {
		p := s.parts[key]
		if len(p.tail) == 0 {
			continue
		}
		p.extents = append(p.extents, extent{
			Stream: key.stream,
			Part:   key.part,
			Offset: s.file.N,
			Size:   int64(len(p.tail)),
			CRC:    crc32.Checksum(p.tail, castagnoli),
		})
		if _, err := s.file.Write(p.tail); err != nil {
			return err
		}
		p.tail = nil // a partition may get no more records
	}
	s.memory = 0
	return nil
}

// Records returns the records of a partition of a stream, one after the other. Those of one caller of
// Add are in the order in which they were added. The error is ErrDamaged if the file does not have its
// checksums.
func (s *Store) Records(stream, part int) (records []byte, err error) {
	p := s.stored(stream, part)
	if len(p.extents) == 0 {
		return p.tail, nil
	}
	f, err := s.fs.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if s.end != [tail]byte{} {
		if err := s.readList(f); err != nil {
			return nil, err
		}
		p = s.stored(stream, part)
	}
	total := len(p.tail)
	for _, e := range p.extents {
		total += int(e.Size)
	}
	records = make([]byte, 0, total)
	for _, e := range p.extents {
		end := len(records)
		records = records[:end+int(e.Size)]
		if _, err := f.ReadAt(records[end:], e.Offset); err != nil {
			return nil, err
		}
		if crc32.Checksum(records[end:], castagnoli) != e.CRC {
			return nil, fmt.Errorf("read %s: %w", s.path, ErrDamaged)
		}
	}
	return append(records, p.tail...), nil
}

// stored returns what is stored of a partition of a stream.
func (s *Store) stored(stream, part int) partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.parts[place{stream, part}]; p != nil {
		return *p
	}
	return partition{}
}

// release moves the records in memory to the file, if there is one.
func (s *Store) release() error {
	if s.file == nil {
		return nil
	}
	return s.flush()
}

// tail is the size in bytes of the end of a finished file: the size and the checksum of the list of
// extents before it.
const tail = 12

// finish writes all records to the file, with a list of the extents at its end, so that open can read
// it.
func (s *Store) finish() error {
	if err := s.flush(); err != nil {
		return err
	}
	list := []extent{}
	for _, p := range s.parts {
		list = append(list, p.extents...)
	}
	slices.SortFunc(list, func(a, b extent) int { return cmp.Compare(a.Offset, b.Offset) })
	b, err := json.Marshal(list)
	if err != nil {
		return err
	}
	size := len(b)
	sum := crc32.Checksum(b, castagnoli)
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	b = binary.LittleEndian.AppendUint32(b, sum)
	_, err = s.file.Write(b)
	if closeErr := s.file.Close(); err == nil {
		err = closeErr
	}
	s.file = nil
	return err
}

// open opens a file that finish wrote. The error is ErrDamaged if it was not finished.
func open(fsys corpus.FS, path string) (*Store, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	s := New(fsys, path, 0)
	if err := s.readList(f); err != nil {
		return nil, err
	}
	return s, nil
}

// readList reads the list of extents of a finished file, unless it is the list that was read last:
// another process may have found the file damaged, and replaced it by one with the same records in
// other places. The error is ErrDamaged if the file was not finished.
func (s *Store) readList(f corpus.Source) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	damaged := fmt.Errorf("read %s: %w", s.path, ErrDamaged)
	var end [tail]byte
	if info.Size() < tail {
		return damaged
	}
	if _, err := f.ReadAt(end[:], info.Size()-tail); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if end == s.end {
		return nil
	}
	size := binary.LittleEndian.Uint64(end[:])
	if size > uint64(info.Size()-tail) { //nolint:gosec // it is not negative
		return damaged
	}
	b := make([]byte, size)
	if _, err := f.ReadAt(b, info.Size()-tail-int64(size)); err != nil { //nolint:gosec // at most the file's size
		return err
	}
	var list []extent
	if crc32.Checksum(b, castagnoli) != binary.LittleEndian.Uint32(end[8:]) || json.Unmarshal(b, &list) != nil {
		return damaged
	}
	clear(s.parts)
	for _, e := range list {
		p := s.partition(place{e.Stream, e.Part})
		p.extents = append(p.extents, e)
	}
	s.end = end
	return nil
}

// Close removes the file, unless it is finished.
func (s *Store) Close() error {
	if s.file == nil {
		return nil
	}
	return errors.Join(s.file.File.Close(), s.fs.RemoveAll(s.path))
}
