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
	next := func(s string, at int) int {
		return strings.IndexByte(s[at:], '\\')
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
	next func(s string, at int) int,
	step func(s string, at int) (rune, int),
) *view {
	skip := next(source, 0)
	if skip < 0 {
		return &view{text: source}
	}
	// nearly all places begin with the same byte: room for two marks each
	v := &view{marks: make([]mark, 0, min(2*strings.Count(source, source[skip:skip+1]), len(source)/8))}
	var b strings.Builder
	b.Grow(len(source))
	at := 0
	for ; skip >= 0; skip = next(source, at) {
		b.WriteString(source[at : at+skip])
		r, end := step(source, at+skip)
		if r >= 0 {
			// one escape may become several bytes: none of them but the first
			// begins anything
			v.marks = append(v.marks, mark{b.Len(), at + skip})
			b.WriteRune(r)
		}
		v.marks = append(v.marks, mark{b.Len(), end})
		at = end
	}
	b.WriteString(source[at:])
	v.text = b.String()
	return v
}

// disguiseEnd returns the end of the disguise at an index, or the index itself if there is
// none.
func disguiseEnd(s string, at int) int {
	_, end := undisguise(s, at)
	return end
}

// disguise returns the distance from an index to the next disguise.
func disguise(s string, at int) int {
	for i := at; i < len(s); i++ {
		if s[i] != '%' && s[i] != '&' && s[i] < utf8.RuneSelf {
			continue
		}
		if disguiseEnd(s, i) > i {
			return i - at
		}
	}
	return -1
}

// undisguise reads the disguise at a place. Where there is none it gives the
// place itself.
func undisguise(s string, at int) (rune, int) {
	switch {
	case s[at] == '%':
		return percent(s, at)
	case s[at] == '&':
		return entity(s, at)
	case s[at] < utf8.RuneSelf:
		return -1, at
	}
	if r, n := utf8.DecodeRuneInString(s[at:]); text.Ignorable(r) {
		return -1, at + n
	}
	return -1, at
}

// percent reads a printable ASCII character as addresses write it.
func percent(s string, at int) (rune, int) {
	r, ok := hex(s, at+1, 2)
	if !ok || r < ' ' || r >= 0x7F {
		return -1, at
	}
	return r, at + 3
}

// entity reads a character as markup writes it, or markup within markup.
func entity(s string, at int) (rune, int) {
	const longestEntity = 32
	end := strings.IndexByte(s[at:min(len(s), at+longestEntity)], ';')
	if end < 0 {
		return -1, at
	}
	end += at + 1
	r, n := utf8.DecodeRuneInString(html.UnescapeString(s[at:end]))
	if n == end-at || r == '&' && s[at:end] != "&amp;" {
		return -1, at
	}
	if r == '&' {
		if inner, n := entity("&"+s[end:min(len(s), end+longestEntity)], 0); n > 0 {
			return inner, end + n - 1
		}
	}
	return r, end
}

// unescape reads the backslashes at a place with what they escape. It gives
// where it ends, and -1 for backslashes that escape nothing: they are left out.
func unescape(s string, at int) (rune, int) {
	end := at
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
		return unicodeEscape(s, at, end)
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

func hex(s string, at, n int) (rune, bool) {
	if at+n > len(s) {
		return 0, false
	}
	r, err := strconv.ParseUint(s[at:at+n], 16, 32)
	return rune(r), err == nil
}

func (v *view) from(at int) int {
	i := sort.Search(len(v.marks), func(i int) bool {
		return v.marks[i].at > at
	})
	if i == 0 {
		return at
	}
	m := v.marks[i-1]
	return m.from + at - m.at
}
