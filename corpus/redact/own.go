package redact

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// prefixes are the texts with which the access tokens of known services begin, such as those of API
// keys. The rules of gitleaks need tokens of an exact length, but a token that was cut off in a log
// is still a secret.
var prefixes = asjson.Parse[[]string](prefixesFile)

//go:embed prefixes.json
var prefixesFile []byte

// passwordNames and secretNames are names of values to redact. The values of the former are
// chosen by people and may consist of words; those of the latter are random.
var (
	passwordNames = []string{"password", "passwd", "passphrase", "pwd", "credential", "creds"}
	secretNames   = []string{"secret", "token", "api_key", "api-key", "apikey", "api key", "access_key", "access-key", "accesskey", "secret key",
		"auth_key", "auth-key", "authkey", "private_key", "private-key", "client_key", "encryption_key", "signing_key"}
)

// assignment returns an expression for a value that is assigned to one of the names, by a sign or by
// the word is. That word stands apart: "is" within a longer name, as in passwordHistory, assigns
// nothing.
func assignment(names ...string) string {
	return `(?i)\A(?:` + quoted(names) + `)[a-z0-9_-]{0,20}\\?["']?(?:\s{0,3}(?:=>|:=|=|:)|\s{1,3}is\b)\s{0,3}\\?["']?([^\s"',;<>{}()\[\]\\]{8,200})`
}

// assignedBytes are the bytes that can be part of a secret after name= or name:, which are all
// except white space, quotes, brackets, commas, semicolons and backslashes.
var assignedBytes = except(" \t\n\r\f\"',;<>{}()[]\\")

var keyNames = []string{"seed", "private", "mnemonic", "coldkey", "ciphertext"}

var phoneNames = []string{"phone", "telephone", "tel", "mobile", "cell", "whatsapp", "fax", "call me at", "text me at"}

// loginBefore matches "login NAME password " at the end of a text, as it precedes a password in a
// netrc file.
var loginBefore = regexp.MustCompile(`(?i)login\s+\S+\s+password\s+$`)

// signatureBytes are the bytes that can be part of the signature of a signed URL: letters, digits
// and %+/=_~-.
var signatureBytes = alphanumeric.with("%+/=_~-")

const assignedKind = "assigned-secret"

// awsKey matches an AWS access key: one of its prefixes and at least twelve capitals and digits.
// The rule of gitleaks needs sixteen.
const awsKey = `\b((?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{12,})\b`

// privateKey matches the first line of a private key in PEM format. A key that was cut off has no
// last line.
const privateKey = `-----BEGIN[ A-Z0-9_-]{0,80}PRIVATE KEY[^-]{0,40}-----`

// ownRules returns the rules that gitleaks lacks, without hotkey (public addresses of chain
// accounts) and home-folder where the options exclude them. They are applied after the rules of
// gitleaks. If two rules match the same text, the earlier one names the finding.
func ownRules(opt Options) (out []rule) {
	rules := slices.Concat(credentialRules(), configurationRules(), tokenRules(), personRules(), walletRules())
	for _, r := range rules {
		off := r.kind == "hotkey" && !opt.Hotkeys
		isOwn := r.kind == "home-folder" && opt.Homes
		if off || isOwn {
			continue
		}
		r.re = compiledOnce(r.expr)
		out = append(out, r.rule)
	}
	return out
}

// ownRule is a rule whose regular expression is not yet compiled. An expression is compiled when
// a text first has one of the rule's keywords.
type ownRule struct {
	rule
	expr string
}

// credentialRules returns the rules for keys and passwords.
func credentialRules() []ownRule {
	return []ownRule{
		{rule{
			kind:     "private-key",
			keywords: []string{"private key"},
			whole:    true,
		}, privateKey + `[^"]*?-----END[ A-Z0-9_-]{0,80}-----|` + privateKey + `[^"]*`},
		{rule{kind: "url-credentials", keywords: []string{"://"}}, `\b[a-zA-Z][a-zA-Z0-9+.-]{1,30}://[^\s:/@"'<>]{0,200}:([^\s@/"'<>]{1,200})@`},
		{rule{
			kind:     "authorization",
			keywords: []string{"bearer", "basic"},
			valid:    isAuthorization,
		}, `(?i)\b(?:bearer|basic)\s+([a-z0-9._~+/=-]{12,})`},
		{rule{
			kind:     "aws-access-token",
			keywords: []string{"akia", "asia", "aroa", "aida", "abia", "acca"},
			follows:  near(alphanumeric, 12, 0),
		}, awsKey},
		{rule{
			kind:     assignedKind,
			keywords: passwordNames,
			anchored: true,
			rest:     assignedBytes,
			valid:    mixed,
		}, assignment(passwordNames...)},
		{rule{
			kind:     assignedKind,
			keywords: secretNames,
			anchored: true,
			rest:     assignedBytes,
			valid:    noName,
		}, assignment(secretNames...)},
		{rule{
			kind:     assignedKind,
			keywords: []string{"_key"},
			anchored: true,
			rest:     assignedBytes,
			valid:    random,
		}, assignment("_key")},
	}
}

