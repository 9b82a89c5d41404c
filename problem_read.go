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

// byteOrderMark is put before UTF-8 by some editors; it is no part of it.
const byteOrderMark = "\uFEFF"

// startsArray drops a byte order mark and looks for the first sign of content.
func startsArray(in *bufio.Reader) (bool, error) {
	head, err := in.Peek(in.Size())
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read problems: %w", err)
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
		p, err := parseLimited(text, limit)
		if err != nil {
			return nil, fmt.Errorf("read problems: entry %d: %w", len(all)+1, err)
		}
		all = append(all, p)
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("read problems: end of array after entry %d: %w", len(all), err)
	}
	return all, nil
}

func readLines(in *bufio.Reader, limit int) ([]Problem, error) {
	var all []Problem
	for number, more := 1, true; more; number++ {
		line, err := readLine(in, limit)
		if more = !errors.Is(err, io.EOF); more && err != nil {
			return nil, fmt.Errorf("read problems: line %d: %w", number, err)
		}
		text := bytes.TrimSpace(line)
		if len(text) == 0 {
			continue
		}
		p, err := parseLimited(text, limit)
		if err != nil {
			return nil, fmt.Errorf("read problems: line %d: %w", number, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// readLine returns the next line, in memory of its own. The last one comes
// with io.EOF.
func readLine(in *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > limit {
			return nil, fmt.Errorf("longer than %d bytes", limit)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func parseLimited(text []byte, limit int) (Problem, error) {
	if len(text) > limit {
		return Problem{}, fmt.Errorf("longer than %d bytes", limit)
	}
	return ParseProblem(text)
}
