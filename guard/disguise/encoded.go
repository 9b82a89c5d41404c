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

// minEncoded is the length in bytes of the shortest text that is decoded: twelve
// letters are two words.
const minEncoded = 12

// encodedLen is the length of minEncoded bytes in base64.
const encodedLen = 16

// encodedRun matches base64 of at least minEncoded bytes, in either alphabet and
// over several lines; it matches hexadecimal digits too.
var encodedRun = regexp.MustCompile(`[A-Za-z0-9+/_-]{16,}(?:\s*\n\s*[A-Za-z0-9+/_-]{4,})*={0,2}`)

// mayHaveEncoded reports whether encodedRun may match in s. It is faster than the
// expression.
func mayHaveEncoded(s string) bool {
	for range text.Runs(s, &encodedBytes, encodedLen) {
		return true
	}
	return false
}

// encodedBytes are the bytes of an encoded run.
var encodedBytes = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-") {
		set[c] = true
	}
	return set
}()

// decode replaces each encoded run by its text. how is the name of the encoding,
// empty if there is none.
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

// decodeRun returns the text of a run and the name of its encoding, or run itself
// if it is not the encoding of a text.
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

// isText reports whether b is text: valid UTF-8 without control characters, of
// which three in five are letters, or two in five if it has blanks. Other bytes are
// not valid by chance.
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
