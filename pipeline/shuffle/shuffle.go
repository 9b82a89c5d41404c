// Package shuffle divides a stream of records into partitions by a key, in bounded memory.
package shuffle

import (
	"errors"
	"hash/maphash"
	"path/filepath"
	"sync"

	"github.com/trajectory-arena/arena/corpus"
)

// Partitions is the number of partitions. A reader has the records of one in memory.
const Partitions = 256

// seed is the seed of the hash that assigns keys to partitions. It differs between processes, and
// no result may depend on it.
var seed = maphash.MakeSeed()

// PartitionOf returns the partition of a key.
func PartitionOf(key string) int { return int(maphash.String(seed, key) % Partitions) }

// Store holds records in memory up to a limit, and all others in one file. Add is safe for
// concurrent use, but not with Partition.
type Store struct {
	fs     corpus.FS
	path   string
	limit  int
	mu     sync.Mutex
	parts  [Partitions]partition
	memory int // the records in memory, in bytes
	file   *corpus.Output
}

// partition has the records of one partition of a Store: first those in ranges of the Store's file
// (extents), then those still in memory (tail).
type partition struct {
	extents []extent
	tail    []byte
}

// extent is a range of bytes of the file in which a Store keeps records.
type extent struct{ offset, size int64 }

// New returns an empty store. It creates the file at path, which must be on a temporary folder, if
// there are more than limit bytes of records.
func New(fsys corpus.FS, path string, limit int) *Store {
	return &Store{fs: fsys, path: filepath.Clean(path), limit: limit}
}

// Add adds a record to a partition. appendTo appends the record to its argument.
func (s *Store) Add(part int, appendTo func([]byte) []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.parts[part]
	before := len(p.tail)
	p.tail = appendTo(p.tail)
	s.memory += len(p.tail) - before
	if s.memory < s.limit {
		return nil
	}
	return s.flush()
}

// flush moves the records in memory to the file.
func (s *Store) flush() (err error) {
	if s.file == nil {
		s.file, err = corpus.Create(s.fs, s.path)
		if err != nil {
			return err
		}
	}
	for i := range s.parts {
		p := &s.parts[i]
		if len(p.tail) == 0 {
			continue
		}
		p.extents = append(p.extents, extent{s.file.N, int64(len(p.tail))})
		if _, err := s.file.Write(p.tail); err != nil {
			return err
		}
		p.tail = p.tail[:0]
	}
	s.memory = 0
	return nil
}

// Partition returns the records of a partition, one after the other. Those of one key and one
// caller of Add are in the order in which they were added.
func (s *Store) Partition(part int) (records []byte, err error) {
	p := &s.parts[part]
	if len(p.extents) == 0 {
		return p.tail, nil
	}
	f, err := s.fs.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	total := len(p.tail)
	for _, e := range p.extents {
		total += int(e.size)
	}
	records = make([]byte, 0, total)
	for _, e := range p.extents {
		end := len(records)
		records = records[:end+int(e.size)]
		if _, err := f.ReadAt(records[end:], e.offset); err != nil {
			return nil, err
		}
	}
	return append(records, p.tail...), nil
}

// Close removes the file.
func (s *Store) Close() error {
	if s.file == nil {
		return nil
	}
	return errors.Join(s.file.File.Close(), s.fs.RemoveAll(s.path))
}
