package redact

import (
	"encoding/base64"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"
)

// The following functions decide whether the match of a rule's expression is a secret.

// mixed reports whether s has a letter and a digit, both ASCII. Ordinary words have no digit.
func mixed(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.IndexFunc(s, func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}) >= 0
}

// isCard reports whether digits, perhaps with spaces or hyphens, are a payment card number. Its
// length and first digits must be those of an issuer (ISO/IEC 7812), and its check digit must be
// correct. Most other numbers of that length are ids.
func isCard(s string) bool {
	digits := strings.NewReplacer(" ", "", "-", "").Replace(s)
	issued := false
	for _, i := range issuers {
		issued = issued || len(digits) == i.length && digits[:len(i.first)] >= i.first && digits[:len(i.last)] <= i.last
	}
	return issued && luhn(digits)
}

// issuers are the payment card networks: the number of digits of their cards, and the first and
// last value of the digits with which the numbers begin. They are Visa, Mastercard, American
// Express, Discover, JCB and UnionPay.
var issuers = []struct {
	length      int
	first, last string
}{{16, "4", "4"}, {16, "51", "55"}, {16, "2221", "2720"}, {15, "34", "34"}, {15, "37", "37"}, {16, "6011", "6011"}, {16, "644", "659"},
	{16, "3528", "3589"}, {16, "62", "62"}}

// luhn reports whether the last digit is the check digit of the others by the Luhn algorithm.
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

// routable reports whether an IPv4 address is a public one. Private and local addresses mean
// nothing elsewhere. Addresses whose first number is below 10 are excluded too, since most of
// them are version numbers.
func routable(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.IsGlobalUnicast() && !a.IsPrivate() && a.As4()[0] >= 10
}

// parses reports whether s is a valid IP address. The rule's expression matches only IPv6 with
// the prefix of global addresses, 2000::/3, which excludes times and names in code.
func parses(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// isAuthorization reports whether s, the text after bearer or basic, is a credential: at least 16
// characters with letters and digits, or NAME:PASSWORD in base64.
func isAuthorization(s string) bool {
	if mixed(s) && len(s) >= 16 {
		return true
	}
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "=."))
	return err == nil && readable(b) && strings.IndexByte(string(b), ':') > 0
}

// noName reports whether a value has letters and digits and may be a secret. Names of two or more
// lower-case words and numbers, joined by _, - or dots, may not, such as ingredient_2024.
func noName(s string) bool {
	parts := strings.FieldsFunc(s, func(r rune) bool {
		return r == '_' || r == '-' || r == '.'
	})
	named := !slices.ContainsFunc(parts, func(p string) bool {
		return mixed(p) || p != strings.ToLower(p)
	})
	return mixed(s) && (!named || len(parts) < 2)
}

// random reports whether a value looks randomly generated, as a password or key does. It must have
// at least 16 bytes, three digits and an entropy of 3 bits per byte. It must also have letters of
// both cases, or 16 consecutive letters and digits without a sign between them, which no name of
// words and numbers has.
func random(s string) bool {
	const shortest, fewestDigits, leastEntropy = 16, 3, 3
	cased := s != strings.ToLower(s) && s != strings.ToUpper(s)
	isRandom := cased || len(stretches(s, &alphanumeric, shortest)) > 0
	return len(s) >= shortest && digitsIn(s) >= fewestDigits && isRandom && entropy(s) >= leastEntropy
}

// isPhone reports whether s has as many digits as a telephone number: 9 to 15 if it begins with a
// plus and a country code (E.164), otherwise 7 to 12.
func isPhone(s string) bool {
	digits := digitsIn(s)
	if s[0] == '+' {
		return digits >= 9 && digits <= 15
	}
	return digits >= 7 && digits <= 12
}

// isIBAN reports whether s is an international bank account number (IBAN). Its length must be
// that of its country's numbers, and its check digits must be correct (ISO 7064: the number
// modulo 97 is 1).
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

// ibanLength returns the number of characters of a country's IBANs, or 0 if the country has none.
// The country is a code of two letters.
func ibanLength(country string) int {
	index := strings.Index(ibanLengths, country)
	if index < 0 || index%4 != 0 {
		return 0
	}
	return int(ibanLengths[index+2]-'0')*10 + int(ibanLengths[index+3]-'0')
}

// ibanLengths are the country codes of the IBAN registry (ISO 13616), each followed by the
// two-digit length of the country's IBANs.
const ibanLengths = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BR29BY28CH21CR22CY28CZ24DE22DK18DO28EE20EG29ES24FI18FO18FR27GB22GE22GI23GL18GR27GT28HR21HU28" +
	"IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MR27MT31MU30NL18NO15PK24PL28PS29PT25QA29RO24RS22SA24SC31SE24SI19SK24SM27" +
	"ST25SV28TL23TN24TR26UA29VA22VG24XK20"

// hasSession reports whether a cookie header may hold a session: one of its values has at least
// 16 characters, and the header has letters and digits.
func hasSession(header string) bool {
	for pair := range strings.SplitSeq(header, ";") {
		if _, value, _ := strings.Cut(pair, "="); utf8.RuneCountInString(value) >= 16 {
			return mixed(header)
		}
	}
	return false
}
