package traces

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// content is a file's text, decompressed and within its limits. Its errors are
// io.EOF, a *damage where the content is to blame, or the disk's own.
type content struct {
	limits Limits
	stored *counted
	text   io.Reader
	closer func()
	// damaged turns the decompressor's error into a reason; nil if the file is
	// not compressed.
	damaged func(error) Reason
	read    int64
	// productive is where the last trace ended: bytes of text, bytes as stored.
	productive [2]int64
}

// damage is content that cannot be read any further.
type damage struct {
	reason Reason
	detail string
}

func (d *damage) Error() string { return fmt.Sprintf("%s: %s", d.reason, d.detail) }

// counted counts what was read of the stored file and keeps its disk's error.
type counted struct {
	r    io.Reader
	read int64
	err  error
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// storedBufferBytes is one read of the disk.
const storedBufferBytes = 256 << 10

// open recognises the compression of stored by its first bytes.
func open(stored io.Reader, limits Limits) (*content, error) {
	c := &content{limits: limits, stored: &counted{r: stored}, closer: func() {}}
	buffered := bufio.NewReaderSize(c.stored, storedBufferBytes)
	magic, err := buffered.Peek(longestMagic)
	if err != nil && c.stored.err != nil {
		return nil, err
	}
	switch {
	case foreign(magic) != "":
		c.text = failing{&damage{NotATrace, "a file of " + foreign(magic)}}
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		c.damaged = reasonOf(TruncatedGzip, CorruptGzip)
		z, err := gzip.NewReader(buffered)
		if err != nil {
			c.text = failing{err}
			break
		}
		c.text = z
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		c.damaged = reasonOf(TruncatedZstd, CorruptZstd)
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, err
		}
		c.text, c.closer = z, z.Close
	default:
		c.text = buffered
	}
	return c, nil
}

const longestMagic = 6

// foreign names the kind of a file that holds no text, by its first bytes, so
// that it is one fault and not one for each of its lines.
func foreign(magic []byte) string {
	for _, kind := range []struct{ magic, name string }{
		{"PAR1", "Parquet"}, {"\xfd7zXZ\x00", "xz"}, {"BZh", "bzip2"}, {"PK\x03\x04", "zip"}, {"\x89PNG", "PNG"}, {"SQLite", "SQLite"},
	} {
		if bytes.HasPrefix(magic, []byte(kind.magic)) {
			return kind.name
		}
	}
	return ""
}

// maxZstdWindow is what zstd --long=27 needs, its largest without a further
// flag on the reader's side.
const maxZstdWindow = 128 << 20

func reasonOf(truncated, corrupt Reason) func(error) Reason {
	return func(err error) Reason {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return truncated
		}
		return corrupt
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Read gives text until the end, the first damage or a limit.
func (c *content) Read(p []byte) (int, error) {
	n, err := c.text.Read(p)
	c.read += int64(n)
	switch {
	case err != nil && !errors.Is(err, io.EOF) && c.stored.err == nil && c.damaged != nil:
		return n, &damage{c.damaged(err), fmt.Sprintf("after %d bytes of text", c.read)}
	case err != nil && (c.stored.err != nil || c.damaged == nil):
		return n, err
	case c.read > c.limits.FileBytes:
		return n, &damage{FileTooLong, fmt.Sprintf("more than %d bytes", c.limits.FileBytes)}
	case c.isBomb():
		return n, &damage{DecompressionBomb, fmt.Sprintf("%d bytes became more than %d, the last of them without a trace", c.stored.read, c.read)}
	}
	return n, err
}

// idleLines is how many lines' worth of text may come without a trace: more
// than the longest line that anybody would write by mistake.
const idleLines = 32

// isBomb reports whether the text grows far beyond what is stored and is good
// for nothing. Traces that shrink well, such as copies of one, are no bomb.
func (c *content) isBomb() bool {
	text, stored := c.read-c.productive[0], c.stored.read-c.productive[1]
	return c.damaged != nil && text > max(idleLines*c.limits.LineBytes, c.limits.Expansion*stored)
}

// good notes that what was read so far held a trace.
func (c *content) good() { c.productive = [2]int64{c.read, c.stored.read} }
