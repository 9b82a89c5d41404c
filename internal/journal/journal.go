package journal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Key identifies a rollout by the positions of its problem and of its sample.
type Key struct{ Problem, Sample uint32 }

// Entry is the position of one entry in a journal.
type Entry struct {
	Key
	offset int64
	size   uint32
}

// An entry consists of the size of the data (4 bytes), the CRC-32C of all that follows (4), the
// problem (4), the sample (4), and the data as one zstd frame. Numbers are little-endian.
// headSize is the size of everything before the data.
const (
	headSize = 16
	// maxEntry is the maximum size of an entry in bytes, so that a damaged size cannot make a
	// reader allocate more.
	maxEntry = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Journal is an append-only file of entries. Its methods are safe for concurrent use.
type Journal struct {
	appendFile
	enc *zstd.Encoder
	dec *zstd.Decoder
	// entries has buffers of type *[]byte for encoded entries.
	entries sync.Pool
}

// Open opens or creates the journal at path and returns its entries. The first entry that is
// incomplete or damaged, which a killed process or a crashed machine left, is removed with all that
// follows it. Only the owner of the file may read it, since it has unredacted replies.
func Open(path string) (*Journal, []Entry, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open journal: %w", err)
	}
	entries, end, err := scan(f)
	if err == nil {
		err = f.Truncate(end)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read journal %s: %w", path, err), f.Close())
	}

	j := &Journal{
		appendFile: appendFile{file: f, end: end, synced: end},
		enc:        newEncoder(),
		dec:        newDecoder(),
	}
	return j, entries, nil
}

// newEncoder returns a zstd encoder without entropy coding. For entries of the size of a reply,
// entropy coding would take twice as long as everything else and save a quarter of the bytes.
func newEncoder() *zstd.Encoder {
	const window = 256 << 10 // most rollouts are smaller; bounds the encoder's memory
	enc, _ := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithNoEntropyCompression(true),
		zstd.WithWindowSize(window),
		zstd.WithLowerEncoderMem(true),
		zstd.WithEncoderConcurrency(1),
	) // only invalid options fail
	return enc
}

func newDecoder() *zstd.Decoder {
	dec, _ := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(maxEntry),
	) // only invalid options fail
	return dec
}

func scan(f *os.File) (entries []Entry, end int64, err error) {
	r := bufio.NewReaderSize(f, 1<<20)
	var head [headSize]byte
	for {
		_, err := io.ReadFull(r, head[:])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return entries, end, nil
		}
		if err != nil {
			return entries, end, err
		}
		size := binary.LittleEndian.Uint32(head[:])
		if size > maxEntry {
			return entries, end, nil
		}
		sum := crc32.New(castagnoli)
		sum.Write(head[8:])
		n, err := io.Copy(sum, io.LimitReader(r, int64(size)))
		if err != nil {
			return entries, end, err
		}
		if n < int64(size) || sum.Sum32() != binary.LittleEndian.Uint32(head[4:]) {
			return entries, end, nil
		}
		key := Key{binary.LittleEndian.Uint32(head[8:]), binary.LittleEndian.Uint32(head[12:])}
		entries = append(entries, Entry{Key: key, offset: end, size: size})
		end += headSize + int64(size)
	}
}

// Append adds an entry. When it returns, the entry survives a crash of the process. After the
// next Sync, it also survives a crash of the machine.
func (j *Journal) Append(k Key, data []byte) (Entry, error) {
	buffer, _ := j.entries.Get().(*[]byte)
	if buffer == nil {
		buffer = new([]byte)
	}
	defer j.entries.Put(buffer)
	b := j.enc.EncodeAll(data, append((*buffer)[:0], make([]byte, headSize)...))
	*buffer = b
	if len(b)-headSize > maxEntry {
		return Entry{}, errors.New("append to journal: the entry is too large")
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-headSize))
	binary.LittleEndian.PutUint32(b[8:], k.Problem)
	binary.LittleEndian.PutUint32(b[12:], k.Sample)
	binary.LittleEndian.PutUint32(b[4:], crc32.Checksum(b[8:], castagnoli))
	offset, err := j.appendFile.Append(b)
	return Entry{
		Key:    k,
		offset: offset,
		size:   uint32(len(b) - headSize),
	}, err
}

// Read returns the data of an entry.
func (j *Journal) Read(e Entry) ([]byte, error) {
	b := make([]byte, e.size)
	if _, err := j.file.ReadAt(b, e.offset+headSize); err != nil {
		return nil, fmt.Errorf("read journal entry: %w", err)
	}
	data, err := j.dec.DecodeAll(b, nil)
	return data, wrong.Wrap("read journal entry", err)
}

// Close flushes to disk and closes the file. It does not repeat the error of an earlier sync.
func (j *Journal) Close() error {
	j.dec.Close()
	if err := j.appendFile.Close(); err != nil {
		return errors.Join(err, j.enc.Close())
	}
	return j.enc.Close()
}

// Lines is an append-only file of text lines for other programs to read. Appended data must end
// in a newline and contain no other. Methods are safe for concurrent use. Other programs may
// read the file at any time, when only its last line may be incomplete.
type Lines struct {
	appendFile
	path string
}

// CreateLines creates a new file in dir. Like in os.CreateTemp, pattern determines the name, so
// that no other process on any machine has the file.
func CreateLines(dir, pattern string) (*Lines, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	if err := atomicfile.SyncDir(filepath.Clean(dir)); err != nil {
		return nil, errors.Join(fmt.Errorf("create journal: %w", err), f.Close())
	}
	return &Lines{
		appendFile: appendFile{file: f},
		path:       f.Name(),
	}, nil
}

// Path returns the path of the file.
func (l *Lines) Path() string { return l.path }
