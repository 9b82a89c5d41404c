package python

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// onlyCharacters is text with U+FFFD for every byte that is part of no character: a
// str of Python's holds characters only, and keys are equal where they are
// written alike.
func onlyCharacters(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	b := make([]byte, 0, len(text)+utf8.UTFMax)
	for text != "" {
		r, n := DecodeRune(text)
		b, text = AppendRune(b, r), text[n:]
	}
	return string(b)
}

func (d *decoder) str() (string, error) {
	open := d.at
	d.at++
	from := d.at
	var b []byte
	for {
		for d.at < len(d.text) && d.text[d.at] != '"' && d.text[d.at] != '\\' && d.text[d.at] >= 0x20 {
			d.at++
		}
		if d.at >= len(d.text) {
			return "", d.fail("Unterminated string starting at", open)
		}
		switch d.text[d.at] {
		case '"':
			s := d.text[from:d.at]
			d.at++
			if b == nil {
				return s, nil
			}
			return string(append(b, s...)), nil
		case '\\':
			if b == nil { // most end at the next quote
				b = make([]byte, 0, len(d.text[from:d.at])+1+strings.IndexByte(d.text[d.at:], '"')+1)
			}
			b = append(b, d.text[from:d.at]...)
			r, err := d.escape(open)
			if err != nil {
				return "", err
			}
			b = AppendRune(b, r)
			from = d.at
		default:
			return "", d.fail("Invalid control character at", d.at)
		}
	}
}

// escape reads one escape at the backslash, surrogate pairs together.
func (d *decoder) escape(open int) (rune, error) {
	const plain, meaning = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if d.at+1 >= len(d.text) {
		return 0, d.fail("Unterminated string starting at", open)
	}
	if d.text[d.at+1] != 'u' {
		i := strings.IndexByte(plain, d.text[d.at+1])
		if i < 0 {
			return 0, d.fail("Invalid \\escape", d.at)
		}
		d.at += 2
		return rune(meaning[i]), nil
	}
	r, ok := d.hex(d.at + 2)
	if !ok {
		return 0, d.fail("Invalid \\uXXXX escape", d.at+1)
	}
	d.at += 6
	if r < 0xd800 || r > 0xdbff || !strings.HasPrefix(d.text[d.at:], `\u`) {
		return r, nil
	}
	if low, ok := d.hex(d.at + 2); ok && low >= 0xdc00 && low <= 0xdfff {
		d.at += 6
		return (r-0xd800)<<10 + (low - 0xdc00) + 0x10000, nil
	}
	return r, nil
}

// hex reads four hexadecimal digits that something must follow, as the closing
// quote does.
func (d *decoder) hex(at int) (rune, bool) {
	if at+4 >= len(d.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(d.text[at:at+4], 16, 32)
	return rune(n), err == nil
}

// DecodeRune is utf8.DecodeRuneInString that also reads a lone surrogate in
// its three-byte form.
func DecodeRune(s string) (rune, int) {
	if len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1] <= 0xbf && s[2]&0xc0 == 0x80 {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return utf8.DecodeRuneInString(s)
}

// AppendRune is utf8.AppendRune that also writes lone surrogates.
func AppendRune(b []byte, r rune) []byte {
	if r >= 0xd800 && r <= 0xdfff {
		return append(b, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(b, r)
}
