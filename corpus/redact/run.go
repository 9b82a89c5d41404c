package redact

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shortestRun is the least length of what a run is searched for: a secret of
// eighteen bytes in base64.
const shortestRun = 24

// longRuns notes the stretches of the letters of base64 that are as long as a
// key.
func (h *hits) longRuns(text string) { h.runs = stretches(text, &runBytes, shortestRun) }

// runBytes are the letters of base64, also as addresses write it.
var runBytes = alphanumeric.with("+/-_")

// runs are the parts of a text that hold a run, with a byte on either side and
// some more behind it, for keys of several parts.
func runs(text string, h *hits) []span {
	const more = 80
	out := make([]span, len(h.runs))
	for i, s := range h.runs {
		out[i] = span{max(0, s.start-1), min(len(text), s.end+more)}
	}
	return out
}

// encoded are the runs that hold a finding in base64. The finding is the run,
// because what lies around the secret tells nothing to anybody.
func (r *Redactor) encoded(text string, all []span, coats int) []Finding {
	if coats == 0 {
		return nil
	}
	var out []Finding
	for _, s := range all {
		inner, ok := fromBase64(text[s.start:s.end])
		if !ok {
			continue
		}
		if found := r.scan(inner, coats-1); len(found) > 0 {
			end := s.end
			for end < len(text) && text[end] == '=' {
				end++
			}
			out = append(out, Finding{found[0].Kind, s.start, end})
		}
	}
	return out
}

// fromBase64 decodes a run that holds text. Of most runs the first bytes show
// that they hold none.
func fromBase64(run string) (string, bool) {
	run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
	if len(run)%4 == 1 { // no encoding ends so: one letter too many stands before or behind
		run = run[:len(run)-1]
	}
	if first, err := base64.RawStdEncoding.DecodeString(run[:shortestRun-4]); err != nil || !readable(first[:len(first)-utf8.UTFMax]) {
		return "", false
	}
	b, err := base64.RawStdEncoding.DecodeString(run)
	if err != nil || !readable(b) || !utf8.Valid(b) {
		return "", false
	}
	return string(b), true
}

// readable reports whether no byte is a control character that texts do not have.
func readable(b []byte) bool {
	for _, c := range b {
		if c != '\n' && c != '\r' && c != '\t' && unicode.IsControl(rune(c)) && c < utf8.RuneSelf {
			return false
		}
	}
	return true
}
