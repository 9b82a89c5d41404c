package corpus

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Lines writes the lines of a stream of a part. It starts a new file when a shard would exceed
// its limit, unless the stream has a fixed Place.
type Lines struct {
	part   *Part
	stream Stream
	ext    string
	// out is the current file, nil if there is none. Lines are buffered in buf and compressed by
	// zst, which is nil for uncompressed files.
	out *partFile
	buf *bufio.Writer
	zst *zstd.Encoder
	// size is the number of bytes in the current file before compression, rows the number of its
	// lines.
	size, rows int64
	files      int
	err        error
}

// lineBufferBytes is the size of the buffer for written lines. It is so small that the content
// is still in the processor's cache when it is hashed.
const lineBufferBytes = 128 << 10

// NewLines returns a stream of lines. ext is the extension of its files, such as jsonl. The
// extension jsonl.zst means compressed files.
func NewLines(p *Part, s Stream, ext string) *Lines {
	return &Lines{part: p, stream: s, ext: ext}
}

// Add writes a line, which must not contain a line feed. After an error, all further calls
// return the same error.
func (l *Lines) Add(line []byte) error {
	if l.err == nil && l.out == nil {
		l.err = l.openFile()
	}
	if l.err == nil {
		l.err = l.write(line)
	}
	if l.err == nil && l.stream.Place == "" && l.size+l.part.limits.Group > l.part.limits.Shard {
		l.err = l.closeFile()
	}
	return l.err
}

// Close ends the stream and syncs its files to disk. Compressed files are read back to verify
// the checksum that zstd stores. Other files are compared with their hash when they are
// assembled.
func (l *Lines) Close() error {
	if l.err == nil && l.out != nil {
		l.err = l.closeFile()
	}
	return l.err
}

func (l *Lines) openFile() (err error) {
	l.out, err = l.part.create(l.stream, l.files, l.ext)
	if err != nil {
		return err
	}
	l.files++
	l.size = 0
	l.rows = 0
	w := io.Writer(l.out)
	if strings.HasSuffix(l.ext, ".zst") {
		// One goroutine is used, since the bytes must not depend on the number of cores.
		l.zst, err = zstd.NewWriter(
			l.out,
			zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderLevel(codec.Level),
		)
		w = l.zst
	}
	l.buf = bufio.NewWriterSize(w, lineBufferBytes)
	return err
}

func (l *Lines) write(line []byte) error {
	if bytes.IndexByte(line, '\n') >= 0 {
		return fmt.Errorf("write %s: a line holds a line feed", l.out.path)
	}
	l.size += int64(len(line)) + 1
	l.rows++
	if _, err := l.buf.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", l.out.path, err)
	}
	return nil
}

func (l *Lines) closeFile() error {
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
		err := decompress(l.part.fs, out.path, func(r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		})
		if err != nil {
			return fmt.Errorf("read back %s: %w", out.path, err)
		}
	}
	l.part.add(out, l.rows, l.size, nil)
	return nil
}

// decompress opens a zstd file and calls read with its decompressed content. Reading up to
// io.EOF succeeds only if the content matches the checksums in the file.
func decompress(fsys FS, path string, read func(io.Reader) error) error {
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

// Place is an open file of a part that will have a fixed path in the corpus.
type Place struct {
	file *partFile
	part *Part
}

// NewPlace creates a file of a part that will have this path in the corpus.
func NewPlace(p *Part, path string) (Place, error) {
	out, err := p.create(Stream{Place: path}, 0, "")
	return Place{out, p}, err
}

// Write writes b to the file. It implements io.Writer.
func (p Place) Write(b []byte) (int, error) { return p.file.Write(b) }

// Size returns the number of bytes written.
func (p Place) Size() int64 { return p.file.N }

// Close flushes to disk and closes the file and adds it to its part.
func (p Place) Close() error {
	err := p.file.Close()
	p.part.add(p.file, 0, p.file.N, nil)
	return err
}
