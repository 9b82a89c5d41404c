package disguise

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"compress/zlib"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
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
func mayHaveEncoded(s string) bool { return hasRun(s, &encodedBytes, encodedLen) }

// hasRun reports whether s has at least n consecutive bytes of a set.
func hasRun(s string, set *[256]bool, n int) bool {
	for range text.Runs(s, set, n) {
		return true
	}
	return false
}

// The bytes of which base64 and hexadecimal digits consist, and those of which lists of codes do.
var (
	encodedBytes = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-")
	codeBytes    = setOf("0123456789ABCDEFabcdefXx \t\n\f\r,;:.-")
)

func setOf(bytes string) (set [256]bool) {
	for i := range len(bytes) {
		set[bytes[i]] = true
	}
	return set
}

// decode replaces each run of base64, base32 or hexadecimal digits in s by the text that it
// encodes. how is the name of the encoding of the last such run. If no run encodes a text, decode
// returns s itself and an empty how.
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

// decodeRun decodes one run of hexadecimal, base64 or base32 digits and returns the text and the
// name of the encoding; what base64 encodes may also be compressed. If the decoded bytes are no
// text (see isText), it returns run itself and an empty how.
func decodeRun(run string) (plain, how string) {
	if b, err := hex.DecodeString(run); err == nil && isText(b) {
		return string(b), "hexadecimal"
	}
	standard := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(run, "="))
	if b, err := base64.RawStdEncoding.DecodeString(standard); err == nil {
		if b = unpack(b); isText(b) {
			return string(b), "base64"
		}
	}
	if b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(standard)); err == nil && isText(b) {
		return string(b), "base32"
	}
	return run, ""
}

// maxUnpacked is the maximum length in bytes of a text that is decompressed.
const maxUnpacked = 1 << 20

// unpack returns the text in b as UTF-8: decompressed if b is a gzip or zlib stream, and decoded if
// b is likely UTF-16 (see fromUTF16). It returns b itself if b is none of these.
func unpack(b []byte) []byte {
	var r io.Reader
	var err error
	switch {
	case bytes.HasPrefix(b, []byte{0x1f, 0x8b}):
		r, err = gzip.NewReader(bytes.NewReader(b))
	case len(b) > 2 && b[0] == 0x78 && (int(b[0])<<8|int(b[1]))%31 == 0:
		r, err = zlib.NewReader(bytes.NewReader(b))
	default:
		return fromUTF16(b)
	}
	if err != nil {
		return b
	}
	text, err := io.ReadAll(io.LimitReader(r, maxUnpacked))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return b
	}
	return text
}

// fromUTF16 returns UTF-16 text as UTF-8. b is taken for UTF-16 if it has a byte order mark, or
// zero bytes in more than half of the even or of the odd places, as Latin text has. Otherwise it
// returns b itself.
func fromUTF16(b []byte) []byte {
	if len(b) < 4 || len(b)%2 != 0 {
		return b
	}
	var order binary.ByteOrder = binary.LittleEndian
	zeros := [2]int{} // at even and at odd places
	for i, c := range b {
		if c == 0 {
			zeros[i%2]++
		}
	}
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}) || zeros[0] > len(b)/4:
		order = binary.BigEndian
	case zeros[1] <= len(b)/4:
		return b
	}

	units := make([]uint16, 0, len(b)/2)
	for i := 0; i < len(b); i += 2 {
		unit := order.Uint16(b[i:])
		if unit != 0xfeff { // the byte order mark
			units = append(units, unit)
		}
	}
	return []byte(string(utf16.Decode(units)))
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
