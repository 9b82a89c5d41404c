// Package json gives arrow-go the standard library's encoding/json under the path of goccy/go-json.
//
// arrow-go uses goccy/go-json only to print arrays as JSON and to parse such text, which arena never does, but the linker cannot
// see that: 1.3 MB of the program were that library. docs/decisions/20261122-program-size.md says what the replacement costs.
package json

import (
	"encoding/json"
	"io"
)

// The types have the meaning that encoding/json gives them.
type (
	Decoder            = json.Decoder
	Encoder            = json.Encoder
	Marshaler          = json.Marshaler
	Delim              = json.Delim
	UnmarshalTypeError = json.UnmarshalTypeError
	Number             = json.Number
	Unmarshaler        = json.Unmarshaler
	RawMessage         = json.RawMessage
)

// Marshal returns v as JSON.
func Marshal(v any) ([]byte, error) {
	return json.Marshal(v)
}

// Unmarshal decodes data, one JSON value, into v.
func Unmarshal(data []byte, v any) error {
	return json.Unmarshal(data, v)
}

// NewDecoder returns a decoder that reads from r.
func NewDecoder(r io.Reader) *Decoder {
	return json.NewDecoder(r)
}

// NewEncoder returns an encoder that writes to w.
func NewEncoder(w io.Writer) *Encoder {
	return json.NewEncoder(w)
}
