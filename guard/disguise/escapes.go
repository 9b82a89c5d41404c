package disguise

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// escapes are the encodings in which each character of a text is written by itself: those of URLs,
// HTML, JSON and e-mail, and lists of codes. undo returns the text itself if it has none.
var escapes = []struct {
	how  string
	undo func(text string) string
}{
	{"percent-encoding", undoPercent},
	{"HTML", undoHTML},
	{"escapes of JSON", undoBackslashes},
	{"quoted-printable", undoQuotedPrintable},
	{"hexadecimal codes", func(text string) string { return undoCodes(text, hexCodes, 16) }},
	{"decimal codes", func(text string) string { return undoCodes(text, decimalCodes, 10) }},
}

// minEscapes is the minimum number of escapes in a text that hides a request, where each of its
// characters is escaped.
const minEscapes = 3

var percentEscape = regexp.MustCompile(`%[0-9a-fA-F]{2}`)

// undoPercent returns a text with the percent-encoding of URLs undone, and with a space in place of
// each plus sign. It returns the text unchanged if it has nothing to undo. One escape is enough,
// since a request of two words has one blank.
func undoPercent(text string) string {
	undone := replaceBytes(text, percentEscape)
	if undone == text {
		return text
	}
	return strings.ReplaceAll(undone, "+", " ")
}

// replaceBytes replaces each match of escape in a text by the byte whose two hexadecimal digits the
// match ends in. It returns the text unchanged if the result is not valid UTF-8.
func replaceBytes(text string, escape *regexp.Regexp) string {
	undone := escape.ReplaceAllStringFunc(text, func(code string) string {
		n, err := strconv.ParseUint(code[len(code)-2:], 16, 8)
		if err != nil {
			return code
		}
		return string([]byte{byte(n)})
	})
	if !utf8.ValidString(undone) {
		return text
	}
	return undone
}

// wordBreaks matches the HTML tags and comments that may be inside a word without separating its
// letters for a reader, such as <wbr> and <b>.
var wordBreaks = regexp.MustCompile(`(?i)<wbr\s*/?>|<!--.*?-->|</?(?:b|i|u|s|em|strong|span|font|mark)(?:\s[^<>]{0,200})?>`)

// undoHTML returns a text without the tags and comments that may be inside a word (see wordBreaks),
// and with entities such as &amp; decoded.
func undoHTML(text string) string {
	if strings.IndexByte(text, '<') >= 0 {
		text = wordBreaks.ReplaceAllString(text, "")
	}
	if strings.IndexByte(text, '&') >= 0 {
		text = strings.ReplaceAll(html.UnescapeString(text), "\u00ad", "")
	}
	return text
}

// backslashEscape matches a character that is written as its code in JSON, JavaScript or Python,
// such as \u0041.
var backslashEscape = regexp.MustCompile(`\\+(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]{1,6}\}|U[0-9a-fA-F]{8})`)

// undoBackslashes returns a text with each escape such as \u0041 replaced by its character. An
// escape that encodes no character, such as a half of a surrogate pair, becomes a space. A text
// with fewer than minEscapes backslashes is returned unchanged.
func undoBackslashes(text string) string {
	if strings.Count(text, `\`) < minEscapes {
		return text
	}
	return backslashEscape.ReplaceAllStringFunc(text, func(code string) string {
		digits := strings.Trim(strings.TrimLeft(code, `\`)[1:], "{}")
		n, err := strconv.ParseUint(digits, 16, 32)
		if err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			return " "
		}
		return string(rune(n))
	})
}

var quotedEscape = regexp.MustCompile(`=[0-9a-fA-F]{2}`)

// undoQuotedPrintable returns a text with the encoding of e-mails undone: an equals sign and two
// hexadecimal digits for a byte, and lines that end in an equals sign joined. It returns the text
// unchanged if it has fewer than minEscapes such bytes.
func undoQuotedPrintable(text string) string {
	if strings.Count(text, "=") < minEscapes || len(quotedEscape.FindAllString(text, minEscapes)) < minEscapes {
		return text
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "=\r\n", ""), "=\n", "")
	return replaceBytes(text, quotedEscape)
}

// Lists of at least minEncoded codes, separated by spaces, commas or other signs.
var (
	hexCodes     = regexp.MustCompile(`(?:\b(?:0[xX])?[0-9a-fA-F]{2}\b[\s,;:.-]*){12,}`)
	decimalCodes = regexp.MustCompile(`(?:\b[0-9]{2,3}\b[\s,;:.-]*){12,}`)
	codeDigits   = regexp.MustCompile(`\b(?:0[xX])?([0-9a-fA-F]{2,3})\b`)
)

// shortestCodes is the length in bytes of the shortest list of codes.
const shortestCodes = minEncoded*len("00 ") - len(" ")

// undoCodes replaces each list of byte codes in a text, such as "104 101 108", by the text that the
// bytes encode. list matches such a list, and base, 10 or 16, is the base of its numbers. A list
// whose bytes are no text (see isText) is unchanged.
func undoCodes(text string, list *regexp.Regexp, base int) string {
	if !hasRun(text, &codeBytes, shortestCodes) {
		return text
	}
	return list.ReplaceAllStringFunc(text, func(codes string) string {
		var b []byte
		for _, code := range codeDigits.FindAllStringSubmatch(codes, -1) {
			n, err := strconv.ParseUint(code[1], base, 8)
			if err != nil {
				return codes
			}
			b = append(b, byte(n))
		}
		if !isText(b) {
			return codes
		}
		return string(b)
	})
}

// Hidden returns the text that invisible code points of a text stand for: tag characters are ASCII
// characters, and variation selectors are bytes. It is empty if there is none of at least
// minEncoded characters.
func Hidden(text string) string {
	if isPlain(text) {
		return ""
	}
	var tags, selected []byte
	for _, r := range text {
		switch {
		case r >= 0xE0020 && r <= 0xE007E:
			tags = append(tags, byte(r-0xE0000))
		case r >= 0xFE00 && r <= 0xFE0F:
			selected = append(selected, byte(r-0xFE00))
		case r >= 0xE0100 && r <= 0xE01EF:
			selected = append(selected, byte(r-0xE0100+16))
		}
	}
	hidden := ""
	for _, b := range [][]byte{tags, selected} {
		if isText(b) {
			hidden += string(b) + "\n"
		}
	}
	return hidden
}
