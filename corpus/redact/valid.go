package redact

import (
	"encoding/base64"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"
)

// Last looks at what an expression matched.

// mixed reports whether a value holds a letter and a digit, as words do not.
func mixed(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.IndexFunc(s, func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}) >= 0
}

// isCard reports whether digits are a card number and not an id of that length: the first
// digits are those of an issuer of such lengths (ISO/IEC 7812), and the last is the check
// digit.
func isCard(s string) bool {
	digits := strings.NewReplacer(" ", "", "-", "").Replace(s)
	issued := false
	for _, i := range issuers {
		issued = issued || len(digits) == i.length && digits[:len(i.first)] >= i.first && digits[:len(i.last)] <= i.last
	}
	return issued && luhn(digits)
}

// issuers are the ranges of first digits by length: Visa, Mastercard, American
// Express, Discover, JCB, UnionPay.
var issuers = []struct {
	length      int
	first, last string
}{{16, "4", "4"}, {16, "51", "55"}, {16, "2221", "2720"}, {15, "34", "34"}, {15, "37", "37"}, {16, "6011", "6011"}, {16, "644", "659"},
	{16, "3528", "3589"}, {16, "62", "62"}}

func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// routable reports whether an address names a machine: four small numbers are a version, and
// private and local addresses are of no use elsewhere.
func routable(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.IsGlobalUnicast() && !a.IsPrivate() && a.As4()[0] >= 10
}

// parses takes an IPv6 address; the rule's expression has seen that it is a
// global one (2000::/3), which keeps times and names of code out.
func parses(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// isAuthorization reports whether the text after bearer or basic is a credential: mixed, or
// a name and a password in base64.
func isAuthorization(s string) bool {
	if mixed(s) && len(s) >= 16 {
		return true
	}
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "=."))
	return err == nil && readable(b) && strings.IndexByte(string(b), ':') > 0
}

// noName reports whether a mixed value is no name of words and numbers, such as
// ingredient_2024.
func noName(s string) bool {
	parts := strings.FieldsFunc(s, func(r rune) bool {
		return r == '_' || r == '-' || r == '.'
	})
	named := !slices.ContainsFunc(parts, func(p string) bool {
		return mixed(p) || p != strings.ToLower(p)
	})
	return mixed(s) && (!named || len(parts) < 2)
}

// random reports whether a value was generated: it has digits, and letters of both cases or
// hexadecimal digits only.
func random(s string) bool {
	const shortest, fewestDigits, leastEntropy = 16, 3, 3
	cased := s != strings.ToLower(s) && s != strings.ToUpper(s)
	return len(s) >= shortest && digitsIn(s) >= fewestDigits && (cased || hexadecimal.row(s, 0, len(s), 0)) && entropy(s) >= leastEntropy
}

// isPhone reports whether as many digits are there as telephone numbers have:
// nine to fifteen with the country's code (E.164), seven to twelve without.
func isPhone(s string) bool {
	digits := digitsIn(s)
	if s[0] == '+' {
		return digits >= 9 && digits <= 15
	}
	return digits >= 7 && digits <= 12
}

// isIBAN reports whether s is an account's number: as long as its country's are,
// with the check digits of ISO 7064 (the number modulo 97 is 1).
func isIBAN(s string) bool {
	s = strings.ReplaceAll(s, " ", "")
	if len(s) != ibanLength(s[:2]) {
		return false
	}
	remaining := 0
	for _, c := range []byte(s[4:] + s[:4]) {
		if digit(c) {
			remaining = (remaining*10 + int(c-'0')) % 97
		} else {
			remaining = (remaining*100 + int(c-'A') + 10) % 97
		}
	}
	return remaining == 1
}

// ibanLength returns the length of a country's account numbers; 0 for an unknown country.
func ibanLength(country string) int {
	index := strings.Index(ibanLengths, country)
	if index < 0 || index%4 != 0 {
		return 0
	}
	return int(ibanLengths[index+2]-'0')*10 + int(ibanLengths[index+3]-'0')
}

// ibanLengths are the countries of the IBAN registry (ISO 13616), each with the
// length of its numbers.
const ibanLengths = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BR29BY28CH21CR22CY28CZ24DE22DK18DO28EE20EG29ES24FI18FO18FR27GB22GE22GI23GL18GR27GT28HR21HU28" +
	"IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MR27MT31MU30NL18NO15PK24PL28PS29PT25QA29RO24RS22SA24SC31SE24SI19SK24SM27" +
	"ST25SV28TL23TN24TR26UA29VA22VG24XK20"

// hasSession reports whether one of the pairs of a cookie header has a value of
// sixteen characters or more.
func hasSession(header string) bool {
	for pair := range strings.SplitSeq(header, ";") {
		if _, value, _ := strings.Cut(pair, "="); utf8.RuneCountInString(value) >= 16 {
			return mixed(header)
		}
	}
	return false
}