// configurationRules returns the rules for secrets in the configuration files of kubectl, netrc and
// docker, and in codes for wireless networks.
func configurationRules() []ownRule {
	return []ownRule{
		{rule{
			kind:     assignedKind,
			keywords: []string{"client-key-data"},
			anchored: true,
			rest:     assignedBytes,
		}, `(?i)\Aclient-key-data["']?\s{0,3}:\s{0,3}["']?([a-z0-9+/=]{16,200})`},
		{rule{
			kind:     assignedKind,
			keywords: []string{"password"},
			anchored: true,
			isOther:  func(before string) bool { return !loginBefore.MatchString(before) },
			rest:     assignedBytes,
		}, `(?i)\Apassword\s+([^\s"',;<>{}()\[\]\\]{4,200})`},
		{rule{
			kind:     assignedKind,
			keywords: []string{`"auth"`},
			anchored: true,
			rest:     tokenBytes,
			valid:    isAuthorization,
		}, `(?i)\A"auth"\s{0,3}:\s{0,3}"([a-z0-9+/=]{12,200})`},
		{rule{
			kind:     "wifi-password",
			keywords: []string{"wifi:"},
		}, `(?i)\bwifi:(?:[a-z]:[^;"\s]{0,64};){0,3}?p:((?:[^;"\\]|\\.){4,64})`},
	}
}

// tokenRules returns the rules for access tokens, signed URLs, webhooks and session cookies.
func tokenRules() []ownRule {
	return []ownRule{
		{rule{
			kind:     "token",
			keywords: slicesx.Map(prefixes, strings.ToLower),
			follows:  near(tokenBytes, 16, 0),
			valid:    mixed,
			rest:     tokenBytes,
		}, `\b((?:` + quoted(prefixes) + `)[A-Za-z0-9_\-./+=]{15,499}[A-Za-z0-9_\-/+=])`},
		{rule{kind: "token", keywords: []string{"wandb login"}}, `(?i)wandb login\s(?:--?[a-z-]{1,20}\s){0,4}([0-9a-f]{40})`},
		{rule{
			kind:     "token",
			keywords: []string{"-us"},
			follows:  hasHash,
		}, `\b([0-9a-f]{32}-us[0-9]{1,2})\b`},
		{rule{
			kind:  "token",
			spans: longRunsOf(59),
			valid: mixed,
		}, `\b([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})\b`},
		{rule{
			kind:     "signed-url",
			keywords: []string{"sig="},
			valid:    mixed,
			rest:     signatureBytes,
		}, `[?&;](?i:sig)=([A-Za-z0-9%+/=_-]{40,100})`},
		{rule{
			kind:     "signed-url",
			keywords: []string{"signature=", "policy=", "goog-credential="},
			rest:     signatureBytes,
		}, `(?i)[?&;](?:x-(?:goog|amz)-(?:signature|credential)|signature|policy)=([a-z0-9%+/=_~-]{16,100})`},
		{rule{
			kind:     "cookie",
			keywords: []string{"cookie"},
			whole:    true,
			follows:  isAssigned,
			valid:    hasSession,
		}, `(?i)cookie["']?\s{0,3}[:=]\s{0,3}["']?((?:[^\s=;,"'<>]+=[^\s;"'<>]*;\s?)*[^\s=;,"'<>]+=[^\s;"'<>]*)`},
		{rule{
			kind:     "webhook",
			keywords: []string{"hooks.slack.com/", "webhook.office.com/", "hooks.zapier.com/", "maker.ifttt.com/"},
			anchored: true,
			rest:     tokenBytes,
		}, `(?i)\A(?:hooks\.slack\.com/[a-z]{1,12}|webhook\.office\.com/webhookb2|hooks\.zapier\.com/hooks/catch|maker\.ifttt\.com/trigger/[^/\s]{1,60}/(?:json/)?with/key)/([a-z0-9@/_-]{8,200})`},
		{rule{kind: "webhook", keywords: []string{"/api/webhooks/"}}, `(?i)/api/webhooks/([0-9]{15,22}/[a-z0-9_-]{40,100})`},
		{rule{kind: "telegram-bot-token", keywords: []string{":aa"}}, `(?:\b|bot)([0-9]{8,12}:AA[A-Za-z0-9_-]{30,40})`},
	}
}

// orderBefore matches text such as "order no: " directly before a number. The number is then that
// of an order, invoice, parcel or the like, and not of a payment card.
var orderBefore = regexp.MustCompile(`(?i)(?:order|invoice|tracking|parcel|shipment|reference|ref|transaction|ticket|booking|receipt)[ _-]?(?:number|no|nr|id|num|#)?[."']{0,2}\s{0,3}(?:[:#=]|is|was)?\s{0,3}["'#]?$`)

// numberBefore matches a text that ends in a letter, a digit or a sign such as "+" or "3 ". Digits
// after it are then only the end of a longer number or word, and not a number by themselves.
var numberBefore = regexp.MustCompile(`[0-9A-Za-z.,+/-]$|[0-9][ -]$`)

