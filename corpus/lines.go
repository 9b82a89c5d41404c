package corpus

import (
	"bufio"
	"errors"
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
	open   *lineFile
	n      int
	err    error
}

// lineFile is one file being written. Lines gather in buf, from where they go
// to the file, by way of zst where it is compressed.
type lineFile struct {
	out  *partFile
	buf  *bufio.Writer
	zst  *zstd.Encoder
	size int64
	rows int64
}

// lineBuffer is little enough to be hashed while it is still in a core's own
// cache.
const lineBuffer = 128 << 10

// NewLines opens a stream of lines. ext is the ending of its files, such as
// jsonl; with jsonl.zst they are compressed.
func NewLines(p *Part, s Stream, ext string) *Lines {
	return &Lines{part: p, stream: s, ext: ext}
}

// Add writes one line, given in pieces; a line feed in them is an error. After
// an error every further call gives it again.
func (l *Lines) Add(pieces ...string) error {
	if l.err == nil {
		l.err = l.add(pieces)
	}
	return l.err
}

func (l *Lines) add(pieces []string) error {
	if l.open == nil {
		if err := l.next(); err != nil {
			return err
		}
	}
	if err := l.open.add(pieces); err != nil {
		return fmt.Errorf("write %s: %w", l.open.out.path, err)
	}
	if l.stream.Place == "" && l.open.size+l.part.limits.Group > l.part.limits.Shard {
		return l.finish()
	}
	return nil
}

// Close ends the stream; its files are then durable. Compressed ones were read
// back and held against the checksum of the lines that were added, which zstd keeps;
// others are their lines, and are held against their hash when they are put in place.
func (l *Lines) Close() error {
	if l.err == nil && l.open != nil {
		l.err = l.finish()
	}
	return l.err
}

func (l *Lines) next() (err error) {
	out, err := l.part.create(l.stream, l.n, l.ext)
	if err != nil {
		return err
	}
	l.n++
	f := &lineFile{out: out}
	to := io.Writer(out)
	if strings.HasSuffix(l.ext, ".zst") {
		// one goroutine: the bytes must not depend on the number of cores
		f.zst, err = zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(codec.Level))
		to = f.zst
	}
	f.buf = bufio.NewWriterSize(to, lineBuffer)
	l.open = f
	return err
}

func (f *lineFile) add(pieces []string) error {
	for _, piece := range pieces {
		if strings.IndexByte(piece, '\n') >= 0 {
			return errors.New("a line holds a line feed")
		}
		if err := f.write(piece); err != nil {
			return err
		}
	}
	f.rows++
	return f.write("\n")
}

func (f *lineFile) write(text string) error {
	f.size += int64(len(text))
	_, err := f.buf.WriteString(text)
	return err
}

func (f *lineFile) flush() error {
	if err := f.buf.Flush(); err != nil || f.zst == nil {
		return err
	}
	return f.zst.Close()
}

func (l *Lines) finish() error {
	f := l.open
	l.open = nil
	if err := f.flush(); err != nil {
		return fmt.Errorf("write %s: %w", f.out.path, err)
	}
	if err := f.out.Close(); err != nil {
		return err
	}
	if f.zst != nil {
		err := inflate(l.part.fs, f.out.path, func(in io.Reader) error { _, err := io.Copy(io.Discard, in); return err })
		if err != nil {
			return fmt.Errorf("read back %s: %w", f.out.path, err)
		}
	}
	l.part.add(l.stream, f.out, f.rows, f.size, nil)
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
// of the corpus.
type Place struct {
	part   *Part
	stream Stream
	out    *partFile
}

// NewPlace creates the file that will lie at path in the corpus.
func NewPlace(p *Part, path string) (*Place, error) {
	s := Stream{Place: path}
	out, err := p.create(s, 0, "")
	if err != nil {
		return nil, err
	}
	return &Place{p, s, out}, nil
}

// Write is io.Writer.
func (p *Place) Write(b []byte) (int, error) { return p.out.Write(b) }

// Size is the number of bytes written so far.
func (p *Place) Size() int64 { return p.out.N }

// Close makes the file durable and enters it into its part.
func (p *Place) Close() error {
	err := p.out.Close()
	p.part.add(p.stream, p.out, 0, p.out.N, nil)
	return err
}
