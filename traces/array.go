package traces

import (
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// array reads the array that the window starts with if it is a list of
// records, one element at a time. rows is false for any other array: that is
// one record, or none.
func (r *reader) array() (rows bool, err error) {
	from, ok := r.firstElement()
	if !ok {
		return false, nil
	}
	to, ok := r.w.value(from)
	if ok && partSource(gjson.ParseBytes(r.w.ahead()[from:to])) != (arena.Source{}) {
		return false, nil // a step, a message or a turn: the array is one attempt
	}
	if _, short := r.w.lineEnd(); !ok && short {
		return false, nil // a line that was cut off, not a list
	}
	r.w.consume(from)
	for row := 1; ; row++ {
		if more, err := r.row(row); !more || err != nil {
			return true, err
		}
		if more, err := r.nextRow(row); !more || err != nil {
			return true, err
		}
	}
}

// firstElement returns where the array's first element starts, if that is an
// array or object.
func (r *reader) firstElement() (from int, ok bool) {
	for from = 1; ; {
		ahead := r.w.ahead()
		from += blankPrefix(ahead[from:])
		if from < len(ahead) {
			return from, ahead[from] == '{' || ahead[from] == '['
		}
		if from > r.w.limit || !r.w.fill() {
			return 0, false
		}
	}
}

// row takes one element. One that is too long is stepped over; one that does
// not end is the last thing in the file, and more is false.
func (r *reader) row(row int) (more bool, err error) {
	to, ok := r.w.value(0)
	if ok {
		f, err := r.decode.record(r.w.ahead()[:to])
		return true, r.take(to, row, f, err)
	}
	if r.w.skipValue() {
		return true, r.fault(row, LineTooLong, fmt.Sprintf("element of more than %d bytes", r.w.limit), false)
	}
	if r.w.stopped() {
		return false, nil // told once, at the end
	}
	return false, r.fault(row, BadJSON, "element does not end", true)
}

// nextRow moves to the next element. Where the list breaks off, what is left
// of its line is lost, and the lines after it are read as records.
func (r *reader) nextRow(row int) (more bool, err error) {
	if _, more := r.w.skipBlank(); !more {
		if r.w.stopped() {
			return false, nil
		}
		return false, r.fault(row, BadJSON, "list of records does not end", true)
	}
	switch r.w.ahead()[0] {
	case ',':
		r.w.consume(1)
		if _, more := r.w.skipBlank(); more && (r.w.ahead()[0] == '{' || r.w.ahead()[0] == '[') {
			return true, nil
		}
	case ']':
		r.w.consume(1)
		return false, nil
	}
	r.linesOnly, r.listed = true, true
	r.w.skipLine()
	return false, r.fault(row+1, BadJSON, "list of records breaks off", false)
}

// The formats of messages: those of OpenAI's API, and those named by who speaks.
var (
	openAI   = arena.Source{Shape: "openai", TextArguments: true}
	shareGPT = arena.Source{Shape: "sharegpt", TextArguments: true}
)

// listSource is the format of an array by its first element that tells; zero
// where none does.
func listSource(array string) (source arena.Source) {
	gjson.Parse(array).ForEach(func(_, element gjson.Result) bool {
		source = partSource(element)
		return source == (arena.Source{})
	})
	return source
}

// partSource is the format of the attempt that element is a part of.
func partSource(element gjson.Result) (source arena.Source) {
	turn := 0
	if !element.IsObject() {
		return arena.Source{}
	}
	element.ForEach(func(key, _ gjson.Result) bool {
		switch key.Str {
		case "completion", "extra_info":
			source = dialogueFile
		case "role":
			source = openAI
		case "from", "value":
			if turn++; turn == 2 {
				source = shareGPT
			}
		case "problem_id", "messages", "conversations", "schema_version":
			return false
		}
		return source == (arena.Source{})
	})
	return source
}
