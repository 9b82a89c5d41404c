package redact

import (
	_ "embed"
	"math"
	"regexp"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// gitleaksFile holds the rules of config/gitleaks.toml of github.com/zricethezav/gitleaks
// v8.30.1, converted to JSON by gitleaks/convert.py.
//
//go:embed gitleaks/rules.json
var gitleaksFile []byte

// gitleaksRule is one rule of gitleaks, with the fields of its configuration file.
type gitleaksRule struct {
	ID          string
	Regex       string
	Path        string
	Keywords    []string
	Entropy     float64
	SecretGroup int
}

// rule is a redaction rule: it finds secrets of one kind, such as card numbers, by a regular
// expression in those parts of a text that may contain one.
type rule struct {
	kind string
	// re returns the expression. It is compiled at the first call, when a text has one of the
	// keywords, since few texts have any and compiling all expressions takes longer than many
	// a command.
	re func() *regexp.Regexp
	// group is the number of the capturing group that is the secret. 0 selects the first group
	// that matched a text, or the entire match if there is none.
	group int
	// keywords are lower-case words near any secret: only the text around them is searched.
	keywords []string
	// anchored reports whether every match begins with a keyword, so that the expression is
	// tried only there.
	anchored bool
	// whole reports whether all of a text with a keyword is searched, because the length of a
	// match has no limit.
	whole bool
	// follows, unless nil, reports whether a match is possible at the keyword from start to
	// end. It is faster than the expression.
	follows func(text string, start, end int) bool
	// spans, unless nil, returns the parts of the text to search. The rule then has no
	// keywords. h is what the pass over the text found.
	spans func(text string, h *hits) []span
	// entropy is the minimum Shannon entropy of a secret in bits per byte.
	entropy float64
	// valid reports whether a match is a secret; nil accepts all.
	valid func(string) bool
	// rest are the bytes that still belong to a secret after the end of the match: the finding
	// is extended over them. The zero value is none.
	rest charset
	// isOther, unless nil, reports whether the text before a secret shows that it is something
	// else, such as the number of an order.
	isOther func(before string) bool
}

// sharedRules returns the rules of gitleaks that search content. It omits rules for file names;
// generic-api-key, which this package's rule assigned-secret replaces; and private-key, which
// needs 64 bytes of a key and continues into the next key if there are fewer. It also omits the
// lists of permitted values, which would permit example keys.
func sharedRules() []rule {
	stored := asjson.Parse[[]gitleaksRule](gitleaksFile)
	out := make([]rule, 0, len(stored))
	for _, s := range stored {
		if s.Path != "" || s.Regex == "" || s.ID == "generic-api-key" || s.ID == "private-key" {
			continue
		}
		r := rule{
			kind:     s.ID,
			group:    s.SecretGroup,
			entropy:  s.Entropy,
			keywords: slicesx.Map(s.Keywords, strings.ToLower),
			follows:  narrow[s.ID],
		}
		expr := strings.TrimSuffix(s.Regex, tail)
		if expr != s.Regex {
			expr += ends
		}
		if m := leading.FindStringSubmatch(expr); m != nil {
			// characters before the keyword are not part of the secret
			r.anchored = true
			r.keywords = strings.Split(m[1], "|")
			expr = `(?i)\A(?:` + m[1] + `)` + expr[len(m[0]):]
		} else {
			expr = strings.ReplaceAll(expr, before, "")
		}
		r.re = compiledOnce(expr)
		out = append(out, r)
	}
	return out
}

func compiledOnce(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(expr)
	})
}

// Most rules of gitleaks need a quote, a space or a semicolon after a secret, as in source code.
// sharedRules replaces tail, that end of their expressions, by ends, which matches any character
// that cannot be part of a secret. In prose and markup a full stop, a comma or a bracket ends it
// as well.
const (
	tail = `(?:[\x60'"\s;]|\\[nr]|$)`
	ends = `(?:[^\w-]|$)`
)

