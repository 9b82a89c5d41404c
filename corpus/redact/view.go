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

// view is a text in which codes of a source text are decoded, such as JSON escapes, together with a
// mapping from its byte offsets to those of the source. The mapping holds for offsets at which a
// character begins or the text ends.
type view struct {
	text string
	// marks, in order, are the offsets in text at which the distance to the source's offset
	// changes.
	marks []mark
}

// mark states that the byte at offset at of a decoded text is the byte at offset from of its
// source. The following bytes correspond one to one until the next mark.
type mark struct{ at, from int }

// unescaped returns a text with its JSON escapes decoded, even escapes of escapes. A rule's
// expression thus matches a secret in plain text, in a JSON string, and in JSON within a JSON
// string.
func unescaped(source string) *view {
	next := func(s string, index int) int {
		return strings.IndexByte(s[index:], '\\')
	}
	return decoded(source, next, unescape)
}

// undisguised returns a text without encodings that hide a secret from the rules but not from its
// reader. Invisible characters are removed, and the percent-encoding of URLs and the entities of
// HTML are decoded.
func undisguised(source string) *view { return decoded(source, disguise, undisguise) }

// decoded returns source with codes (such as escapes) decoded, as a view that maps offsets back.
// next returns the distance from an index to the next code, -1 if there is none. step decodes the
// code at an index: it returns the character, or -1 if the code is to be removed, and the index
// after it.
func decoded(
	source string,
	next func(s string, index int) int,
	step func(s string, index int) (rune, int),
) *view {
	skip := next(source, 0)
	if skip < 0 {
		return &view{text: source}
	}
	// nearly all encoded parts begin with the same byte: capacity for two marks each
	v := &view{marks: make([]mark, 0, min(2*strings.Count(source, source[skip:skip+1]), len(source)/8))}
	var b strings.Builder
	b.Grow(len(source))
	index := 0
	for ; skip >= 0; skip = next(source, index) {
		b.WriteString(source[index : index+skip])
		r, end := step(source, index+skip)
		if r >= 0 {
			// An escape may become several bytes. No finding begins at any of them but
			// the first.
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

// disguiseEnd returns the index after the code at index that may hide a letter of a secret: an
// invisible character, a percent-encoded character or an HTML entity. It returns index itself if
// there is none.
func disguiseEnd(s string, index int) int {
	_, end := undisguise(s, index)
	return end
}

// disguise returns the distance in bytes from index to the next code that may hide a letter of a
// secret: an invisible character, a percent-encoded character or an HTML entity. It returns -1 if
// there is none.
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

// undisguise decodes the percent-encoded character or HTML entity at an index: "%41" → 'A'. It
// returns the character and the index after the code. At an invisible character, which is to be
// removed, it returns -1 and the index after it. At any other byte it returns -1 and the index
// itself.
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

// percent decodes a percent-encoded printable ASCII character, such as %41 for A. It returns the
// character and the index after it, or -1 and the index itself if there is none.
func percent(s string, index int) (rune, int) {
	r, ok := hex(s, index+1, 2)
	if !ok || r < ' ' || r >= 0x7F {
		return -1, index
	}
	return r, index + 3
}

// entity decodes an HTML entity such as &#64; or one that is encoded twice, such as &amp;#64;. It
// returns the character and the index after it, or -1 and the index itself if there is none.
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

// meant maps the second byte of a JSON escape to the escaped character, such as n to a line feed.
// It is 0 for bytes that form no escape; \u and the backslash itself are handled elsewhere.
var meant = [256]rune{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f', '"': '"', '/': '/'}

// unicodeEscape decodes a \u escape, of which start is the index of the first backslash and u
// that of the letter. A surrogate pair with the same number of backslashes is decoded as one
// character. It returns the character and the index after it, or -1 and u if four hexadecimal
// digits do not follow. An unpaired surrogate is U+FFFD.
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

// hex parses the n hexadecimal digits at an index. It returns false if there are fewer.
func hex(s string, index, n int) (rune, bool) {
	if index+n > len(s) {
		return 0, false
	}
	r, err := strconv.ParseUint(s[index:index+n], 16, 32)
	return rune(r), err == nil
}

// from converts a byte offset in the decoded text of v to the offset in the source text.
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
