// Package asjson writes what the program made itself as JSON: texts, counts, finite
// numbers, and lists and objects of them, which nothing can refuse.
package asjson

import "encoding/json"

// Bytes is v in one line.
func Bytes(v any) []byte { return made(json.Marshal(v)) }

// Indented is v for people.
func Indented(v any, indent string) []byte { return made(json.MarshalIndent(v, "", indent)) }

func made(b []byte, err error) []byte {
	if err != nil {
		panic(err) // a mistake in the program
	}
	return b
}
