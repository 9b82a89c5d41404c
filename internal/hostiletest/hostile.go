// Package hostiletest makes files that nobody should be sent out of one that is whole, for
// tests of what reads them.
package hostiletest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// File is a broken or malicious file, and what is wrong with it.
type File struct{ What, Text string }

// values stand where others belong.
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

// Files are what is made of a text of JSON; lists, texts and depths have n entries.
func Files(whole string, n int) (all []File) {
	add := func(changed, what string, args ...any) {
		if changed != whole {
			all = append(all, File{fmt.Sprintf(what, args...), changed})
		}
	}
	for i := range 20 {
		at := len(whole) * i / 20
		add(whole[:at], "cut at %d", at)
		add(whole[:at]+string(whole[at]^0x10)+whole[at+1:], "flipped at %d", at)
	}
	for _, value := range values {
		add(number.ReplaceAllLiteralString(whole, ":"+value), "%s for numbers", value)
		add(text.ReplaceAllLiteralString(whole, ":"+value), "%s for texts", value)
	}
	for i, name := range slices.Compact(slices.Sorted(slices.Values(key.FindAllString(whole, -1)))) {
		for j := range 4 { // of the values a few, others at each key
			value := values[(4*i+j)%len(values)]
			add(strings.ReplaceAll(whole, name, name+value+`,"was":`), "%s under %s", value, name)
		}
		add(strings.ReplaceAll(whole, name, name+"7,"+name), "two values under %s", name)
		add(strings.Replace(whole, name, name+large(i, n)+`,"was":`, 1), "%d entries under %s", n, name)
	}
	for _, found := range parent.FindAllStringSubmatch(whole, -1) {
		add(parent.ReplaceAllString(whole, "${1}"+found[2]), "parent of all: %s", found[2])
	}
	add(strings.ReplaceAll(whole, `"`, "'"), "other quotes")
	add(strings.ReplaceAll(whole, "", "\x00"), "two bytes a letter")
	add(whole+whole, "twice on a line")
	return all
}

// large is a value of n entries, of one kind after another.
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
