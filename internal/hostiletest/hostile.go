// Package hostiletest makes broken and malicious variants of a valid file, for tests of readers.
package hostiletest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// File is a broken or malicious file. What describes what is wrong with it.
type File struct{ What, Text string }

// values are JSON values that replace the values in a file. Most of them have a wrong type or
// are out of range.
var values = []string{
	"null", "true", "7", "-1", "-9223372036854775808", "99999999999999999999", "0.5", "1e308", "1e999", "NaN", "-Infinity", `""`, `"x"`,
	`"\ud800"`, "\"\xff\"", `"\u0000"`, "[]", "{}", "[[[[1]]]]", `{"a":[{"a":[{}]}]}`, `[null,{"type":"tool_result"},7]`, "",
}

var (
	number = regexp.MustCompile(`:\s*-?[0-9][0-9.eE+-]*`)
	text   = regexp.MustCompile(`:\s*"(?:[^"\\]|\\.)*"`)
	key    = regexp.MustCompile(`"[A-Za-z_][A-Za-z0-9_.]*"\s*:`)
	parent = regexp.MustCompile(`("parent[A-Za-z_]*"\s*:\s*)("[^"]*"|[0-9]+|null)`)
)

// Files returns broken and malicious variants of a JSON text. Their lists, strings and nestings
// have n entries.
func Files(body string, n int) (files []File) {
	add := func(changed, what string, args ...any) {
		if changed != body {
			files = append(files, File{fmt.Sprintf(what, args...), changed})
		}
	}
	for i := range 20 {
		offset := len(body) * i / 20
		add(body[:offset], "cut at %d", offset)
		add(
			body[:offset]+string(body[offset]^0x10)+body[offset+1:],
			"flipped at %d",
			offset,
		)
	}
	for _, value := range values {
		add(number.ReplaceAllLiteralString(body, ":"+value), "%s for numbers", value)
		add(text.ReplaceAllLiteralString(body, ":"+value), "%s for texts", value)
	}
	for i, name := range slices.Compact(slices.Sorted(slices.Values(key.FindAllString(body, -1)))) {
		for j := range 4 { // of the values a few, others at each key
			value := values[(4*i+j)%len(values)]
			add(strings.ReplaceAll(body, name, name+value+`,"was":`), "%s under %s", value, name)
		}
		add(strings.ReplaceAll(body, name, name+"7,"+name), "two values under %s", name)
		add(
			strings.Replace(body, name, name+large(i, n)+`,"was":`, 1),
			"%d entries under %s",
			n,
			name,
		)
	}
	for _, path := range parent.FindAllStringSubmatch(body, -1) {
		add(parent.ReplaceAllString(body, "${1}"+path[2]), "parent of all: %s", path[2])
	}
	add(strings.ReplaceAll(body, `"`, "'"), "other quotes")
	add(strings.ReplaceAll(body, "", "\x00"), "two bytes a letter")
	add(body+body, "twice on a line")
	return files
}

// large returns a JSON value with n entries or n nested levels. kind modulo 6 selects its form: one
// of three lists, a string, nested objects or a flat object.
func large(kind, n int) string {
	switch kind % 6 {
	case 0:
		return "[" + strings.Repeat("0,", n) + "0]"
	case 1:
		return "[" + strings.Repeat("{},", n) + "{}]"
	case 2:
		return "[" + strings.Repeat(`{"role":"user","type":"text","content":""},`, n) + "0]"
	case 3:
		return `"` + strings.Repeat("x", 8*n) + `"`
	case 4:
		return strings.Repeat(`{"a":[`, n) + strings.Repeat("]}", n)
	default:
		return "{" + strings.Repeat(`"":0,`, n) + `"":0}`
	}
}
