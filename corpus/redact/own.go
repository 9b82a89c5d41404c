package redact

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

// prefixes start the tokens of known issuers. The shared rules want exact
// lengths; a token cut off in a log is still a secret.
var prefixes = []string{
	"sk-", "sk_live_", "sk_test_", "pk_live_", "rk_live_", "rk_test_", "whsec_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-",
	"glrt-", "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xapp-", "hf_", "AIza", "ya29.", "npm_", "pypi-", "dop_v1_", "doo_v1_", "shpat_", "shpss_", "shpca_", "SG.",
	"key-", "sq0atp-", "sq0csp-", "EAAA", "lin_api_", "dckr_pat_", "nvapi-", "gsk_", "r8_", "xai-", "pplx-", "tvly-", "rubygems_", "hvs.", "AGE-SECRET-KEY-1",
	"GOCSPX-", "1//0", "fw_", "sbp_", "pcsk_", "lsv2_", "jina_", "csk-", "tgp_v1_", "glsa_", "glc_", "ATATT3", "NRAK-", "PMAK-", "sntrys_", "sntryu_", "dapi", "figd_", "secret_", "ntn_", "fo1_", "FlyV1 ", "eyJhbGciOi", "AccountKey=", "SharedAccessKey=",
}

// secretNames are what people call the values that they must not show.
var secretNames = []string{"password", "passwd", "passphrase", "pwd", "secret", "token", "credential", "creds", "api_key", "api-key", "apikey", "api key",
	"access_key", "access-key", "accesskey", "auth_key", "auth-key", "authkey", "private_key", "private-key", "client_key", "encryption_key", "signing_key"}

// awsKey are the prefixes of AWS access keys, sixteen characters before.
const awsKey = `\b((?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{12,})\b`

// privateKey opens a key; one that was cut off has no end.
const privateKey = `-----BEGIN[ A-Z0-9_-]{0,80}PRIVATE KEY[^-]{0,40}-----`

// ownRules add what the shared set lacks. Of two rules that match alike the first
// names the kind, the shared ones before these: theirs are the narrower.
func ownRules(opt Options) ([]rule, error) {
	rules := []struct {
		rule
		expr string
	}{
		{rule{kind: "private-key", keywords: []string{"private key"}, whole: true}, privateKey + `[^"]*?-----END[ A-Z0-9_-]{0,80}-----|` + privateKey + `[^"]*`},
		{rule{kind: "url-credentials", keywords: []string{"://"}, follows: hasUser}, `\b[a-zA-Z][a-zA-Z0-9+.-]{1,30}://[^\s:/@"'<>]{0,200}:([^\s@/"'<>]{1,200})@`},
		{rule{kind: "authorization", keywords: []string{"bearer", "basic"}, follows: hasToken, valid: mixed}, `(?i)\b(?:bearer|basic)\s+([a-z0-9._~+/=-]{16,})`},
		{rule{kind: "aws-access-token", keywords: []string{"akia", "asia", "aroa", "aida", "abia", "acca"}}, awsKey},
		{rule{kind: "assigned-secret", keywords: secretNames, anchored: true, follows: isGiven, valid: mixed},
			`(?i)\A(?:` + quoted(secretNames) + `)[a-z0-9_-]{0,20}\\?["']?\s{0,3}(?:=>|:=|=|:|is)\s{0,3}\\?["']?([^\s"',;<>{}()\[\]\\]{8,200})`},
		{rule{kind: "token", keywords: lowered(prefixes), valid: mixed}, `\b((?:` + quoted(prefixes) + `)[A-Za-z0-9_\-./+=]{15,499}[A-Za-z0-9_\-/+=])`},
		{rule{kind: "cookie", keywords: []string{"cookie"}, values: cookies, valid: mixed}, ""},
		{rule{kind: "webhook", keywords: []string{"/api/webhooks/"}}, `(?i)/api/webhooks/([0-9]{15,22}/[a-z0-9_-]{40,100})`},
		{rule{kind: "telegram-bot-token", keywords: []string{":aa"}}, `\b([0-9]{8,12}:AA[A-Za-z0-9_-]{30,40})`},
		{rule{kind: "email", keywords: []string{"@"}, follows: hasHost}, `[\pL\pN._%+-]{1,64}@[\pL\pN-]{1,63}(?:\.[\pL\pN-]{1,63}){0,5}\.\pL{2,24}`},
		{rule{kind: "card-number", spans: cards, valid: isCard}, `(?:^|[^0-9A-Za-z.])([2-6][0-9]{3}(?:[ -]?[0-9]{4}){2}[ -]?[0-9]{3,4})(?:$|[^0-9A-Za-z])`},
		{rule{kind: "ip-address", spans: networks, valid: routable}, `(?:^|[^0-9.])((?:[0-9]{1,3}\.){3}[0-9]{1,3})(?:$|[^0-9.]|\.(?:$|[^0-9]))`},
		{rule{kind: "ip-address", spans: groups, valid: parses}, `(?i)\b([23][0-9a-f]{3}:[0-9a-f:]{0,34}[0-9a-f])\b`},
		{rule{kind: "wallet-address", keywords: []string{"0x", "bc1"}}, `\b(0x[0-9a-fA-F]{40}|bc1[02-9ac-hj-np-z]{25,60})\b`},
		{rule{kind: "wallet-key", keywords: []string{"seed", "private", "mnemonic", "coldkey"}, anchored: true, follows: hasKey}, `(?i)\A(?:seed|private|mnemonic|coldkey)[^"]{0,48}?(?:"\s{0,3}:\s{0,3}")?\b(?:0x)?([0-9a-f]{64})\b`},
		{rule{kind: "hotkey", spans: accounts}, `\b(5[1-9A-HJ-NP-Za-km-z]{47})\b`},
	}
	var out []rule
	for _, r := range rules {
		if r.kind == "hotkey" && !opt.Hotkeys {
			continue
		}
		re, err := regexp.Compile(r.expr)
		if err != nil {
			return nil, fmt.Errorf("compile rule %s: %w", r.kind, err)
		}
		r.re = re
		if r.follows == nil {
			r.heads = openers(r.expr, r.keywords)
		}
		out = append(out, r.rule)
	}
	return out, nil
}

func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = regexp.QuoteMeta(w)
	}
	return strings.Join(out, "|")
}

func lowered(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ToLower(w)
	}
	return out
}

// mixed tells a value from a word: it holds a letter and a digit.
func mixed(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.IndexFunc(s, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }) >= 0
}

// isCard tells a card's number from an id as long: the first digits are those
// of an issuer of such lengths (ISO/IEC 7812), and the last is the check digit.
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

// luhn is the check digit of card numbers.
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

// routable leaves out what names no machine: four small numbers are a version,
// private and local addresses lead nowhere.
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
