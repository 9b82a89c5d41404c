package python

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// onlyCharacters replaces each byte of text that is not part of a UTF-8 character by U+FFFD, since
// a Python string contains only characters. Half of a surrogate pair counts as a character.
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
	open := d.pos
	d.pos++
	start := d.pos
	var b []byte
	for {
		for d.pos < len(d.text) && d.text[d.pos] != '"' && d.text[d.pos] != '\\' && d.text[d.pos] >= 0x20 {
			d.pos++
		}
		if d.pos >= len(d.text) {
			return "", d.fail("Unterminated string starting at", open)
		}
		switch d.text[d.pos] {
		case '"':
			s := d.text[start:d.pos]
			d.pos++
			if b == nil {
				return s, nil
			}
			return string(append(b, s...)), nil
		case '\\':
			if b == nil { // most end at the next quote
				b = make([]byte, 0, len(d.text[start:d.pos])+1+strings.IndexByte(d.text[d.pos:], '"')+1)
			}
			b = append(b, d.text[start:d.pos]...)
			r, err := d.escape(open)
			if err != nil {
				return "", err
			}
			b = AppendRune(b, r)
			start = d.pos
		default:
			return "", d.fail("Invalid control character at", d.pos)
		}
	}
}

// escape reads the escape sequence at the decoder's position and returns its character. Two
// sequences that form a surrogate pair are read together. open is the start of the string, for
// error messages.
func (d *decoder) escape(open int) (rune, error) {
	const plain, meaning = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if d.pos+1 >= len(d.text) {
		return 0, d.fail("Unterminated string starting at", open)
	}
	if d.text[d.pos+1] != 'u' {
		i := strings.IndexByte(plain, d.text[d.pos+1])
		if i < 0 {
			return 0, d.fail("Invalid \\escape", d.pos)
		}
		d.pos += 2
		return rune(meaning[i]), nil
	}
	r, ok := d.hex(d.pos + 2)
	if !ok {
		return 0, d.fail("Invalid \\uXXXX escape", d.pos+1)
	}
	d.pos += 6
	if r < 0xd800 || r > 0xdbff || !strings.HasPrefix(d.text[d.pos:], `\u`) {
		return r, nil
	}
	if low, ok := d.hex(d.pos + 2); ok && low >= 0xdc00 && low <= 0xdfff {
		d.pos += 6
		return (r-0xd800)<<10 + (low - 0xdc00) + 0x10000, nil
	}
	return r, nil
}

// hex returns the value of the four hexadecimal digits at pos. It returns false if they are
// invalid, or if the text ends after them, since a string needs a closing quote.
func (d *decoder) hex(pos int) (rune, bool) {
	if pos+4 >= len(d.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(d.text[pos:pos+4], 16, 32)
	return rune(n), err == nil
}

// DecodeRune decodes a character like utf8.DecodeRuneInString, and also a lone surrogate in its
// three-byte form.
func DecodeRune(s string) (rune, int) {
	if len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1] <= 0xbf && s[2]&0xc0 == 0x80 {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return utf8.DecodeRuneInString(s)
}

// AppendRune appends r like utf8.AppendRune, but also lone surrogates.
func AppendRune(b []byte, r rune) []byte {
	if r >= 0xd800 && r <= 0xdfff {
		return append(
			b,
			0xe0|byte(r>>12),
			0x80|byte(r>>6)&0xbf,
			0x80|byte(r)&0x3f,
		)
	}
	return utf8.AppendRune(b, r)
}
