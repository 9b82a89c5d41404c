package corpus

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Lines writes the lines of one stream of a part, a new file where a shard
// would pass its limit. Streams of one place keep to one file.
type Lines struct {
	part   *Part
	stream Stream
	ext    string
	// out is the open file, nil where none is. Lines gather in buf, from where they go to
	// it, by way of zst where it is compressed.
	out *partFile
	buf *bufio.Writer
	zst *zstd.Encoder
	// size and rows are what was written to it, n counts the files.
	size, rows int64
	n          int
	err        error
}

// lineBuffer is little enough to be hashed while it is still in a core's own
// cache.
const lineBuffer = 128 << 10

// NewLines opens a stream of lines. ext is the ending of its files, such as
// jsonl; with jsonl.zst they are compressed.
func NewLines(p *Part, s Stream, ext string) *Lines {
	return &Lines{part: p, stream: s, ext: ext}
}

// Add writes one line; a line feed in it is an error. After
// an error every further call gives it again.
func (l *Lines) Add(line []byte) error {
	if l.err == nil && l.out == nil {
		l.err = l.next()
	}
	if l.err == nil {
		l.err = l.write(line)
	}
	if l.err == nil && l.stream.Place == "" && l.size+l.part.limits.Group > l.part.limits.Shard {
		l.err = l.finish()
	}
	return l.err
}

// Close ends the stream; its files are then durable. Compressed ones were read
// back and held against the checksum of the lines that were added, which zstd keeps;
// others are their lines, and are held against their hash when they are put in place.
func (l *Lines) Close() error {
	if l.err == nil && l.out != nil {
		l.err = l.finish()
	}
	return l.err
}

func (l *Lines) next() (err error) {
	if l.out, err = l.part.create(l.stream, l.n, l.ext); err != nil {
		return err
	}
	l.n, l.size, l.rows = l.n+1, 0, 0
	to := io.Writer(l.out)
	if strings.HasSuffix(l.ext, ".zst") {
		// one goroutine: the bytes must not depend on the number of cores
		l.zst, err = zstd.NewWriter(l.out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(codec.Level))
		to = l.zst
	}
	l.buf = bufio.NewWriterSize(to, lineBuffer)
	return err
}

func (l *Lines) write(line []byte) error {
	if bytes.IndexByte(line, '\n') >= 0 {
		return fmt.Errorf("write %s: a line holds a line feed", l.out.path)
	}
	l.size, l.rows = l.size+int64(len(line))+1, l.rows+1
	if _, err := l.buf.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", l.out.path, err)
	}
	return nil
}

func (l *Lines) finish() error {
	out := l.out
	l.out = nil
	err := l.buf.Flush()
	if err == nil && l.zst != nil {
		err = l.zst.Close()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", out.path, err)
	}
	if err := out.Close(); err != nil {
		return err
	}
	if l.zst != nil {
		err := inflate(l.part.fs, out.path, func(in io.Reader) error { _, err := io.Copy(io.Discard, in); return err })
		if err != nil {
			return fmt.Errorf("read back %s: %w", out.path, err)
		}
	}
	l.part.add(out, l.rows, l.size, nil)
	return nil
}

// inflate has read take what a compressed file holds, to the end of which it is held
// against its checksum.
func inflate(fsys FS, path string, read func(io.Reader) error) error {
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer closeRead(f)
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer z.Close()
	return read(z)
}

// Place is a file of a part that holds what the caller writes, at a fixed path
// of the corpus. N counts its bytes.
type Place struct {
	*partFile
	part *Part
}

// NewPlace creates the file that will lie at path in the corpus.
func NewPlace(p *Part, path string) (Place, error) {
	out, err := p.create(Stream{Place: path}, 0, "")
	return Place{out, p}, err
}

// Close makes the file durable and enters it into its part.
func (p Place) Close() error {
	err := p.partFile.Close()
	p.part.add(p.partFile, 0, p.N, nil)
	return err
}
