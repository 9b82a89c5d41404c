package calls

import (
	"cmp"
	"strings"
)

// maxMembers is how far before a value the name of its call may stand in an
// object; arguments have some hundred bytes.
const maxMembers = 1 << 9

// memberName is the name in an object that belongs to the value which text ends
// before: a member of one word beside the object of arguments that holds the
// value, else beside the value itself. What stands under a key of the shop is an
// argument.
func memberName(text string) (beside string) {
	outer := false
	for depth := 0; text != ""; {
		last := text[len(text)-1]
		switch last {
		case '}', ']':
			depth++
		case '{', '[':
			outer = outer || depth == 0
			depth = max(depth-1, 0)
		case '"', '\'':
			var word, key string
			if word, key, text = memberAtEnd(text); depth > 0 || word == "" || IsSearchKey(key) {
				continue
			}
			if outer {
				return word
			}
			if beside == "" {
				beside = word
			}
			continue
		}
		text = text[:len(text)-1]
	}
	return beside
}

// KeyName is the key in an object that a value hangs on, where the author's client
// takes it for the name of a call, as in {"search": "lamp"}; that of the object of
// arguments, where the value is one of them.
func KeyName(before, after string) string {
	left, right := strings.TrimRight(before, valueSigns+"["), strings.TrimLeft(after, valueSigns+"]")
	if !hasEnd(left, ":") || !hasStart(right, ",}") {
		return ""
	}
	own, before := keyAtEnd(left)
	for depth := 0; before != "" && len(left)-len(before) < maxMembers; before = before[:len(before)-1] {
		switch before[len(before)-1] {
		case '}':
			depth++
		case '{':
			if depth == 0 {
				outer, _ := keyAtEnd(strings.TrimRight(before[:len(before)-1], " \n\t["))
				return cmp.Or(outer, own)
			}
			depth--
		}
	}
	return own
}

// keyAtEnd is the key that text ends with, in quotes and before a colon, and what
// stands before it.
func keyAtEnd(text string) (key, before string) {
	if !hasEnd(text, ":") {
		return "", text
	}
	key, before = quotedAtEnd(strings.TrimRight(text[:len(text)-1], " \n\t"))
	if nameAtEnd(key) != key {
		return "", before
	}
	return key, before
}

// memberAtEnd cuts off the quoted text that text ends with. Where it is one word
// and a member's value, key is the member's.
func memberAtEnd(text string) (word, key, before string) {
	quoted, before := quotedAtEnd(text)
	colon := strings.TrimRight(before, " \n\t")
	if !hasEnd(colon, ":") || quoted == "" || nameAtEnd(quoted) != quoted {
		return "", "", before
	}
	key, _ = quotedAtEnd(strings.TrimRight(colon[:len(colon)-1], " \n\t"))
	if key == "" {
		return "", "", before
	}
	return quoted, key, before
}

// quotedAtEnd is what stands between the quote that text ends with and the one
// before it.
func quotedAtEnd(text string) (quoted, before string) {
	if !hasEnd(text, "\"'") {
		return "", text
	}
	end := len(text) - 1
	open := strings.LastIndexByte(text[:end], text[end])
	if open < 0 {
		return "", ""
	}
	return text[open+1 : end], text[:open]
}
