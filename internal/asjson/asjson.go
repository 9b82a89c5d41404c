// Package asjson writes what the program made itself as JSON: texts, counts, finite
// numbers, and lists and objects of them, which nothing can refuse.
package asjson

import (
	"bytes"
	"encoding/json"
)

// Bytes is v in one line.
func Bytes(v any) []byte { return made(json.Marshal(v)) }

// Plain is Bytes with <, > and & as they are.
func Plain(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(made(b.Bytes(), err), []byte("\n"))
}

// Indented is v for people.
func Indented(v any, indent string) []byte { return made(json.MarshalIndent(v, "", indent)) }

func made(b []byte, err error) []byte {
	if err != nil {
		panic(err) // a mistake in the program
	}
	return b
}
