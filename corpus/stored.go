package corpus

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/shard"
	"github.com/trajectory-arena/arena/internal/asjson"
)

// groupHead is a line of JSON in the file of a stored group: what the Parquet file after it does not
// say. Before it is the XXH3 of all that follows, in 8 bytes. The fields are as in PartFile.
type groupHead struct {
	Decoded  int64         `json:"decoded"`
	Longest  rows.Length   `json:"longest,omitzero"`
	Redacted redact.Counts `json:"redacted,omitempty"`
}

// maxStored is the maximum size in bytes of the file of a stored group.
const maxStored = 4 << 30

// Store writes a closed group to a file, so that a later run can append its rows without encoding
// them again.
func (g *group) Store(fsys FS, path string) error {
	head := groupHead{
		Decoded: g.encoder.decoded,
		Longest: g.encoder.longest,
	}
	if c := g.encoder.cleaner; c != nil {
		head.Redacted = c.counts
	}
	content := slices.Concat(asjson.Bytes(head), []byte("\n"), g.data.Bytes())
	return WriteFile(fsys, path, append(storedSum(content), content...))
}

// storedSum returns the checksum before the content of the file of a stored group.
func storedSum(content []byte) []byte {
	return binary.BigEndian.AppendUint64(nil, xxh3.Hash(content))
}

// Stored returns the closed group in a file that Store wrote. The error is ErrDamaged if the file is
// missing or not what was written, or if its columns are not those of the stream.
func (s *Shards[T]) Stored(path string) (*Group[T], error) {
	b, err := ReadFile(s.part.fs, path, maxStored)
	if err != nil {
		return nil, damagedError{err}
	}
	g, err := s.parseGroup(path, b)
	if err != nil {
		return nil, damagedError{err}
	}
	return &Group[T]{*g}, nil
}

// parseGroup parses the content b of the file of a stored group, and reads all of its rows.
func (s *streamWriter) parseGroup(path string, b []byte) (g *group, err error) {
	defer shard.Recover(path, &err)
	content := b[min(8, len(b)):]
	if !bytes.HasPrefix(b, storedSum(content)) {
		return nil, fmt.Errorf("read %s: it is not what was written there", path)
	}
	line, encoded, _ := bytes.Cut(content, []byte("\n"))
	var head groupHead
	if err = json.Unmarshal(line, &head); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	file, err := shard.Open(bytes.NewReader(encoded), int64(len(encoded)), path)
	if err != nil {
		return nil, err
	}
	if err = file.CheckSchema(s.schema); err != nil {
		return nil, err
	}
	sum, err := file.Sum()
	return &group{
		encoder: &encoder{
			sum:     sum,
			decoded: head.Decoded,
			longest: head.Longest,
			cleaner: &cleaner{counts: head.Redacted},
		},
		data: bytes.NewBuffer(encoded),
	}, err
}
