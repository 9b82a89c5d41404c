package traces

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/trajectory-arena/arena/internal/gunzip"
)

// content is a reader of the text of a file, which it decompresses and limits. The error of Read is
// io.EOF, a *damage, or an error of the disk.
type content struct {
	limits Limits
	stored *countingReader
	text   io.Reader
	close  func()
	// truncated and corrupt are the reasons of the faults for compressed data that ends early and
	// for invalid data. They are empty if the file is not compressed.
	truncated, corrupt Reason
	// textBytes is the number of bytes of text that were read.
	textBytes int64
	// lastTrace is the position at which the last trace was emitted.
	lastTrace position
}

// position is how much of a file was read: the number of bytes of decompressed text, and of the
// stored bytes.
type position struct{ text, stored int64 }

// damage is the error for a record that cannot be read, or for a file that cannot be read further.
// Its reason and detail become those of a Fault.
type damage struct {
	reason Reason
	detail string
}

func (d *damage) Error() string { return fmt.Sprintf("%s: %s", d.reason, d.detail) }

// countingReader counts the bytes read from a stored file and records an error of the disk.
type countingReader struct {
	r   io.Reader
	n   int64
	err error
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// storedBufferBytes is the number of bytes in one read from the disk.
const storedBufferBytes = 256 << 10

// openContent returns a reader for the text of a stored file, which it decompresses if the file
// starts like gzip or zstd. For a known binary format, such as PNG, or damaged data, Read returns a
// *damage. The error is that of the disk or of the decompressor's settings.
func openContent(stored io.Reader, limits Limits) (*content, error) {
	c := &content{
		limits: limits,
		stored: &countingReader{r: stored},
		close:  func() {},
	}
	buffered := bufio.NewReaderSize(c.stored, storedBufferBytes)
	magic, err := buffered.Peek(maxMagicBytes)
	if err != nil && c.stored.err != nil {
		return nil, err
	}
	switch {
	case binaryFormat(magic) != "":
		c.text = foreignFile(magic)
		return c, nil
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		c.truncated = TruncatedGzip
		c.corrupt = CorruptGzip
		c.text, err = gunzip.NewReader(buffered)
		if err != nil {
			c.text = failingReader{err}
		}
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		c.truncated = TruncatedZstd
		c.corrupt = CorruptZstd
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, err
		}
		c.text = z
		c.close = z.Close
	default:
		c.text = buffered
		return c, nil
	}
	if _, isDamaged := c.text.(failingReader); isDamaged {
		return c, nil
	}
	unpacked := bufio.NewReader(c.text)
	magic, _ = unpacked.Peek(maxMagicBytes) // an error comes again from Read
	c.text = unpacked
	if binaryFormat(magic) != "" {
		c.text = foreignFile(magic)
	}
	return c, nil
}

// foreignFile returns a reader that fails with a *damage, whose text names the binary format of a
// file. magic has the first bytes of the file.
func foreignFile(magic []byte) io.Reader {
	return failingReader{&damage{NotATrace, "a file of " + binaryFormat(magic)}}
}

// A tar archive has tarMagic at tarOffset.
const (
	tarMagic  = "ustar"
	tarOffset = 257
)

// maxMagicBytes is the number of bytes at the start of a file by which its format is recognised.
const maxMagicBytes = tarOffset + len(tarMagic)

const utf16 = "UTF-16: convert it to UTF-8 first"

// binaryFormat returns the name of a file format that is no text, recognised by the first bytes of
// the file. It returns "" for any other file. A file of such a format becomes one fault and not one
// for each line.
func binaryFormat(magic []byte) string {
	if len(magic) == maxMagicBytes && string(magic[tarOffset:]) == tarMagic {
		return "tar: unpack it first"
	}
	for _, format := range []struct{ magic, name string }{
		{"PAR1", "Parquet"},
		{"ARRO", "Arrow"},
		{"\xfd7zXZ\x00", "xz"},
		{"BZh", "bzip2"},
		{"PK\x03\x04", "zip"},
		{"\x89PNG", "PNG"},
		{"SQLite", "SQLite"},
		{"version https://git-lfs", "Git LFS: fetch its content with git lfs pull"},
		{"\xff\xfe", utf16},
		{"\xfe\xff", utf16},
	} {
		if bytes.HasPrefix(magic, []byte(format.magic)) {
			return format.name
		}
	}
	return ""
}

// maxZstdWindow is the maximum window size of a zstd file in bytes. It is that of zstd
// --long=27, the largest that zstd decompresses without another flag.
const maxZstdWindow = 128 << 20

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// Read reads text until the end, the first damage or a limit.
func (c *content) Read(p []byte) (int, error) {
	n, err := c.text.Read(p)
	c.textBytes += int64(n)
	isCompressed := c.corrupt != ""
	if _, isNamed := errors.AsType[*damage](err); isNamed {
		return n, err
	}
	switch {
	case err != nil && (c.stored.err != nil || !isCompressed):
		return n, err
	case err != nil && !errors.Is(err, io.EOF):
		reason := c.corrupt
		if errors.Is(err, io.ErrUnexpectedEOF) {
			reason = c.truncated
		}
		return n, &damage{reason, fmt.Sprintf("after %d bytes of text", c.textBytes)}
	case c.textBytes > c.limits.FileBytes:
		return n, &damage{FileTooLong, fmt.Sprintf("more than %d bytes", c.limits.FileBytes)}
	case isCompressed && c.isBomb():
		detail := fmt.Sprintf("%d bytes became more than %d, the last of them without a trace", c.stored.n, c.textBytes)
		return n, &damage{DecompressionBomb, detail}
	}
	return n, err
}

// maxIdleLines is how much decompressed text without a trace every file may have, as a multiple of
// the maximum size of a record (Limits.LineBytes). With more, the file may be a decompression bomb.
const maxIdleLines = 32

// isBomb reports whether the file must be a decompression bomb, by the size of the text since the
// last trace: more than Limits.Expansion times its compressed size, and more than maxIdleLines
// records of maximum size. A file with many copies of one trace is no bomb.
func (c *content) isBomb() bool {
	text := c.textBytes - c.lastTrace.text
	stored := c.stored.n - c.lastTrace.stored
	return text > max(maxIdleLines*c.limits.LineBytes, c.limits.Expansion*stored)
}

// markTrace records that a trace ends at the current position, for isBomb.
func (c *content) markTrace() {
	c.lastTrace = position{text: c.textBytes, stored: c.stored.n}
}
