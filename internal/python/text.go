package python

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

// IsSpace reports whether Python's str.isspace is true for the character.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// Strip returns Python's s.strip().
func Strip(s string) string { return strings.TrimFunc(s, IsSpace) }

// IDs returns the ids of a comma-separated list by the subnet's rule: stripped, without
// repetitions, in order. The result is never nil.
func IDs(list string) []string {
	ids := []string{}
	seen := map[string]bool{"": true}
	for id := range strings.SplitSeq(list, ",") {
		if id = Strip(id); !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// Fields returns Python's s.split().
func Fields(s string) []string { return strings.FieldsFunc(s, IsSpace) }

// known are the characters of Unicode 13, the version of Python 3.10. To Python, later
// characters are unassigned, without case, numeric value or glyph.
var known = rangetable.Assigned("13.0.0")

func isKnown(r rune) bool { return r < utf8.RuneSelf || unicode.Is(known, r) }

// Lower returns Python's s.lower(). Each character is converted separately, except for the
// Turkish dotted I, which becomes two characters, and a sigma at the end of a word.
func Lower(s string) string {
	special := func(r rune) bool {
		return r == 'İ' || r == 'Σ' || r == utf8.RuneError || !isKnown(r)
	}
	if strings.IndexFunc(s, special) < 0 {
		return strings.ToLower(s)
	}
	rs := characters(s)
	b := make([]byte, 0, len(s))
	for i, r := range rs {
		switch {
		case r == 'İ':
			b = append(b, "i̇"...)
		case r == 'Σ' && finalSigma(rs, i):
			b = AppendRune(b, 'ς')
		case !isKnown(r):
			b = AppendRune(b, r)
		default:
			b = AppendRune(b, unicode.ToLower(r))
		}
	}
	return string(b)
}

// characters splits s into code points, including lone surrogates.
func characters(s string) []rune {
	rs := make([]rune, 0, len(s))
	for len(s) > 0 {
		r, size := DecodeRune(s)
		rs = append(rs, r)
		s = s[size:]
	}
	return rs
}

// finalSigma reports whether the sigma at an index of rs ends a word: a cased letter precedes it
// and none follows it, without counting characters that casing ignores (Unicode 3.13,
// Final_Sigma).
func finalSigma(rs []rune, sigma int) bool {
	before := sigma - 1
	after := sigma + 1
	for before >= 0 && caseIgnorable(rs[before]) {
		before--
	}
	for after < len(rs) && caseIgnorable(rs[after]) {
		after++
	}
	return before >= 0 && cased(rs[before]) && (after == len(rs) || !cased(rs[after]))
}

func cased(r rune) bool {
	return unicode.In(
		r,
		unicode.Lu,
		unicode.Ll,
		unicode.Lt,
		unicode.Other_Lowercase,
		unicode.Other_Uppercase,
	)
}

func caseIgnorable(r rune) bool {
	return strings.ContainsRune("'.:·’․︓﹕．：‘", r) || unicode.In(
		r,
		unicode.Mn,
		unicode.Me,
		unicode.Cf,
		unicode.Lm,
		unicode.Sk,
	)
}

// ParseFloat returns Python's float(s). It accepts surrounding blanks, underscores between
// digits, digits of any script, and inf and nan in any case. It does not accept hexadecimal
// numbers. It returns false where Python raises an error.
func ParseFloat(s string) (float64, bool) {
	s = strings.Map(func(r rune) rune {
		if d, ok := Decimal(r); ok {
			return '0' + rune(d)
		}
		return r
	}, Strip(s))
	for i := range len(s) {
		switch s[i] {
		case '_':
			if i == 0 || i+1 == len(s) || !isDigit(s[i-1]) || !isDigit(s[i+1]) {
				return 0, false
			}
		case 'x', 'X', 'p', 'P':
			return 0, false
		}
	}
	s = strings.ReplaceAll(s, "_", "")
	signed := len(s) == 4 && (s[0] == '+' || s[0] == '-')
	if signed && strings.EqualFold(s[1:], "nan") {
		return nan, true
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil || math.IsInf(f, 0)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// Decimal returns the value of a decimal digit of any script. It returns false for any other
// character. Digits are in runs of ten that begin with zero, and adjacent runs belong to one
// script block, so the value is the distance to the start of the run modulo ten.
func Decimal(r rune) (int, bool) {
	if r < utf8.RuneSelf {
		return int(r - '0'), r >= '0' && r <= '9'
	}
	if !unicode.IsDigit(r) || !isKnown(r) {
		return 0, false
	}
	start := r
	for unicode.IsDigit(start - 1) {
		start--
	}
	return int(r-start) % 10, true
}

// ParsePage returns Python's int(s) if s.isdigit() is true. ok is false if s is empty or has
// other characters than digits. bad is true if isdigit is true and int raises an error, such as
// for superscripts, circled digits and too many digits.
func ParsePage(s string) (n int, ok, bad bool) {
	const enough = 1000 // no page is near; keeps long digit strings from overflowing
	bad = utf8.RuneCountInString(s) > maxDigits
	for _, r := range s {
		d, decimal := Decimal(r)
		if !decimal {
			if !slices.ContainsFunc(otherDigits, func(run [2]rune) bool { return run[0] <= r && r <= run[1] }) {
				return 0, false, false
			}
			bad = true
		}
		n = min(n*10+d, enough)
	}
	return n, s != "" && !bad, bad
}

// otherDigits are the first and last characters of each run of digits, such as superscripts, for
// which Python's isdigit is true and isdecimal is false (Numeric_Type=Digit).
var otherDigits = [][2]rune{
	{0xb2, 0xb3}, {0xb9, 0xb9}, {0x1369, 0x1371}, {0x19da, 0x19da}, {0x2070, 0x2070}, {0x2074, 0x2079}, {0x2080, 0x2089},
	{0x2460, 0x2468}, {0x2474, 0x247c}, {0x2488, 0x2490}, {0x24ea, 0x24ea}, {0x24f5, 0x24fd}, {0x24ff, 0x24ff}, {0x2776, 0x277e},
	{0x2780, 0x2788}, {0x278a, 0x2792}, {0x10a40, 0x10a43}, {0x10e60, 0x10e68}, {0x11052, 0x1105a}, {0x1f100, 0x1f10a},
}

// Encodable returns the error of Python's s.encode(), a UnicodeEncodeError for lone surrogates.
// It returns nil if there is none.
func Encodable(s string) error {
	if utf8.ValidString(s) {
		return nil
	}
	rs := characters(s)
	first := slices.IndexFunc(rs, isSurrogate)
	if first < 0 {
		return nil
	}
	count := slices.IndexFunc(rs[first:], func(r rune) bool {
		return !isSurrogate(r)
	})
	if count < 0 {
		count = len(rs) - first
	}
	where := fmt.Sprintf(` '\u%04x' in position %d`, rs[first], first)
	if count > 1 {
		where = fmt.Sprintf("s in position %d-%d", first, first+count-1)
	}
	return fmt.Errorf("'utf-8' codec can't encode character%s: surrogates not allowed", where)
}

func isSurrogate(r rune) bool { return r >= 0xd800 && r <= 0xdfff }

// QuotePlus returns Python's urllib.parse.quote_plus(s), or its error.
func QuotePlus(s string) (string, error) { return url.QueryEscape(s), Encodable(s) }

// UnquotePlus decodes one part of a query string like Werkzeug: + is a blank and %XX a byte.
// Invalid escapes are unchanged, and so are escapes of bytes that are not valid UTF-8.
func UnquotePlus(s string) string {
	if strings.IndexByte(s, '%') < 0 && strings.IndexByte(s, '+') < 0 {
		return requoted(s)
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			b = append(b, ' ')
		case s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			n, _ := strconv.ParseUint(s[i+1:i+3], 16, 8) // both digits were checked
			b = append(b, byte(n))
			i += 2
		default:
			b = append(b, s[i])
		}
	}
	return requoted(string(b))
}

// requoted replaces the bytes of s that are not part of a UTF-8 character by %XX.
func requoted(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	b := make([]byte, 0, len(s)+len(s)/4)
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			b = fmt.Appendf(b, "%%%02X", s[0])
		} else {
			b = append(b, s[:size]...)
		}
		s = s[size:]
	}
	return string(b)
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// Round returns Python's round(f, places).
func Round(f float64, places int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', places, 64), 64)
	if err != nil {
		return f
	}
	return r
}
