package arena

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/tidwall/gjson"
)

// Raw is one JSON value as its source wrote it: valid JSON text, or empty if the source had
// no such key. It shares memory with its trace and is decoded by its users, never twice on
// the main path.
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

// Kind returns the JSON type without decoding the value.
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

// Text returns the content of a string, or any other value as it was written.
func (r Raw) Text() string {
	if r.Kind() == String {
		var text string
		if json.Unmarshal([]byte(r), &text) == nil {
			return text
		}
	}
	return string(r)
}

// Quote returns text as a JSON string.
func Quote(text string) Raw {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(fmt.Sprintf("quote a string: %v", err)) // json cannot refuse a string
	}
	return Raw(quoted)
}

// Sources write fields in other types than documented, or leave them null.
// The functions below read a value of the expected type and treat any other as absent:
// the typed fields of a problem are for people and prompts, scores are computed from Raw.

// fieldsOf parses a JSON object and returns its members by key. If a key occurs several times, its
// last value is returned.
func fieldsOf(text []byte) (map[string]gjson.Result, error) {
	var valid json.RawMessage
	if err := json.Unmarshal(text, &valid); err != nil {
		return nil, err
	}
	doc := gjson.ParseBytes(text)
	if !doc.IsObject() {
		return nil, errors.New("not a JSON object")
	}
	fields := map[string]gjson.Result{}
	for key, value := range looseMembers(doc) {
		fields[key] = value
	}
	return fields, nil
}

// looseMembers iterates over the members of an object in their order. It yields nothing if v is not
// an object.
func looseMembers(v gjson.Result) iter.Seq2[string, gjson.Result] {
	return func(yield func(string, gjson.Result) bool) {
		if v.IsObject() {
			v.ForEach(func(key, value gjson.Result) bool {
				return yield(key.Str, value)
			})
		}
	}
}

func looseList(v gjson.Result) []gjson.Result {
	if !v.IsArray() {
		return nil
	}
	return v.Array()
}

func looseString(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return Raw(v.Raw).Text()
}

// looseID reads an id that may be a JSON string or number. The digits of a number are returned as
// written, since a conversion to float64 could change them. For any other value it returns "".
func looseID(v gjson.Result) string {
	if v.Type == gjson.Number {
		return v.Raw
	}
	return looseString(v)
}

func looseNumber(v gjson.Result) *float64 {
	n, err := strconv.ParseFloat(v.Raw, 64)
	if v.Type != gjson.Number || err != nil {
		return nil
	}
	return &n
}

func looseStrings(v gjson.Result) []string {
	var texts []string
	for _, item := range looseList(v) {
		if item.Type == gjson.String {
			texts = append(texts, looseString(item))
		}
	}
	return texts
}

// looseOptions reads options from a list of objects whose values are strings or lists of strings.
// It returns one Option for each key and string, and ignores values of other types.
func looseOptions(v gjson.Result) []Option {
	var options []Option
	for _, item := range looseList(v) {
		for key, value := range looseMembers(item) {
			if value.Type == gjson.String {
				options = append(options, Option{Key: key, Value: looseString(value)})
			}
			for _, text := range looseStrings(value) {
				options = append(options, Option{Key: key, Value: text})
			}
		}
	}
	return options
}
