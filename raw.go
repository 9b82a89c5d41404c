package arena

import (
	"encoding/json"
	"fmt"
)

// Raw is one JSON value as its source wrote it: valid JSON text, or empty
// where the source had no such key. It shares memory with the trace it came
// from and is decoded by whoever needs it, never twice on the main path.
type Raw string

// Kind names the JSON type of a Raw by its first byte.
type Kind uint8

// The JSON types. Absent is the zero value: the key was not there.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// Kind tells the JSON type without decoding the value.
func (r Raw) Kind() Kind {
	if r == "" {
		return Absent
	}
	switch r[0] {
	case 'n':
		return Null
	case 't', 'f':
		return Bool
	case '"':
		return String
	case '[':
		return Array
	case '{':
		return Object
	default:
		return Number
	}
}

// Text is a string's own text, or any other value as it was written.
func (r Raw) Text() string {
	var text string
	if r.Kind() == String && json.Unmarshal([]byte(r), &text) == nil {
		return text
	}
	return string(r)
}

// Quote is text as a JSON string.
func Quote(text string) Raw {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(fmt.Sprintf("quote a string: %v", err)) // json cannot refuse a string
	}
	return Raw(quoted)
}
