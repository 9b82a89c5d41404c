package calls

import (
	"strings"
	"unicode/utf8"
)

// Naming finds the name that a value hangs on in the text before and after it.
type Naming func(before, after string) string

// valueSigns may stand around a value within what sets it off.
const valueSigns = " \"'`#"

// CommandName is the name that a value hangs on: before it in brackets or a tag,
// before the key of an argument, beside it in an object, or at the start of a line
// that ends with it.
func CommandName(before, after string) string {
	left, right := strings.TrimRight(before, valueSigns), strings.TrimLeft(after, valueSigns)
	closed := len(right) < len(after) && strings.ContainsAny(after[:1], "\"'")
	for hasEnd(left, "[(") && (closed || hasStart(right, "])")) { // a list may stand in brackets, too
		left, right = left[:len(left)-1], strings.TrimLeft(right, "])")
		if name := nameAtEnd(left); name != "" {
			return name
		}
		left, closed = strings.TrimRight(left, valueSigns), true
		right = strings.TrimLeft(right, valueSigns)
	}
	switch {
	case hasEnd(left, ":") && hasEnd(left[:len(left)-1], "\"'"):
		if hasStart(right, ",}]") {
			return memberName(left[max(0, len(left)-maxMembers):])
		}
	case hasEnd(left, "="):
		if closed {
			return callee(left)
		}
	case hasEnd(strings.TrimSpace(left), ">"):
		left = strings.TrimSpace(left)
		if name := nameAtEnd(left[:len(left)-1]); hasEnd(left[:len(left)-1-len(name)], "<") && strings.HasPrefix(strings.TrimSpace(right), "</") {
			return name
		}
	case right == "", hasStart(right, "\n|"):
		return lineName(strings.TrimRight(left, ":"+valueSigns))
	}
	return ""
}

// callee is the function or tag that text opened last and did not close.
func callee(text string) string {
	open := strings.LastIndexAny(text, "(<)>")
	switch {
	case open < 0:
	case text[open] == '(':
		return nameAtEnd(text[:open])
	case text[open] == '<':
		tag, _, _ := strings.Cut(text[open+1:], " ")
		return nameAtEnd(tag)
	}
	return ""
}

// lineName is the name that a line consists of, or that alone follows a label,
// as in "Action: search".
func lineName(before string) string {
	name := nameAtEnd(before)
	line := before[strings.LastIndexByte(before, '\n')+1 : len(before)-len(name)]
	line = strings.Trim(line, "/*->"+valueSigns)
	if label := strings.TrimSuffix(line, ":"); label != line && label == nameAtEnd(label) {
		line = ""
	}
	if line != "" {
		return ""
	}
	return name
}

// nameAtEnd is the name that text ends with, in letters of any language.
func nameAtEnd(text string) string {
	at := len(text)
	for at > 0 && (nameByte(text[at-1]) || text[at-1] == '-' || text[at-1] >= utf8.RuneSelf) {
		at--
	}
	return text[at:]
}

func hasEnd(s, signs string) bool { return s != "" && strings.IndexByte(signs, s[len(s)-1]) >= 0 }

func hasStart(s, signs string) bool { return s != "" && strings.IndexByte(signs, s[0]) >= 0 }
