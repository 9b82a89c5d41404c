package traces

import (
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// readArray emits the elements of the array at the start of the unread text as records, if the
// array is a list of records, and returns true. For any other array it returns false and consumes
// nothing. That is an array whose first element is a step or message of a single attempt, or is
// neither an array nor an object, or an array that was cut off within its line.
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

// firstElement finds the first element of the array at the start of the unread text and returns
// its offset. ok is false if the element is neither an array nor an object, or if it does not
// start within the size limit of a record.
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

// readElement reads one element of a list of records and emits its attempts, or a fault. It
// skips an element over the size limit, with a fault. It returns more = false if the end of the
// element cannot be found, so that nothing after it can be read.
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

// nextElement moves to the start of the next element of a list of records. It returns more =
// false at the end of the list, and where the list is malformed. After malformed text it emits a
// fault, skips the line, and makes the reader read each later line as a record.
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

// startsContainer reports whether the first unread byte starts a JSON object or array.
func (r *reader) startsContainer() bool {
	first := r.w.unread()[0]
	return first == '{' || first == '['
}

// The two formats of a JSON array of messages. The author of a message is under "role" in that
// of OpenAI's API, and under "from" in ShareGPT.
var (
	openAI   = arena.Source{Shape: "openai", TextArguments: true}
	shareGPT = arena.Source{Shape: "sharegpt", TextArguments: true}
)

// listSource returns the format of an array that is one attempt, a list of steps or messages.
// The first element with a known format decides. The result is the zero value if there is no
// such element.
func listSource(array string) arena.Source {
	var source arena.Source
	gjson.Parse(array).ForEach(func(_, element gjson.Result) bool {
		source = partSource(element)
		return source == (arena.Source{})
	})
	return source
}

// partSource returns the format of an attempt by the keys of one of its elements, a step or
// message. It returns the zero value if element is neither.
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
