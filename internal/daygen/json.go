package daygen

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// The sandbox writes JSON as Python does: a blank after each comma and colon,
// and every character outside ASCII as an escape.

// fields appends an object of alternating names and rendered values.
func fields(dst []byte, pairs ...string) []byte {
	dst = append(dst, '{')
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = quote(dst, pairs[i])
		dst = append(dst, ": "...)
		dst = append(dst, pairs[i+1]...)
	}
	return append(dst, '}')
}

func object(pairs ...string) string { return string(fields(nil, pairs...)) }

// list renders the items, which are rendered already.
func list(items ...string) string {
	dst := []byte{'['}
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, item...)
	}
	return string(append(dst, ']'))
}

func texts(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = str(item)
	}
	return list(quoted...)
}

func str(s string) string { return string(quote(make([]byte, 0, len(s)+2), s)) }

func num(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func whole(n int) string { return strconv.Itoa(n) }

func quote(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b >= ' ' && b < utf8.RuneSelf && b != '"' && b != '\\' {
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		r, n := utf8.DecodeRuneInString(s[i:])
		dst = escape(dst, r)
		i += n
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

func escape(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\n':
		return append(dst, '\\', 'n')
	}
	if a, b := utf16.EncodeRune(r); a != utf8.RuneError {
		return unit(unit(dst, a), b)
	}
	return unit(dst, r)
}

func unit(dst []byte, r rune) []byte {
	dst = append(dst, '\\', 'u')
	for shift := 12; shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[r>>shift&15])
	}
	return dst
}
