package redact

import (
	"html"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/text"
)

// view is a text with something of it decoded. No finding in it begins or ends
// within what was decoded.
type view struct {
	text string
	// marks are the places in text where it stops to run along with the source,
	// in order.
	marks []mark
}

// mark says that from a byte of the view on, the source goes on at from.
type mark struct{ at, from int }

// unescaped returns a text without its JSON escapes of any depth, so that expressions see
// the same in a text, in a JSON string that holds it and in a JSON string in that.
func unescaped(source string) *view {
	next := func(s string, index int) int {
		return strings.IndexByte(s[index:], '\\')
	}
	return decoded(source, next, unescape)
}

// undisguised returns a text without what hides a secret from expressions only: invisible
// characters, percent-encoding of addresses, and entities of markup.
func undisguised(source string) *view { return decoded(source, disguise, undisguise) }

// decoded returns a text in which step decodes what begins at each index that next returns:
// into a character, or into nothing (-1). next counts from an index, and returns -1 if there
// is no further one.
func decoded(
	source string,
	next func(s string, index int) int,
	step func(s string, index int) (rune, int),
) *view {
	skip := next(source, 0)
	if skip < 0 {
		return &view{text: source}
	}
	// nearly all places begin with the same byte: room for two marks each
	v := &view{marks: make([]mark, 0, min(2*strings.Count(source, source[skip:skip+1]), len(source)/8))}
	var b strings.Builder
	b.Grow(len(source))
	index := 0
	for ; skip >= 0; skip = next(source, index) {
		b.WriteString(source[index : index+skip])
		r, end := step(source, index+skip)
		if r >= 0 {
			// one escape may become several bytes: none of them but the first
			// begins anything
			v.marks = append(v.marks, mark{b.Len(), index + skip})
			b.WriteRune(r)
		}
		v.marks = append(v.marks, mark{b.Len(), end})
		index = end
	}
	b.WriteString(source[index:])
	v.text = b.String()
	return v
}

// disguiseEnd returns the end of the disguise at an index, or the index itself if there is
// none.
func disguiseEnd(s string, index int) int {
	_, end := undisguise(s, index)
	return end
}

// disguise returns the distance from an index to the next disguise.
func disguise(s string, index int) int {
	for i := index; i < len(s); i++ {
		if s[i] != '%' && s[i] != '&' && s[i] < utf8.RuneSelf {
			continue
		}
		if disguiseEnd(s, i) > i {
			return i - index
		}
	}
	return -1
}

// undisguise reads an escaped character at index. It returns the character and the
// index after it. The character is -1 if there is none; then the index is after an
// invisible character, or index itself.
func undisguise(s string, index int) (rune, int) {
	switch {
	case s[index] == '%':
		return percent(s, index)
	case s[index] == '&':
		return entity(s, index)
	case s[index] < utf8.RuneSelf:
		return -1, index
	}
	if r, n := utf8.DecodeRuneInString(s[index:]); text.Ignorable(r) {
		return -1, index + n
	}
	return -1, index
}

// percent reads a printable ASCII character as addresses write it.
func percent(s string, index int) (rune, int) {
	r, ok := hex(s, index+1, 2)
	if !ok || r < ' ' || r >= 0x7F {
		return -1, index
	}
	return r, index + 3
}

// entity reads a character as markup writes it, or markup within markup.
func entity(s string, index int) (rune, int) {
	const longestEntity = 32
	end := strings.IndexByte(s[index:min(len(s), index+longestEntity)], ';')
	if end < 0 {
		return -1, index
	}
	end += index + 1
	r, n := utf8.DecodeRuneInString(html.UnescapeString(s[index:end]))
	if n == end-index || r == '&' && s[index:end] != "&amp;" {
		return -1, index
	}
	if r == '&' {
		if inner, n := entity("&"+s[end:min(len(s), end+longestEntity)], 0); n > 0 {
			return inner, end + n - 1
		}
	}
	return r, end
}

// unescape reads the backslashes at index and what they escape. It returns the
// character that they stand for and the index after it. The character is -1 if
// they escape nothing.
func unescape(s string, index int) (rune, int) {
	end := index
	for end < len(s) && s[end] == '\\' {
		end++
	}
	if end == len(s) {
		return -1, end
	}
	if r := meant[s[end]]; r != 0 {
		return r, end + 1
	}
	if s[end] == 'u' {
		return unicodeEscape(s, index, end)
	}
	return -1, end
}

// meant is what the byte after a backslash stands for; 0 for all others.
var meant = [256]rune{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f', '"': '"', '/': '/'}

// unicodeEscape reads the escape whose u is at the given place, and with it the
// second half of a surrogate pair, escaped as deep as the first.
func unicodeEscape(s string, start, u int) (rune, int) {
	r, ok := hex(s, u+1, 4)
	if !ok {
		return -1, u
	}
	end := u + 5
	slashes := s[start : u+1]
	if !utf16.IsSurrogate(r) {
		return r, end
	}
	if low, paired := hex(s, end+len(slashes), 4); paired && strings.HasPrefix(s[end:], slashes) {
		if joined := utf16.DecodeRune(r, low); joined != utf8.RuneError {
			return joined, end + len(slashes) + 4
		}
	}
	return utf8.RuneError, end
}

func hex(s string, index, n int) (rune, bool) {
	if index+n > len(s) {
		return 0, false
	}
	r, err := strconv.ParseUint(s[index:index+n], 16, 32)
	return rune(r), err == nil
}

func (v *view) from(index int) int {
	i := sort.Search(len(v.marks), func(i int) bool {
		return v.marks[i].at > index
	})
	if i == 0 {
		return index
	}
	m := v.marks[i-1]
	return m.from + index - m.at
}
