// Package jsonl reads files with one JSON value per line.
package jsonl

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/trajectory-arena/arena"
)

// maxLine is the maximum length of a line in bytes. Lines of results can be long, since they
// repeat ids that a model invented.
const maxLine = 64 << 20

// Each calls each for every line of a file, decoded as a T. Its errors name the file and the
// line.
func Each[T any](path string, each func(T) error) error {
	return eachLine(path, func(text []byte) error {
		var v T
		if err := json.Unmarshal(text, &v); err != nil {
			return err
		}
		return each(v)
	})
}

func eachLine(path string, each func(text []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	for l, err := range arena.Lines(f, maxLine) {
		if err != nil {
			return fmt.Errorf("%s: %w", path, err) // it says the line
		}
		if err := each(l.Text); err != nil {
			return fmt.Errorf("%s: line %d: %w", path, l.Number, err)
		}
	}
	return nil
}
