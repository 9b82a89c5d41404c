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
	"NRAK-", "PMAK-", "sntrys_", "sntryu_", "dapi", "figd_", "secret_", "ntn_", "fo1_", "FlyV1 ", "eyJhbGciOi", "AccountKey=", "SharedAccessKey=",
}

// secretNames are what people call the values that they must not show.
var secretNames = []string{"password", "passwd", "passphrase", "pwd", "secret", "token", "credential", "creds", "api_key", "api-key", "apikey", "api key",
	"access_key", "access-key", "accesskey", "auth_key", "auth-key", "authkey", "private_key", "private-key", "client_key", "encryption_key", "signing_key"}

// awsKey are the prefixes of AWS access keys, sixteen characters before.
const awsKey = `\b((?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{12,})\b`

// privateKey opens a key; one that was cut off has no end.
const privateKey = `-----BEGIN[ A-Z0-9_-]{0,80}PRIVATE KEY[^-]{0,40}-----`

// ownRules add what the shared set lacks. Their order breaks ties: of two that
// match alike, the first names the kind.
func ownRules(opt Options) ([]rule, error) {
	specs := []struct {
		kind, expr string
		keywords   []string
		valid      func(string) bool
		spans      func(string) []span
	}{
		{"private-key", privateKey + `[^"]*?-----END[ A-Z0-9_-]{0,80}-----|` + privateKey + `[^"]*`, nil, nil, keyTexts},
		{"url-credentials", `\b[a-zA-Z][a-zA-Z0-9+.-]{1,30}://[^\s:/@"'<>]{0,200}:([^\s@/"'<>]{1,200})@`, []string{"://"}, nil, nil},
		{"authorization", `(?i)\b(?:bearer|basic)\s+([a-z0-9._~+/=-]{16,})`, []string{"bearer", "basic"}, mixed, nil},
		{"aws-access-token", awsKey, []string{"akia", "asia", "aroa", "aida", "abia", "acca"}, nil, nil},
		{"assigned-secret", `(?i)\A(?:` + quoted(secretNames) + `)[a-z0-9_-]{0,20}\\?["']?\s{0,3}(?:=>|:=|=|:|is)\s{0,3}\\?["']?([^\s"',;<>{}()\[\]\\]{8,200})`, secretNames, mixed, nil},
		{"token", `(?:^|[^A-Za-z0-9_])((?:` + quoted(prefixes) + `)[A-Za-z0-9_\-./+=]{16,500})`, lowered(prefixes), mixed, nil},
		{"email", `[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,5}\.[A-Za-z]{2,24}\b`, []string{"@"}, nil, nil},
		{"card-number", `(?:^|[^0-9.])([3-6][0-9]{3}(?:[ -]?[0-9]{4}){2}[ -]?[0-9]{3,4})(?:$|[^0-9])`, nil, luhn, digitRuns},
		{"ip-address", `(?:^|[^0-9.])((?:[0-9]{1,3}\.){3}[0-9]{1,3})(?:$|[^0-9.])`, nil, routable, digitRuns},
		{"wallet-address", `\b(0x[0-9a-fA-F]{40}|bc1[02-9ac-hj-np-z]{25,60})\b`, []string{"0x", "bc1"}, nil, nil},
		{"wallet-key", `\b(?:0x)?([0-9a-fA-F]{64})\b`, []string{"seed", "private", "mnemonic", "coldkey"}, nil, nil},
		{"hotkey", `\b(5[1-9A-HJ-NP-Za-km-z]{47})\b`, nil, nil, nil},
	}
	var out []rule
	for _, s := range specs {
		if s.kind == "hotkey" && !opt.Hotkeys {
			continue
		}
		re, err := regexp.Compile(s.expr)
		if err != nil {
			return nil, fmt.Errorf("compile rule %s: %w", s.kind, err)
		}
		out = append(out, rule{kind: s.kind, re: re, keywords: s.keywords, valid: s.valid, spans: s.spans, anchored: strings.Contains(s.expr, `\A`)})
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

// luhn is the check digit of card numbers (ISO/IEC 7812).
func luhn(s string) bool {
	sum, double := 0, false
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] < '0' || s[i] > '9' {
			continue
		}
		d := int(s[i] - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum, double = sum+d, !double
	}
	return sum%10 == 0
}

// routable leaves out what names no machine: four small numbers are a version,
// private and local addresses lead nowhere.
func routable(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.IsGlobalUnicast() && !a.IsPrivate() && a.As4()[0] >= 10
}
