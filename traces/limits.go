package traces

import (
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Limits bounds the memory, stack and time for one input.
type Limits struct {
	// LineBytes is the maximum length of a record: a line, or a file or array element that
	// is one attempt. Longer records are skipped. A reader uses about three times as much
	// memory.
	LineBytes int64 `yaml:"line_bytes"`
	// Depth is the maximum nesting of arrays and objects in a record.
	Depth int
	// StringBytes is the maximum length of a string in a record, as written.
	StringBytes int `yaml:"string_bytes"`
	// Elements is the maximum total of steps, calls, proxy calls and other list elements in
	// a record, without those in raw JSON. It bounds the memory for a short text: a step of
	// one byte needs 250 bytes.
	Elements int
	// FileBytes is the maximum uncompressed size of a file.
	FileBytes int64 `yaml:"file_bytes"`
	// Expansion is the maximum ratio of text without a trace to its compressed size. 32
	// times LineBytes are always allowed.
	Expansion int64
}

// DefaultLimits returns limits somewhat above what real files have. Lines of 15 MB exist
// and an envelope of 30 MB must be readable: 64 MiB for a line, half of it for a string. An
// attempt has at most some hundred steps and calls. Real traces are nested about 20 levels
// deep, but tool results may contain any JSON: 512. A day is 3 GB of JSON in many files: 64
// GiB for one file. Traces compress by a factor of 8 to 40, and JSON with many repetitions
// by up to 200; DEFLATE cannot exceed 1,032.
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

// maxDepth is the highest value that Limits.Depth may have. It is the nesting limit of
// encoding/json, which decodes the steps of a dialogue again.
const maxDepth = 10_000

// Validate returns an error with all limits that are out of range.
func (l Limits) Validate() error {
	var bad wrong.List
	for _, f := range []struct {
		name       string
		value, max int64
	}{
		{"line_bytes", l.LineBytes, 1 << 30},
		{"depth", int64(l.Depth), maxDepth},
		{"string_bytes", int64(l.StringBytes), 1 << 30},
		{"elements", int64(l.Elements), 1 << 30},
		{"file_bytes", l.FileBytes, 1 << 50},
		{"expansion", l.Expansion, 1 << 30},
	} {
		bad.Unless(
			f.value >= 1 && f.value <= f.max,
			"reading.%s is %d: want 1 to %d",
			f.name,
			f.value,
			f.max,
		)
	}
	return bad.Err()
}

func (l Limits) cursor() cursor.Limits {
	return cursor.Limits{
		Depth:       l.Depth,
		StringBytes: l.StringBytes,
		Elements:    l.Elements,
	}
}
