// Package canonical hashes JSON in the canonical form of the subnet's ledgers:
// UTF-8, sorted keys, no space, and floats as Python writes them.
package canonical

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/internal/digest"
)

// maxDepth is how deep values may nest, as the runtime has it.
const maxDepth = 256

// ErrNot says that a text has no canonical form: it is no JSON, nests too
// deeply, or holds a number that is neither a float64 nor a signed 64-bit integer.
var ErrNot = errors.New("no canonical JSON")

// Digest is the lower-case hex sha256 of a JSON text in canonical form. Numbers
// keep their kind: 1 and 1.0 differ.
func Digest(text string) (string, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNot, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("%w: more than one value", ErrNot)
	}
	var b bytes.Buffer
	if err := write(&b, v, maxDepth); err != nil {
		return "", err
	}
	return digest.SHA256(b.Bytes()), nil
}

func write(b *bytes.Buffer, v any, depth int) error {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case string:
		quote(b, v)
	case json.Number:
		return number(b, v.String())
	case []any:
		return list(b, v, depth)
	case map[string]any:
		return object(b, v, depth)
	}
	return nil
}

func list(b *bytes.Buffer, items []any, depth int) error {
	if depth < 1 {
		return fmt.Errorf("%w: nested deeper than %d", ErrNot, maxDepth)
	}
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := write(b, item, depth-1); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func object(b *bytes.Buffer, members map[string]any, depth int) error {
	if depth < 1 {
		return fmt.Errorf("%w: nested deeper than %d", ErrNot, maxDepth)
	}
	b.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			b.WriteByte(',')
		}
		quote(b, key)
		b.WriteByte(':')
		if err := write(b, members[key], depth-1); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// number writes integers as they are and floats as Python's repr does.
func number(b *bytes.Buffer, text string) error {
	if !strings.ContainsAny(text, ".eE") {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%w: integer %.40s", ErrNot, text)
		}
		b.WriteString(strconv.FormatInt(n, 10))
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%w: number %.40s", ErrNot, text)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		b.WriteString(strconv.FormatFloat(f, 'e', -1, 64))
		return nil
	}
	out := strconv.FormatFloat(f, 'f', -1, 64)
	b.WriteString(out)
	if !strings.Contains(out, ".") {
		b.WriteString(".0")
	}
	return nil
}

// quote escapes what JSON must escape and nothing else.
func quote(b *bytes.Buffer, s string) {
	const short = "\b\t\n\f\r"
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.Write([]byte{'\\', c})
		case c >= ' ':
			b.WriteByte(c)
		case strings.IndexByte(short, c) >= 0:
			b.Write([]byte{'\\', "btnfr"[strings.IndexByte(short, c)]})
		default:
			fmt.Fprintf(b, `\u%04x`, c)
		}
	}
	b.WriteByte('"')
}
