// Package canonical hashes JSON in the canonical form of the subnet's ledgers: UTF-8, sorted
// keys, no white space, and floats as Python writes them.
package canonical

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/python"
)

// maxDepth is the maximum nesting of lists and objects. It is the limit of the program whose
// canonical JSON this package reproduces, the runtime of the subnet.
const maxDepth = 256

// ErrNot is returned for a text that has no canonical form: it is not JSON, is nested too
// deeply, or contains a number that is neither a float64 nor a signed 64-bit integer.
var ErrNot = errors.New("no canonical JSON")

// Digest returns the SHA-256, in lower-case hex, of a JSON text in canonical form. Integers and
// floats are distinguished: 1 and 1.0 differ.
func Digest(text string) (string, error) {
	v, err := python.Loads(text)
	if err == nil {
		err = check(v, maxDepth)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNot, err)
	}
	return digest.SHA256(python.Canonical(v)), nil
}

// Form returns a key that is equal for JSON texts that differ only in white space, escapes and
// the order of keys. The key is the digest, or the text itself if it has no canonical form.
func Form(text string) string {
	if sum, err := Digest(text); err == nil {
		return sum
	}
	return text
}

// check returns an error if v, which Python can read, has no canonical form: an integer beyond
// 64 bits, a float that is not finite, or more than depth nested values.
func check(v python.Value, depth int) error {
	switch v.Kind {
	case python.Int:
		_, err := strconv.ParseInt(v.Text, 10, 64)
		return err
	case python.Float:
		if !python.IsFinite(v) {
			return errors.New("a number beyond a float64")
		}
	case python.List, python.Dict:
		if depth < 1 {
			return fmt.Errorf("nested deeper than %d", maxDepth)
		}
		for _, e := range v.List {
			if err := check(e, depth-1); err != nil {
				return err
			}
		}
		for _, it := range v.Dict {
			if err := check(it.Value, depth-1); err != nil {
				return err
			}
		}
	default:
	}
	return nil
}
