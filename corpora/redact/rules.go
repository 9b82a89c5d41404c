package redact

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// rule finds one kind of secret.
type rule struct {
	kind string
	re   *regexp.Regexp
	// group is the capture that is the secret; 0 takes the first that matched,
	// or the whole match where there is none.
	group int
	// keywords gate the expression: only the text around them, in lower case,
	// is searched. None means all of it.
	keywords []string
	// anchored rules begin with one of their keywords: only those places are
	// tried.
	anchored bool
	// spans, where set, gives the parts to search instead of keywords.
	spans func(string) []span
	// entropy is the least Shannon entropy of the secret in bits a byte.
	entropy float64
	// valid is a last look at the secret; nil takes all.
	valid func(string) bool
}

// sharedRules are the content rules of gitleaks: all but those that hang on a
// file's name and generic-api-key, for which assigned-secret stands. Its allow
// lists are left out: they spare example keys, and a corpus has no use for those
// either.
func sharedRules() ([]rule, error) {
	var stored struct {
		Rules []struct {
			ID          string
			Regex       string
			Path        string
			Keywords    []string
			Entropy     float64
			SecretGroup int
		}
	}
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &stored); err != nil {
		return nil, fmt.Errorf("parse shared rules: %w", err)
	}
	out := make([]rule, 0, len(stored.Rules))
	for _, s := range stored.Rules {
		if s.Path != "" || s.Regex == "" || s.ID == "generic-api-key" {
			continue
		}
		r := rule{kind: s.ID, group: s.SecretGroup, entropy: s.Entropy, keywords: lowered(s.Keywords)}
		expr := s.Regex
		if m := leading.FindStringSubmatch(expr); m != nil {
			// what may stand before the word is no part of the secret
			r.anchored, r.keywords = true, strings.Split(m[1], "|")
			expr = `(?i)\A(?:` + m[1] + `)` + expr[len(m[0]):]
		}
		var err error
		if r.re, err = regexp.Compile(expr); err != nil {
			return nil, fmt.Errorf("compile rule %s: %w", s.ID, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// leading is how most shared rules begin: any name that holds one of a few
// words.
var leading = regexp.MustCompile(`^\(\?i\)\[\\w\.-\]\{0,50\}\?\(\?:([a-z0-9_.|-]+)\)`)

func (r *rule) find(out []Finding, text, low string) []Finding {
	if r.spans != nil {
		for _, w := range r.spans(text) {
			out = r.within(out, text, w)
		}
		return out
	}
	if len(r.keywords) == 0 {
		return r.within(out, text, span{0, len(text)})
	}
	found := windows
	if r.anchored {
		found = places
	}
	for _, w := range found(low, r.keywords) {
		out = r.within(out, text, w)
	}
	return out
}

// within searches one part of a text. It ends where tokens do, so that no
// expression sees half of one.
func (r *rule) within(out []Finding, text string, w span) []Finding {
	for _, m := range r.re.FindAllStringSubmatchIndex(text[w.start:w.end], -1) {
		start, end := r.secret(m)
		start += escape(text[:w.start+start], text[w.start+start:w.start+end])
		end -= halfEscape(text[w.start+start : w.start+end])
		secret := text[w.start+start : w.start+end]
		if secret == "" || strings.HasPrefix(secret, "[REDACTED:") || strings.HasPrefix(secret, "REDACTED:") {
			continue
		}
		if entropy(secret) < r.entropy || r.valid != nil && !r.valid(secret) {
			continue
		}
		out = append(out, Finding{r.kind, w.start + start, w.start + end})
	}
	return out
}

// secret is the span of a match that is replaced.
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

// escape is how many bytes at the start of a match belong to a JSON escape
// that begins before it: the n of \n, the u and digits of \u0026.
func escape(before, match string) int {
	slashes := len(before) - len(strings.TrimRight(before, `\`))
	switch {
	case slashes%2 == 0 || match == "":
		return 0
	case match[0] == 'u':
		return min(5, len(match))
	case strings.IndexByte("nrtbf", match[0]) >= 0:
		return 1
	default:
		return 0
	}
}

// halfEscape is 1 where a match ends between the backslash of a JSON escape and
// what it escapes, else 0.
func halfEscape(match string) int {
	return (len(match) - len(strings.TrimRight(match, `\`))) % 2
}

// entropy is the Shannon entropy of the bytes of s in bits a byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	h, n := 0.0, float64(len(s))
	for _, c := range count {
		if c > 0 {
			p := float64(c) / n
			h -= p * math.Log2(p)
		}
	}
	return h
}