// personRules returns the rules for what identifies a person or a machine: e-mail and IP
// addresses, card, account and telephone numbers, and names of home folders.
func personRules() []ownRule {
	return []ownRule{
		{rule{
			kind:     "email",
			keywords: []string{"@"},
			follows:  near(hostBytes, len("a.bc"), 0),
		}, `[\pL\pN._%+-]{1,64}@[\pL\pN-]{1,63}(?:\.[\pL\pN-]{1,63}){0,5}\.\pL{2,24}`},
		{rule{
			kind:    cardKind,
			spans:   numbersWith(shortestCard, 0),
			valid:   isCard,
			isOther: orderBefore.MatchString,
		}, `(?:^|[^0-9A-Za-z.])([2-6][0-9]{3}(?:[ -]?[0-9]{4}){2}[ -]?[0-9]{3,4}|3[47][0-9]{2}[ -][0-9]{6}[ -][0-9]{5})(?:$|[^0-9A-Za-z])`},
		{rule{kind: "iban", spans: accounts, valid: isIBAN}, `\b([A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)\b`},
		{rule{
			kind:     "phone",
			keywords: []string{"+"},
			valid:    isPhone,
		}, `(?:^|[^0-9A-Za-z+)])(\+[1-9][0-9]{0,3}(?:[ .-]?(?:\([0-9]{1,6}\)|[0-9]{1,12})){1,6})(?:$|[^0-9A-Za-z])`},
		{rule{
			kind:     "phone",
			keywords: []string{"09"},
			anchored: true,
			follows:  near(digits.with(" -"), 9, 0),
			isOther:  numberBefore.MatchString,
		}, `\A(09[0-9]{2}[ -]?[0-9]{3}[ -]?[0-9]{4})(?:$|[^0-9A-Za-z])`},
		{rule{
			kind:     "phone",
			keywords: phoneNames,
			anchored: true,
			follows:  near(digits.with("("), 1, 21),
			valid:    isPhone,
		},
			`(?i)\A(?:` + quoted(phoneNames) + `)(?:[ _-]?(?:number|nr|no))?[."']{0,2}(?:\s{0,3}(?:[:=#]|is|at|me at)\s{0,3}|\s)["']?((?:\([0-9]{1,6}\)|[0-9]{2,12})(?:[ .-]{0,2}[0-9]{2,12}){0,5})(?:$|[^0-9A-Za-z])`},
		{rule{
			kind:     "home-folder",
			keywords: []string{"/home/", "/users/", "users"},
		}, `(?:^|[\s"'=(:,;>{|\x60\[]|file://)(?:/home/|/Users/|[A-Za-z]:[/\\]{0,2}Users)[/\\\n\r\t\f\x08]?([A-Za-z0-9][A-Za-z0-9._-]{0,31})`},
		{rule{
			kind:  "ip-address",
			spans: numbersWith(0, 3),
			valid: routable,
		}, `(?:^|[^0-9.])((?:[0-9]{1,3}\.){3}[0-9]{1,3})(?:$|[^0-9.]|\.(?:$|[^0-9]))`},
		{rule{
			kind:     "ip-address",
			keywords: []string{":"},
			follows:  hasGroup,
			valid:    parses,
		}, `(?i)\b([23][0-9a-f]{3}:[0-9a-f:]{0,34}[0-9a-f])\b`},
	}
}

// walletRules returns the rules for addresses, keys and mnemonic phrases of cryptocurrency
// wallets.
func walletRules() []ownRule {
	return []ownRule{
		{rule{
			kind:     "wallet-address",
			keywords: []string{"0x", "bc1"},
			follows:  near(alphanumeric, 25, 0),
		}, `\b(0x[0-9a-fA-F]{40}|bc1[02-9ac-hj-np-z]{25,60})\b`},
		{rule{
			kind:     "wallet-key",
			keywords: keyNames,
			anchored: true,
		}, `(?i)\A(?:` + quoted(keyNames) + `)[^"]{0,48}?(?:"\s{0,3}:\s{0,3}")?\b(?:0x)?([0-9a-f]{64}|[0-9a-f]{128})\b`},
		{rule{kind: "wallet-key", keywords: []string{`encoded"`}}, `(?i)"encoded"\s{0,3}:\s{0,3}"([a-z0-9+/=]{80,})`},
		{rule{kind: "wallet-key", keywords: []string{"$nacl"}}, `(?i)\$NACL([^\s"']{40,})`},
		{rule{
			kind:  "wallet-key",
			spans: longRunsOf(51),
			valid: isWIF,
		}, `\b([5KLc9][1-9A-HJ-NP-Za-km-z]{50,51})\b`},
		{rule{kind: "wallet-mnemonic", spans: phrases}, `(?s)\A.+\z`},
		{rule{kind: "hotkey", spans: longRunsOf(accountLen)}, `\b(5[1-9A-HJ-NP-Za-km-z]{47})\b`},
	}
}

func quoted(words []string) string { return strings.Join(slicesx.Map(words, regexp.QuoteMeta), "|") }
