package traces

import (
	"errors"
	"fmt"

	"github.com/trajectory-arena/arena/internal/cursor"
)

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
	var errs []error
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
		if f.value < 1 || f.value > f.top {
			errs = append(errs, fmt.Errorf("reading.%s is %d: want 1 to %d", f.name, f.value, f.top))
		}
	}
	return errors.Join(errs...)
}

func (l Limits) cursor() cursor.Limits {
	return cursor.Limits{Depth: l.Depth, StringBytes: l.StringBytes, Elements: l.Elements}
}
