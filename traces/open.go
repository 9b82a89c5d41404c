package traces

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// content is a file's text, decompressed and within its limits. Its errors are
// io.EOF, a *damage where the content is to blame, or the disk's own.
type content struct {
	limits Limits
	stored *counted
	text   io.Reader
	closer func()
	// truncated and corrupt are what the decompressor's errors mean; empty if the file is
	// not compressed.
	truncated, corrupt Reason
	read               int64
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
		c.truncated, c.corrupt = TruncatedGzip, CorruptGzip
		if c.text, err = gzip.NewReader(buffered); err != nil {
			c.text = failing{err}
		}
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		c.truncated, c.corrupt = TruncatedZstd, CorruptZstd
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
		{"PAR1", "Parquet"}, {"ARRO", "Arrow"}, {"\xfd7zXZ\x00", "xz"}, {"BZh", "bzip2"}, {"PK\x03\x04", "zip"}, {"\x89PNG", "PNG"}, {"SQLite", "SQLite"},
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

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Read gives text until the end, the first damage or a limit.
func (c *content) Read(p []byte) (int, error) {
	n, err := c.text.Read(p)
	c.read += int64(n)
	switch {
	case err != nil && !errors.Is(err, io.EOF) && c.stored.err == nil && c.corrupt != "":
		reason := c.corrupt
		if errors.Is(err, io.ErrUnexpectedEOF) {
			reason = c.truncated
		}
		return n, &damage{reason, fmt.Sprintf("after %d bytes of text", c.read)}
	case err != nil && (c.stored.err != nil || c.corrupt == ""):
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
	return c.corrupt != "" && text > max(idleLines*c.limits.LineBytes, c.limits.Expansion*stored)
}

// good notes that what was read so far held a trace.
func (c *content) good() { c.productive = [2]int64{c.read, c.stored.read} }

// Limits bound what one input may ask of memory, stack and time.
type Limits struct {
	// LineBytes is the longest record: a line, or a whole file or array element
	// where that is one attempt. Longer ones are stepped over. It also bounds
	// memory, about three times this much for one reader.
	LineBytes int64 `yaml:"line_bytes"`
	// Depth is the deepest nesting of a record's arrays and objects.
	Depth int
	// StringBytes is the longest string in a record, as written.
	StringBytes int `yaml:"string_bytes"`
	// Elements is the most steps, calls, proxy calls and other list entries of
	// one record together; what is kept as raw JSON does not count. It bounds
	// what a short text can make of memory: a step of one byte needs 250.
	Elements int
	// FileBytes is the most that is read of one file, uncompressed.
	FileBytes int64 `yaml:"file_bytes"`
	// Expansion is how many times its compressed size a file may grow without a
	// trace in it before it counts as a bomb; 32 times LineBytes are always
	// allowed.
	Expansion int64
}

// DefaultLimits leave room for what has been seen and little more. Lines of
// 15 MB exist and an envelope of 30 MB must pass: 64 MiB a line, half of it for
// one string. An attempt has at most some hundred steps and calls. Real traces nest about 20 deep; tool results may hold JSON of
// their own: 512. A day is 3 GB of JSON in many files: 64 GiB for one file.
// Traces shrink 8 to 40 times, and JSON full of repeats up to 200 times;
// DEFLATE cannot pass 1,032.
func DefaultLimits() Limits {
	return Limits{
		LineBytes:   64 << 20,
		Depth:       512,
		StringBytes: 32 << 20,
		Elements:    200_000,
		FileBytes:   64 << 30,
		Expansion:   400,
	}
}

// maxDepth is encoding/json's own limit; steps of a dialogue are decoded with
// it again.
const maxDepth = 10_000

// Validate returns all that is wrong with the limits, joined.
func (l Limits) Validate() error {
	var bad wrong.List
	for _, f := range []struct {
		name       string
		value, top int64
	}{
		{"line_bytes", l.LineBytes, 1 << 30},
		{"depth", int64(l.Depth), maxDepth},
		{"string_bytes", int64(l.StringBytes), 1 << 30},
		{"elements", int64(l.Elements), 1 << 30},
		{"file_bytes", l.FileBytes, 1 << 50},
		{"expansion", l.Expansion, 1 << 30},
	} {
		bad.Unless(f.value >= 1 && f.value <= f.top, "reading.%s is %d: want 1 to %d", f.name, f.value, f.top)
	}
	return bad.Err()
}

func (l Limits) cursor() cursor.Limits {
	return cursor.Limits{Depth: l.Depth, StringBytes: l.StringBytes, Elements: l.Elements}
}

// ErrUnreadable says that more of what was to be read cannot be read than is
// allowed.
var ErrUnreadable = errors.New("too much could not be read")

// DefaultMaxUnreadable is the share of records that may be unreadable, 0 to 1.
const DefaultMaxUnreadable = 0.01

// Tally is how much of several inputs could be read.
type Tally struct {
	// Records counts attempts and faults, Faults the faults alone.
	Records, Faults int
	// CutFiles counts files that ended before their content did, CutAttempts the
	// attempts that were read of them.
	CutFiles, CutAttempts int
}

// Add takes in one input.
func (t *Tally) Add(s Summary) {
	t.Records += s.Traces + s.Faults
	t.Faults += s.Faults
	if s.Cut {
		t.CutFiles++
		t.CutAttempts += s.Traces
	}
}

// Merge takes in what another tally counted.
func (t *Tally) Merge(o Tally) {
	t.Records, t.Faults = t.Records+o.Records, t.Faults+o.Faults
	t.CutFiles, t.CutAttempts = t.CutFiles+o.CutFiles, t.CutAttempts+o.CutAttempts
}

// UnreadableShare is the share of records that could not be read, 0 to 1. What a file that
// ended early has lost is not known: it counts as much as was read of it.
func (t *Tally) UnreadableShare() float64 {
	if t.Records == 0 {
		return 0
	}
	return float64(t.Faults+t.CutAttempts) / float64(t.Records)
}

// CheckShare is ErrUnreadable where the share is larger than limit.
func (t *Tally) CheckShare(limit float64) error {
	if t.UnreadableShare() <= limit {
		return nil
	}
	return fmt.Errorf("%w: %s: at most %.4g %% are allowed", ErrUnreadable, t, 100*limit)
}

// String says it in words.
func (t *Tally) String() string {
	text := fmt.Sprintf("%d of %d records", t.Faults, t.Records)
	if t.CutFiles > 0 {
		text += fmt.Sprintf(", and %d files ended early, of which %d attempts were read", t.CutFiles, t.CutAttempts)
	}
	return text + fmt.Sprintf(" (%.2f %%)", 100*t.UnreadableShare())
}
