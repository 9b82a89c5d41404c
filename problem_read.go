package arena

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ReadProblems reads a suite of problems: JSON lines, or one JSON array. It
// refuses a file without problems and names the line (the entry, of an array)
// it could not read or that is longer than limit bytes.
func ReadProblems(r io.Reader, limit int) ([]Problem, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	array, err := startsArray(in)
	if err != nil {
		return nil, err
	}
	read := readLines
	if array {
		read = readArray
	}
	all, err := read(in, limit)
	if err == nil && len(all) == 0 {
		err = errors.New("read problems: the file holds none")
	}
	return all, err
}

// ErrCompressed says that a file which is read as it lies is compressed.
var ErrCompressed = errors.New("the file is compressed: unpack it first")

// Compressed reports whether a file that starts with head is gzip or zstd.
func Compressed(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\x1f\x8b")) || bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd"))
}

// byteOrderMark is put before UTF-8 by some editors; it is no part of it.
const byteOrderMark = "\uFEFF"

// startsArray drops a byte order mark and looks for the first sign of content.
func startsArray(in *bufio.Reader) (bool, error) {
	head, err := in.Peek(in.Size())
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read problems: %w", err)
	}
	if Compressed(head) {
		return false, fmt.Errorf("read problems: %w", ErrCompressed)
	}
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		head = head[len(byteOrderMark):]
		if _, bad := in.Discard(len(byteOrderMark)); bad != nil {
			return false, fmt.Errorf("read problems: %w", bad)
		}
	}
	head = bytes.TrimSpace(head)
	if len(head) == 0 && err != nil {
		return false, errors.New("read problems: the file is empty")
	}
	return len(head) > 0 && head[0] == '[', nil
}

func readArray(in *bufio.Reader, limit int) ([]Problem, error) {
	d := json.NewDecoder(in)
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("read problems: %w", err)
	}
	var all []Problem
	for d.More() {
		var text json.RawMessage
		if err := d.Decode(&text); err != nil {
			return nil, fmt.Errorf("read problems: entry %d: %w", len(all)+1, err)
		}
		if len(text) > limit {
			return nil, fmt.Errorf("read problems: entry %d: longer than %d bytes", len(all)+1, limit)
		}
		p, err := ParseProblem(text)
		if err != nil {
			return nil, fmt.Errorf("read problems: entry %d: %w", len(all)+1, err)
		}
		all = append(all, p)
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("read problems: end of array after entry %d: %w", len(all), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read problems: something stands behind the array of %d entries", len(all))
	}
	return all, nil
}

func readLines(in *bufio.Reader, limit int) ([]Problem, error) {
	var all []Problem
	for line, err := range Lines(in, limit) {
		if err != nil {
			return nil, fmt.Errorf("read problems: %w", err)
		}
		p, err := ParseProblem(bytes.Clone(line.Text))
		if err != nil {
			return nil, fmt.Errorf("read problems: line %d: %w", line.Number, err)
		}
		all = append(all, p)
	}
	return all, nil
}
