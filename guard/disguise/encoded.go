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

// minEncoded is the least text worth looking for behind an encoding: twelve
// letters are two words.
const minEncoded = 12

// encodedLen is what they take in base64.
const encodedLen = 16

// encodedRun is what base64 of a text of minEncoded bytes looks like, in either
// alphabet and broken into lines; hexadecimal digits are such a run too.
var encodedRun = regexp.MustCompile(`[A-Za-z0-9+/_-]{16,}(?:\s*\n\s*[A-Za-z0-9+/_-]{4,})*={0,2}`)

// encodable reports whether a text holds a run that encodedRun may match.
func encodable(s string) bool {
	for range text.Stretches(s, &encodedBytes, encodedLen) {
		return true
	}
	return false
}

// encodedBytes are the letters of a run.
var encodedBytes = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-") {
		set[c] = true
	}
	return set
}()

// decode puts in the place of each encoded run the text that it holds.
func decode(s string) (decoded, how string) {
	if !encodable(s) {
		return s, ""
	}
	decoded = encodedRun.ReplaceAllStringFunc(s, func(run string) string {
		run = strings.Join(strings.Fields(run), "")
		inner, as := decodeRun(run)
		how = cmp.Or(as, how)
		return inner
	})
	if how == "" {
		return s, ""
	}
	return decoded, how
}

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

// isText reports whether bytes are words: characters all, of which three in five
// are letters. Other bytes are no such thing by chance.
func isText(b []byte) bool {
	if len(b) < minEncoded || !utf8.Valid(b) {
		return false
	}
	letters, all := 0, 0
	for _, r := range string(b) {
		if unicode.IsLetter(r) {
			letters++
		} else if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return false
		}
		all++
	}
	return 5*letters >= 3*all || 5*letters >= 2*all && strings.ContainsAny(string(b), " \n")
}
