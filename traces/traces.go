// Package traces reads attempts of agents from files and writes them in the
// formats of other tools. It recognises the format of a file by its content. No other
// package parses trace files.
//
// Files are untrusted: the size, nesting, strings and decompression of records are bounded
// by Limits. A record that cannot be read becomes a Fault with its file, line and reason,
// and reading continues. docs/traces.md has the table of formats.
package traces

import (
	"context"
	"fmt"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
)

// Options configures Read.
type Options struct {
	Limits Limits
	// RunID is the run of records that name none. If it is empty, the run is named after
	// the content of the file, or "stdin" for standard input.
	RunID string
}

// Defaults returns the options of a run without configuration.
func Defaults() Options { return Options{Limits: DefaultLimits()} }

// Item is one record of an input. Exactly one of its fields is set.
type Item struct {
	Trace *arena.Trace
	Fault *Fault
}

// Fault is a record that could not be read as an attempt, or a file if Line is 0.
type Fault struct {
	FileSHA256 string
	// Line counts from 1. It is the line on which the record starts, or the index of the
	// record in a file that is one JSON array.
	Line   int
	Reason Reason
	// Detail describes the fault in words. It quotes keys but never values.
	Detail string
	// Cut reports whether the file ends before its content does, so that an unknown number
	// of records is lost.
	Cut bool
}

// Reason is a stable word for the reason why a record could not be read.
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

// Summary counts the items of one call of Read.
type Summary struct {
	Traces, Faults int
	// Cut reports whether the input ended early.
	Cut bool
}

// Read calls emit for every record of an input, in the order of the file. Memory is bounded
// by the limits and not by the size of the file. Invalid content is passed to emit; an
// error comes from emit, the context, the disk or invalid options. Read hashes the input
// first if its hash is unknown.
func Read(
	ctx context.Context,
	input Input,
	opt Options,
	emit func(Item) error,
) (Summary, error) {
	if err := opt.Limits.Validate(); err != nil {
		return Summary{}, fmt.Errorf("check reading options: %w", err)
	}
	if input.SHA256 == "" {
		if err := input.Hash(ctx); err != nil {
			return Summary{}, err
		}
	}

	var emitErr error
	r := &reader{ctx: ctx, input: input, opt: opt, emit: func(item Item) error {
		emitErr = emit(item)
		return emitErr
	}}
	err := r.read()
	if emitErr != nil {
		return r.summary, emitErr // without the name of the file, which is not to blame
	}
	if err != nil {
		return r.summary, fmt.Errorf("read traces of %s: %w", input.Path, err)
	}
	return r.summary, nil
}

// Decode reads one record that is not part of a file. The trace has neither an id nor a
// source file. The error describes what is wrong with the record.
func Decode(record []byte, l Limits) (*arena.Trace, error) {
	d, err := newDecoder(l).record(record)
	if err != nil {
		return nil, err
	}
	d.trace.RecordSHA256 = digest.SHA256(record)
	return d.trace, nil
}
