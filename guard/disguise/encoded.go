package disguise

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/text"
)

// minEncoded is the minimum length in bytes of a decoded text. Twelve letters are about two words;
// shorter texts are not decoded.
const minEncoded = 12

// encodedLen is the number of base64 characters that encode minEncoded bytes.
const encodedLen = 16

// encodedRun matches at least encodedLen characters of base64, in the standard or the URL alphabet,
// also over several lines. It matches hexadecimal digits too.
var encodedRun = regexp.MustCompile(`[A-Za-z0-9+/_-]{16,}(?:\s*\n\s*[A-Za-z0-9+/_-]{4,})*={0,2}`)

// mayHaveEncoded reports whether s has encodedLen consecutive characters of base64, without which
// encodedRun cannot match. It is faster than the expression.
func mayHaveEncoded(s string) bool {
	for range text.Runs(s, &encodedBytes, encodedLen) {
		return true
	}
	return false
}

// encodedBytes is the set of the bytes that base64 and hexadecimal digits consist of.
var encodedBytes = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-") {
		set[c] = true
	}
	return set
}()

// decode replaces each run of base64 or hexadecimal digits in s by the text that it encodes. how is
// the name of the encoding that was undone. If s has no such run, decode returns s itself and an
// empty how.
func decode(s string) (decoded, how string) {
	if !mayHaveEncoded(s) {
		return s, ""
	}
	decoded = encodedRun.ReplaceAllStringFunc(s, func(run string) string {
		run = strings.Join(strings.Fields(run), "")
		plain, encoding := decodeRun(run)
		how = cmp.Or(encoding, how)
		return plain
	})
	if how == "" {
		return s, ""
	}
	return decoded, how
}

// decodeRun decodes one run of base64 or hexadecimal digits and returns the text and the name of
// the encoding. If the decoded bytes are no text, it returns run itself and an empty how.
func decodeRun(run string) (plain, how string) {
	if b, err := hex.DecodeString(run); err == nil && isText(b) {
		return string(b), "hexadecimal"
	}
	standard := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(run, "="))
	if b, err := base64.RawStdEncoding.DecodeString(standard); err == nil && isText(b) {
		return string(b), "base64"
	}
	return run, ""
}

// isText reports whether b is likely a text: at least minEncoded bytes of valid UTF-8 without
// control characters other than white space, of whose characters at least 60 % are letters, or 40 %
// if b has a space or a new line. Other data is hardly ever valid UTF-8.
func isText(b []byte) bool {
	if len(b) < minEncoded || !utf8.Valid(b) {
		return false
	}
	letters := 0
	runes := 0
	for _, r := range string(b) {
		if unicode.IsLetter(r) {
			letters++
		} else if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return false
		}
		runes++
	}
	return 5*letters >= 3*runes || 5*letters >= 2*runes && strings.ContainsAny(string(b), " \n")
}
