package redact

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// gitleaksFile holds the rules of config/gitleaks.toml of github.com/zricethezav/gitleaks
// v8.30.1, converted by gitleaks/convert.py.
//
//go:embed gitleaks/rules.json
var gitleaksFile []byte

// gitleaksRule is one rule of gitleaks.
type gitleaksRule struct {
	ID          string
	Regex       string
	Path        string
	Keywords    []string
	Entropy     float64
	SecretGroup int
}

func gitleaksRules() []gitleaksRule {
	var rules []gitleaksRule
	if err := json.Unmarshal(gitleaksFile, &rules); err != nil {
		panic(fmt.Errorf("parse gitleaks' rules: %w", err)) // the file is a part of the program
	}
	return rules
}

type rule struct {
	kind string
	// re compiles the expression when a text has one of the rule's words: few texts
	// have any, and all expressions together take longer than many a command.
	re func() *regexp.Regexp
	// group is the capture that is the secret; 0 takes the first that matched,
	// or the whole match where there is none.
	group int
	// keywords gate the expression: only the text around them is searched.
	keywords []string
	// anchored rules begin with one of their keywords: only those places are
	// tried.
	anchored bool
	// whole rules search all of a text that has one of their keywords: what they
	// find has no bound.
	whole bool
	// follows, where set, says whether what stands at a keyword may be the
	// rule's: a look that is cheaper than the expression.
	follows func(text string, start, end int) bool
	// spans, where set, gives the parts to search instead of keywords, of a text
	// and what a look found in it.
	spans func(text string, h *hits) []span
	// entropy returns the Shannon entropy of the bytes of s in bits a byte.
	entropy float64
	// valid is a last look at the secret; nil takes all.
	valid func(string) bool
}

// sharedRules returns the content rules of gitleaks. Left out are rules on file names,
// generic-api-key, which assigned-secret replaces, and private-key, which requires 64 bytes
// of a key and continues into the next key if there are fewer. The allow lists are left out
// too: they permit example keys.
func sharedRules() []rule {
	stored := gitleaksRules()
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
			// what may stand before the word is no part of the secret
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

// Most shared rules want a quote, a blank or a semicolon behind a secret, as in
// source code. In prose and markup a full stop, a comma or a bracket ends it as
// well: whatever cannot be a part of it.
const (
	tail = `(?:[\x60'"\s;]|\\[nr]|$)`
	ends = `(?:[^\w-]|$)`
)

// before is the rest of a name that may stand before the word of a rule. It is
// no part of the secret, a match need not have it, and following it takes five
// times as long.
const before = `[\w.-]{0,50}?`

// leading is how most shared rules begin: any name that holds one of a few
// words.
var leading = regexp.MustCompile(`^\(\?i\)\[\\w\.-\]\{0,50\}\?\(\?:([a-z0-9_.|-]+)\)`)

// narrow are what must follow the words of shared rules that stand in every
// second sentence, such as global, plaid and sumo.
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
	for _, m := range r.re().FindAllStringSubmatchIndex(text[w.start:w.end], -1) {
		start, end := r.secret(m)
		s := span{w.start + start, w.start + end}
		secret := text[s.start:s.end]
		isValid := r.valid == nil || r.valid(secret)
		if secret != "" && isValid && entropy(secret) >= r.entropy {
			out = append(out, Finding{r.kind, s.start, s.end})
		}
	}
	return out
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

// entropy returns the Shannon entropy of the bytes of s in bits a byte.
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
