// Package traces reads attempts of shopping agents from every file format that
// they come in, told apart by content, and writes them in the formats that
// others read. Nothing else in the project parses trace files.
//
// Files are untrusted: records, nesting, strings and decompression are bounded
// (Limits), and whatever cannot be read becomes a Fault with its file, line and
// reason while reading goes on. docs/traces.md has the table of shapes.
package traces

import (
	"context"
	"fmt"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
)

// Options are how to read.
type Options struct {
	Limits Limits
	// RunID names the run of records that name none. Empty, the file they stand in
	// is a run of its own, named by its content, and standard input is "stdin".
	RunID string
}

// Defaults are the options of a run without configuration.
func Defaults() Options { return Options{Limits: DefaultLimits()} }

// Item is one record of an input: exactly one of its fields is set.
type Item struct {
	Trace *arena.Trace
	Fault *Fault
}

// Fault is a record, or a whole file where Line is 0, that is not an attempt
// that could be read.
type Fault struct {
	FileSHA256 string
	// Line counts from 1: the line that the record starts on, or its position
	// where the file is one JSON array of records.
	Line   int
	Reason Reason
	// Detail says in words what was found. It quotes keys, never values.
	Detail string
	// Cut reports whether the file ends here before its content does: what it held
	// besides is lost, and nobody knows how much.
	Cut bool
}

// Reason is why a record could not be read, a stable word.
type Reason string

// The reasons of faults.
const (
	EmptyFile         Reason = "empty_file"         // a file without content
	LineTooLong       Reason = "line_too_long"      // a line over the limit in bytes
	FileTooLong       Reason = "file_too_long"      // a document over the limit in bytes
	BadJSON           Reason = "bad_json"           // not valid JSON, or cut off
	TooDeep           Reason = "too_deep"           // JSON nested deeper than is read
	StringTooLong     Reason = "string_too_long"    // a string over the limit in bytes
	TooManyElements   Reason = "too_many_elements"  // a list or object with more elements than are read
	NotATrace         Reason = "not_a_trace"        // JSON of no known trace format
	WrongType         Reason = "wrong_type"         // a field of a type that the format does not have
	UnknownStatus     Reason = "unknown_status"     // a status that the format does not know
	UnsupportedSchema Reason = "unsupported_schema" // a schema name that is not read
	TruncatedGzip     Reason = "truncated_gzip"     // a gzip file that ends early
	TruncatedZstd     Reason = "truncated_zstd"     // a zstd file that ends early
	CorruptGzip       Reason = "corrupt_gzip"       // a damaged gzip file
	CorruptZstd       Reason = "corrupt_zstd"       // a damaged zstd file
	CorruptColumns    Reason = "corrupt_columns"    // a damaged Parquet or Arrow file, or one larger than is read
	CorruptZip        Reason = "corrupt_zip"        // a damaged zip file
	DecompressionBomb Reason = "decompression_bomb" // a compressed file that unpacks to more than is read
	BadMeta           Reason = "bad_run_json"       // a run.json that cannot be read
	LinkOutsideDay    Reason = "link_outside_day"   // a link that leads out of the day
	NotAFile          Reason = "not_a_file"         // neither a file nor a folder
	BadName           Reason = "bad_name"           // a file name that cannot be kept
)

// Summary is what one Read found.
type Summary struct {
	Traces, Faults int
	// Cut reports whether the input ended early.
	Cut bool
}

// Read gives every record of in to emit, in the file's order, one at a time;
// memory is bounded by the limits and not by the file. An error is one of
// emit's own, of ctx, of the disk or of the options; whatever is wrong with the
// content is an Item instead. An input whose hash is not known is read twice.
func Read(ctx context.Context, in Input, opt Options, emit func(Item) error) (Summary, error) {
	if err := opt.Limits.Validate(); err != nil {
		return Summary{}, fmt.Errorf("check reading options: %w", err)
	}
	if in.SHA256 == "" {
		if err := in.Hash(ctx); err != nil {
			return Summary{}, err
		}
	}
	var own error
	r := &reader{ctx: ctx, in: in, opt: opt, emit: func(it Item) error {
		own = emit(it)
		return own
	}}
	err := r.read()
	switch {
	case own != nil:
		err = own // it is no fault of the file
	case err != nil:
		err = fmt.Errorf("read traces of %s: %w", in.Path, err)
	}
	return r.sum, err
}

// Decode reads one record that lies in no file. Its trace has neither an id nor a
// place; the error says what is wrong with the text.
func Decode(record []byte, l Limits) (*arena.Trace, error) {
	f, err := newDecoder(l).record(record)
	if err != nil {
		return nil, err
	}
	f.trace.RecordSHA256 = digest.SHA256(record)
	return f.trace, nil
}
