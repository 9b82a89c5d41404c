// Package asjson writes and reads the program's own values as JSON: texts, counts, finite numbers,
// and lists and objects of them. Encoding such values cannot fail, nor decoding the program's own
// files.
package asjson

import (
	"bytes"
	"encoding/json"
	"io"
)

// Bytes returns v as JSON on one line.
func Bytes(v any) []byte { return must(json.Marshal(v)) }

// Plain returns v as JSON on one line, with <, > and & unescaped.
func Plain(v any) []byte {
	var b bytes.Buffer
	err := NewEncoder(&b).Encode(v)
	return bytes.TrimSuffix(must(b.Bytes(), err), []byte("\n"))
}

// NewEncoder returns an encoder that writes each value to w as a line of JSON, with <, > and &
// unescaped. It takes values of all types.
func NewEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// Indented returns v as indented JSON on several lines.
func Indented(v any, indent string) []byte { return must(json.MarshalIndent(v, "", indent)) }

// Parse returns the value of a JSON file that is embedded in the program.
func Parse[T any](file []byte) (value T) {
	must(nil, json.Unmarshal(file, &value))
	return value
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err) // a mistake in the program
	}
	return b
}
