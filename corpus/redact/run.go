package redact

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shortestRun is the minimum length in bytes of a sequence of letters and digits that is
// examined: 32 characters of base64 are 24 bytes.
const shortestRun = 32

// sample records what rules without keywords search: long sequences of base64 characters in
// h.runs, without those that cannot hold a secret, such as a hash in hex, and mnemonic phrases of
// wallets in h.phrases. It examines only one byte in sampleStride, because each of these is longer
// than that.
func (h *hits) sample(text string) {
	end := 0
	for i := sampleStride - 1; i < len(text); i += sampleStride {
		if i < end { // a phrase may be joined by hyphens, underscores or dots to one sequence
			h.phraseNear(text, i)
			continue
		}
		index := i
		for ceiling := min(len(text), i+longestGap); index < ceiling && !isRun[text[index]]; {
			index++
		}
		if index == len(text) {
			return
		}
		s := runAround(text, index)
		switch {
		case s.end-s.start >= shortestRun:
			if end = s.end; telling(text, s) {
				h.runs = append(h.runs, s)
			}
			h.phraseNear(text, index)
		case i >= h.phrased && listed(text, s):
			h.phraseAt(text, s)
		}
	}
}

// sampleStride is the distance in bytes between two examined bytes. It is below the length of the
// shortest sequence, 32 bytes, and of the shortest mnemonic phrase, 47 bytes, so that each
// contains an examined byte.
const sampleStride = shortestRun - 1

// isRun are the characters of base64, also in its form for URLs, and the dot between the parts of
// keys.
var isRun = alphanumeric.with("+/-_.")

func runAround(text string, index int) span {
	s := span{index, index}
	for s.start > 0 && isRun[text[s.start-1]] {
		s.start--
	}
	for s.end < len(text) && isRun[text[s.end]] {
		s.end++
	}
	return s
}

// telling reports whether a long sequence of base64 characters may contain a secret: a part of
// it decodes to text, it has at least two dots, or it has at least 48 consecutive characters of
// base 58, as an account address has. Hashes and ids, of which every trace has many, fail all
// three conditions.
func telling(text string, s span) bool {
	run := text[s.start:s.end]
	return strings.Count(run, ".") >= 2 || len(stretches(run, &isBase58, accountLen)) > 0 || len(coated(run)) > 0
}

// accountLen is the number of characters of a Bittensor account's address (format SS58, in base
// 58).
const accountLen = 48

var isBase58 = setOf(base58Letters)
var ofAddresses = strings.NewReplacer("-", "+", "_", "/") // replaces the two characters of URL-safe base64 by those of standard base64

// longRunsOf returns a function for the spans field of a rule. The function returns the recorded
// sequences of at least n base64 characters. Each is extended by a byte on either side, which the
// rule's expression checks too.
func longRunsOf(n int) func(string, *hits) []span {
	return func(text string, h *hits) []span {
		var out []span
		for _, s := range h.runs {
			if s.end-s.start >= n {
				out = append(out, span{max(0, s.start-1), min(len(text), s.end+1)})
			}
		}
		return out
	}
}

// coat is a part of a text that is encoded in base64, with its offsets and the text that it decodes
// to.
type coat struct {
	span
	text string
}

// coated splits run, a sequence of base64 characters and dots, at its dots, and returns the parts
// that are long enough and decode to text, with the decoded text. Offsets count from the start of
// run.
func coated(run string) []coat {
	var out []coat
	index := 0
	for part := range strings.SplitSeq(run, ".") {
		if text, ok := fromBase64(part); ok {
			out = append(out, coat{span{index, index + len(part)}, text})
		}
		index += len(part) + 1
	}
	return out
}

// encoded finds secrets in base64. items are long sequences of base64 characters in text, and
// coats is the number of nested base64 encodings to decode. A finding comprises the complete
// encoded part, since what surrounds the secret in it is of no use.
func (r *Redactor) encoded(
	text string,
	items []span,
	coats int,
) []Finding {
	var out []Finding
	for _, s := range items {
		if coats == 0 {
			break
		}
		for _, c := range coated(text[s.start:s.end]) {
			findings := r.scan(c.text, coats-1)
			if len(findings) == 0 {
				continue
			}
			start, end := s.start+c.start, s.start+c.end
			for end < len(text) && text[end] == '=' {
				end++
			}
			out = append(out, Finding{findings[0].Kind, start, end})
		}
	}
	return out
}

func fromBase64(run string) (string, bool) {
	const shortest = 24
	if len(run) < shortest {
		return "", false
	}
	run = ofAddresses.Replace(run)
	if len(run)%4 == 1 { // no base64 has this length: one character too many precedes or follows
		run = run[:len(run)-1]
	}
	b, err := base64.RawStdEncoding.DecodeString(run)
	if err != nil || !readable(b) || !utf8.Valid(b) {
		return "", false
	}
	return string(b), true
}

// readable reports whether b has no ASCII control characters except tabs, line feeds and carriage
// returns.
func readable(b []byte) bool {
	for _, c := range b {
		if c != '\n' && c != '\r' && c != '\t' && unicode.IsControl(rune(c)) && c < utf8.RuneSelf {
			return false
		}
	}
	return true
}
