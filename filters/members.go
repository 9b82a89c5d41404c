package filters

import (
	"slices"
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
			if word, key, text = memberAtEnd(text); depth > 0 || word == "" || slices.Contains(spelledKeys["find_product"], key) {
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
