package traces

import (
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// readArray reads the array at the start of the window if it is a list of records, one
// element at a time. It returns false for any other array, which is one record or none.
func (r *reader) readArray() (isList bool, err error) {
	start, ok := r.firstElement()
	if !ok {
		return false, nil
	}
	end, ok := r.w.valueEnd(start)
	if ok {
		first := gjson.ParseBytes(r.w.unread()[start:end])
		if partSource(first) != (arena.Source{}) {
			return false, nil // a step, a message or a turn: the array is one attempt
		}
	}
	if !ok {
		if _, ok := r.w.lineEnd(); ok {
			return false, nil // a line that was cut off, not a list
		}
	}

	r.w.consume(start)
	for index := 1; ; index++ {
		more, err := r.readElement(index)
		if !more || err != nil {
			return true, err
		}
		more, err = r.nextElement(index)
		if !more || err != nil {
			return true, err
		}
	}
}

// firstElement returns the offset of the array's first element, if that is an array or an
// object.
func (r *reader) firstElement() (offset int, ok bool) {
	offset = 1
	for {
		unread := r.w.unread()
		offset += blankPrefix(unread[offset:])
		if offset < len(unread) {
			return offset, unread[offset] == '{' || unread[offset] == '['
		}
		if offset > r.w.limit || !r.w.fill() {
			return 0, false
		}
	}
}

// readElement reads one element, and skips it if it is too long. It returns more = false
// for an element that does not end, which is the last of the file.
func (r *reader) readElement(index int) (more bool, err error) {
	if end, ok := r.w.valueEnd(0); ok {
		d, err := r.decode.record(r.w.unread()[:end])
		return true, r.consumeRecord(end, index, d, err)
	}
	if r.w.skipValue() {
		return true, r.addFault(
			index,
			LineTooLong,
			fmt.Sprintf("element of more than %d bytes", r.w.limit),
			false,
		)
	}
	if r.w.failed() {
		return false, nil // finish reports the failure
	}
	return false, r.addFault(index, BadJSON, "element does not end", true)
}

// nextElement moves to the next element. If the list breaks off, the remaining line is
// lost and the lines after it are read as records.
func (r *reader) nextElement(index int) (more bool, err error) {
	if _, more := r.w.skipBlank(); !more {
		if r.w.failed() {
			return false, nil
		}
		return false, r.addFault(index, BadJSON, "list of records does not end", true)
	}
	switch r.w.unread()[0] {
	case ',':
		r.w.consume(1)
		if _, more := r.w.skipBlank(); more && r.startsContainer() {
			return true, nil
		}
	case ']':
		r.w.consume(1)
		return false, nil
	}
	r.linesOnly = true
	r.inBrokenList = true
	r.w.skipLine()
	return false, r.addFault(index+1, BadJSON, "list of records breaks off", false)
}

// startsContainer reports whether the window starts with an object or an array.
func (r *reader) startsContainer() bool {
	first := r.w.unread()[0]
	return first == '{' || first == '['
}

// The formats of messages: OpenAI's API, and messages that name their sender under "from".
var (
	openAI   = arena.Source{Shape: "openai", TextArguments: true}
	shareGPT = arena.Source{Shape: "sharegpt", TextArguments: true}
)

// listSource returns the format of an array by its first element with a known format, or
// the zero value if no element has one.
func listSource(array string) arena.Source {
	var source arena.Source
	gjson.Parse(array).ForEach(func(_, element gjson.Result) bool {
		source = partSource(element)
		return source == (arena.Source{})
	})
	return source
}

// partSource returns the format of the attempt of which element is a part, or the zero
// value if it is no part of an attempt.
func partSource(element gjson.Result) arena.Source {
	var source arena.Source
	if !element.IsObject() {
		return source
	}
	shareGPTKeys := 0
	element.ForEach(func(key, _ gjson.Result) bool {
		switch key.Str {
		case "completion", "extra_info":
			source = dialogueFile
		case "role":
			source = openAI
		case "from", "value":
			shareGPTKeys++
			if shareGPTKeys == 2 {
				source = shareGPT
			}
		case "problem_id", "messages", "conversations", "schema_version":
			return false
		}
		return source == (arena.Source{})
	})
	return source
}
