package arena

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Sources write fields in other types than documented, or leave them null.
// The readers below take what has the expected shape and read anything else
// as absent: the typed view of a problem is for people and
// prompts, while scores are computed from Raw.

// unmarshalObject reads an object into a struct of raw fields.
func unmarshalObject(text []byte, into any) error {
	if Raw(bytes.TrimSpace(text)).Kind() != Object && json.Valid(text) {
		return errors.New("not a JSON object")
	}
	return json.Unmarshal(text, into)
}

// member is one key of a JSON object, in the source's order.
type member struct {
	key   string
	value json.RawMessage
}

// looseObject lists the members of an object in their own order.
func looseObject(text json.RawMessage) []member {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var all []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return all
		}
		var m member
		m.key, _ = key.(string)
		if d.Decode(&m.value) != nil {
			return all
		}
		all = append(all, m)
	}
	return all
}

func looseList(text json.RawMessage) []json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

func looseString(text json.RawMessage) string {
	var s string
	if json.Unmarshal(text, &s) != nil {
		return ""
	}
	return s
}

// looseID reads an id that may be written as a number, whose digits stay as
// they are: ids never pass through a float.
func looseID(text json.RawMessage) string {
	if Raw(text).Kind() == Number {
		return string(text)
	}
	return looseString(text)
}

func looseNumber(text json.RawMessage) *float64 {
	var n float64
	if Raw(text).Kind() != Number || json.Unmarshal(text, &n) != nil {
		return nil
	}
	return &n
}

func looseStrings(text json.RawMessage) []string {
	var all []string
	for _, item := range looseList(text) {
		if Raw(item).Kind() == String {
			all = append(all, looseString(item))
		}
	}
	return all
}

// looseOptions flattens an object of values, or of lists of values.
func looseOptions(text json.RawMessage) []Option {
	var all []Option
	for _, m := range looseObject(text) {
		if Raw(m.value).Kind() == String {
			all = append(all, Option{Key: m.key, Value: looseString(m.value)})
			continue
		}
		for _, value := range looseStrings(m.value) {
			all = append(all, Option{Key: m.key, Value: value})
		}
	}
	return all
}

// looseOptionList flattens a list of such objects.
func looseOptionList(text json.RawMessage) []Option {
	var all []Option
	for _, item := range looseList(text) {
		all = append(all, looseOptions(item)...)
	}
	return all
}
