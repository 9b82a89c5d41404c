// Package strictyaml decodes YAML in which an unknown key is an error. For such a key it finds
// the known key that was probably meant.
package strictyaml

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Decode decodes YAML to config, a pointer to a struct, and returns an error for an unknown key.
// An empty file changes nothing, while the YAML decoder would clear config.
func Decode(b []byte, config any) error {
	var value any
	if err := yaml.Unmarshal(b, &value); err == nil && value == nil {
		return nil
	}
	err := yaml.NewDecoder(bytes.NewReader(b), yaml.Strict()).Decode(config)
	if typeErr, ok := errors.AsType[*yaml.TypeError](err); ok && typeErr.Token != nil {
		pos := typeErr.Token.Position
		return fmt.Errorf(
			"[%d:%d] %q is no %s",
			pos.Line,
			pos.Column,
			typeErr.Token.Value,
			kindOf(typeErr.DstType),
		)
	}
	if err != nil {
		return shortError{err}
	}
	var bad wrong.List
	checkWhole(&bad, value, reflect.TypeOf(config).Elem(), "")
	return bad.Err()
}

// checkWhole adds an error to bad for each number in value that is not whole where type t, to which
// value is decoded, has an integer: the YAML decoder cuts the fraction. key is the key of value.
func checkWhole(bad *wrong.List, value any, t reflect.Type, key string) {
	entries, _ := value.(map[string]any)
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint64:
		n, err := strconv.ParseFloat(fmt.Sprint(value), 64)
		bad.Unless(err != nil || math.Mod(n, 1) == 0, "%s is %v: want a whole number", strings.TrimPrefix(key, "."), value)
	case reflect.Pointer:
		checkWhole(bad, value, t.Elem(), key)
	case reflect.Slice:
		items, _ := value.([]any)
		for _, item := range items {
			checkWhole(bad, item, t.Elem(), key)
		}
	case reflect.Map:
		for _, name := range slicesx.SortedKeys(entries) {
			checkWhole(bad, entries[name], t.Elem(), key+"."+name)
		}
	case reflect.Struct:
		for f := range t.Fields() {
			name, isInline := keyOf(f)
			if isInline {
				checkWhole(bad, value, f.Type, key)
			} else if inner, ok := entries[name]; ok {
				checkWhole(bad, inner, f.Type, key+"."+name)
			}
		}
	}
}

// maxLine is the maximum length in bytes of a line in the message of an error. Such a message
// quotes the lines of the file around the mistake.
const maxLine = 160

// shortError is an error whose message has lines of at most maxLine bytes.
type shortError struct{ error }

func (e shortError) Unwrap() error { return e.error }

func (e shortError) Error() string {
	lines := strings.Split(e.error.Error(), "\n")
	for i, line := range lines {
		if len(line) > maxLine {
			lines[i] = strings.ToValidUTF8(line[:maxLine], "") + "…"
		}
	}
	return strings.Join(lines, "\n")
}

func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "true or false"
	default:
		return t.Kind().String()
	}
}

// minTypos is the number of letters in which an unknown key may differ from a known one to be
// reported as its misspelling, however short the keys are. Longer keys may differ in more.
const minTypos = 2

// Nearest returns the key of config, a pointer to a struct, that is most similar to the unknown
// key in err, an error of Decode. It returns "" if no key is similar, and for any other error.
// set is the complete key, such as "select.top", or "" if only the last part of the key is
// known, as for a key in a file.
func Nearest(err error, set string, config any) string {
	field, unknown := errors.AsType[*yaml.UnknownFieldError](err)
	if !unknown {
		return ""
	}
	name := field.Token.Value
	nearest := ""
	distance := 1 + max(minTypos, len(cmp.Or(set, name))/2)
	section := set[:strings.LastIndexByte(set, '.')+1]
	for _, key := range keys(reflect.TypeOf(config).Elem(), "") {
		last := key[strings.LastIndexByte(key, '.')+1:]
		d := text.Distance(cmp.Or(set, name), key)
		switch {
		case last == name:
			d = 0
		case set == "":
			d = text.Distance(name, last)
		}
		isSibling := nearest == "" && section != "" && strings.HasPrefix(key, section)
		if d < distance || isSibling {
			nearest = key
			distance = min(d, distance)
		}
	}
	return nearest
}

// keys returns the YAML keys of a struct type. The key of a field in a nested struct, or in the
// structs of a map, starts with the key of the struct or map and a dot.
func keys(t reflect.Type, prefix string) (out []string) {
	for f := range t.Fields() {
		name, isInline := keyOf(f)
		switch {
		case isInline:
			out = append(out, keys(f.Type, prefix)...)
		case name == "-":
		case f.Type.Kind() == reflect.Struct:
			out = append(out, keys(f.Type, prefix+name+".")...)
		case f.Type.Kind() == reflect.Map && f.Type.Elem().Kind() == reflect.Struct:
			out = append(out, keys(f.Type.Elem(), prefix+name+".")...)
		default:
			out = append(out, prefix+name)
		}
	}
	return out
}

// keyOf returns the YAML key of a struct field, and whether the keys of the field, a struct, are
// those of the struct around it.
func keyOf(f reflect.StructField) (key string, isInline bool) {
	tag := f.Tag.Get("yaml")
	if tag == "" {
		tag = f.Tag.Get("json")
	}
	if tag == "" {
		tag = strings.ToLower(f.Name)
	}
	key, option, _ := strings.Cut(tag, ",")
	return key, option == "inline"
}