// before is a part of many gitleaks expressions that matches characters before the keyword.
// sharedRules removes it: these characters are not part of the secret, a match does not need
// them, and matching them takes five times as long.
const before = `[\w.-]{0,50}?`

// leading matches the start of most regular expressions of gitleaks: any characters of a name, then
// one of the keywords in parentheses. The keywords are captured.
var leading = regexp.MustCompile(`^\(\?i\)\[\\w\.-\]\{0,50\}\?\(\?:([a-z0-9_.|-]+)\)`)

// narrow maps gitleaks rules whose keywords are frequent in ordinary text, such as plaid and
// sumo, to a quick check of the characters after the keyword. Only if the check succeeds is the
// rule's expression executed.
var narrow = map[string]func(text string, start, end int) bool{
	"jwt": near(alphanumeric, 17, 0), "twilio-api-key": near(hexadecimal, 32, 0), "vault-service-token": near(alphanumeric.with("_-"), 24, 0),
	"gcp-api-key": near(alphanumeric.with("_-"), 35, 0), "aws-access-token": near(alphanumeric, 16, 0),
	"lob-api-key": near(tokenBytes, 40, 32), "lob-pub-api-key": near(tokenBytes, 40, 32),
	"plaid-api-token": near(tokenBytes, 24, 32), "plaid-client-id": near(tokenBytes, 24, 32), "plaid-secret-key": near(tokenBytes, 24, 32),
	"sumologic-access-id": near(tokenBytes, 14, 32), "sumologic-access-token": near(tokenBytes, 64, 32),
}

func (r *rule) find(
	out []Finding,
	text string,
	findings []hit,
) []Finding {
	search := windows
	switch {
	case r.whole:
		return r.within(out, text, span{0, len(text)})
	case r.anchored:
		search = places
	}
	for _, w := range search(text, findings) {
		out = r.within(out, text, w)
	}
	return out
}

func (r *rule) within(
	out []Finding,
	text string,
	w span,
) []Finding {
	run := 0 // the end of the run of the match before
	for _, m := range r.re().FindAllStringSubmatchIndex(text[w.start:w.end], -1) {
		start, end := r.secret(m)
		s := span{w.start + start, w.start + end}
		if s.end > run {
			run = r.endOfRun(text, s.end)
		}
		s.end = run
		secret := text[s.start:min(s.end, s.start+maxChecked)]
		isValid := r.valid == nil || r.valid(secret)
		if r.isOther != nil && r.isOther(text[max(0, s.start-reachBack):s.start]) {
			continue
		}
		if secret != "" && isValid && entropy(secret) >= r.entropy {
			out = append(out, Finding{r.kind, s.start, s.end})
		}
	}
	return out
}

// maxChecked is the maximum number of bytes of a possible secret that are checked, from its start,
// by the rule's function valid and for entropy. Otherwise many matches inside one long text would
// each be checked to its end. It is a multiple of four, so that the checked part of base64 is
// base64.
const maxChecked = 1024

// endOfRun returns where a secret ends in text: the index after all bytes of r.rest (bytes that may
// continue a secret of rule r) from index on, or index itself if there are none. Full stops at the
// end are left out, since they end a sentence.
func (r *rule) endOfRun(text string, index int) int {
	end := index
	for end < len(text) && r.rest[text[end]] {
		end++
	}
	for end > index && text[end-1] == '.' {
		end--
	}
	return end
}

func (r *rule) secret(m []int) (start, end int) {
	if r.group > 0 && m[2*r.group] >= 0 {
		return m[2*r.group], m[2*r.group+1]
	}
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 && m[i+1] > m[i] {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

// entropy returns the Shannon entropy of the bytes of s in bits per byte, from 0 to 8.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	h := 0.0
	n := float64(len(s))
	for _, c := range count {
		if c > 0 {
			p := float64(c) / n
			h -= float64(p * math.Log2(p))
		}
	}
	return h
}
