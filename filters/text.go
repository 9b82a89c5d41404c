package filters

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// members calls each for every member of a JSON object with the member's raw
// value, until it returns false. Unlike a general parser it decodes no value that
// nobody asked for. Text that is no JSON gives some members or none.
func members(object string, each func(key, raw string) bool) {
	at := skipBlank(object, 0) + 1
	for {
		at = skipTo(object, at, '"')
		end := skipValue(object, at)
		if end < at+2 {
			return
		}
		key := object[at+1 : end-1]
		at = skipBlank(object, skipTo(object, end, ':')+1)
		end = skipValue(object, at)
		if at >= end || !each(key, object[at:end]) {
			return
		}
		at = end
	}
}

func skipBlank(s string, at int) int {
	for at < len(s) && (s[at] == ' ' || s[at] == '\n' || s[at] == '\t' || s[at] == '\r') {
		at++
	}
	return at
}

// skipTo is where c stands next, at the earliest at the given place.
func skipTo(s string, at int, c byte) int {
	if at >= len(s) {
		return len(s)
	}
	if i := strings.IndexByte(s[at:], c); i >= 0 {
		return at + i
	}
	return len(s)
}

// skipValue is where the JSON value that starts at the given place ends.
func skipValue(s string, at int) int {
	depth := 0
	for at < len(s) {
		switch s[at] {
		case '"':
			at = skipString(s, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		case ',', ' ', '\n', '\t', '\r', ':':
			if depth == 0 {
				return at
			}
			at++
			continue
		default:
			at++
			if depth == 0 && (at == len(s) || strings.IndexByte(",}] \n\t\r:", s[at]) >= 0) {
				return at
			}
			continue
		}
		if depth <= 0 {
			return at
		}
	}
	return at
}

func skipString(s string, at int) int {
	for at++; at < len(s); at++ {
		switch s[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(s)
}

// text decodes a JSON string into the attempt's memory; what is no string is
// the empty text.
func (p *pad) text(raw string) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	raw = raw[1 : len(raw)-1]
	if strings.IndexByte(raw, '\\') < 0 {
		return raw
	}
	if p.decoded.Cap() == 0 {
		p.decoded.Grow(max(p.bodies, len(raw)))
	}
	from := p.decoded.Len()
	for raw != "" {
		i := strings.IndexByte(raw, '\\')
		if i < 0 || i+1 >= len(raw) {
			p.decoded.WriteString(raw)
			break
		}
		p.decoded.WriteString(raw[:i])
		raw = p.escape(raw[i+1:])
	}
	return p.decoded.String()[from:]
}

// escape decodes what follows a backslash and returns the rest.
func (p *pad) escape(s string) (rest string) {
	switch c := s[0]; c {
	case 'n':
		p.decoded.WriteByte('\n')
	case 't':
		p.decoded.WriteByte('\t')
	case 'r':
		p.decoded.WriteByte('\r')
	case 'b':
		p.decoded.WriteByte('\b')
	case 'f':
		p.decoded.WriteByte('\f')
	case 'u':
		r, n := unit(s)
		if utf16.IsSurrogate(r) && len(s) > n+1 && s[n] == '\\' && s[n+1] == 'u' {
			low, m := unit(s[n+1:])
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				r, n = pair, n+1+m
			}
		}
		p.decoded.WriteRune(r)
		return s[n:]
	default:
		p.decoded.WriteByte(c)
	}
	return s[1:]
}

// unit reads uXXXX, one unit of UTF-16, and says how long it is.
func unit(s string) (r rune, n int) {
	if len(s) < 5 {
		return utf8.RuneError, len(s)
	}
	v, err := strconv.ParseUint(s[1:5], 16, 32)
	if err != nil {
		return utf8.RuneError, 5
	}
	return rune(v), 5
}
