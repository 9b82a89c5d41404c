package redact

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shortestRun is the least length of what a run is searched for: 24 bytes in
// base64.
const shortestRun = 32

// sample looks at one byte in so many, which shows every long run and every
// phrase of words.
func (h *hits) sample(text string) {
	end := 0
	for i := sampleStride - 1; i < len(text); i += sampleStride {
		if i < end {
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
		case i >= h.phrased && listed(text, s):
			h.phraseAt(text, s)
		}
	}
}

// sampleStride is below the length of the shortest run and of half the shortest
// phrase, so that one look of the two that a phrase gets falls on a word of it.
const sampleStride = shortestRun - 1

// isRun are the letters of base64, also as addresses write it, and the point
// between the parts of keys.
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

// telling reports whether a run may be a part of a secret: it decodes to text,
// has two points, or holds as many letters of base 58 as an account has. Hashes
// and ids, which every trace is full of, are none of that.
func telling(text string, s span) bool {
	run := text[s.start:s.end]
	return strings.Count(run, ".") >= 2 || len(stretches(run, &isBase58, accountLen)) > 0 || len(coated(run)) > 0
}

const accountLen = 48

var isBase58 = setOf(base58Letters)
var ofAddresses = strings.NewReplacer("-", "+", "_", "/") // base64 as addresses write it, as others do

// longRunsOf returns a function for the runs of n bytes and more, with a byte on either
// side.
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

// coat is text that stood in base64 at a place of a run.
type coat struct {
	span
	text string
}

// coated returns the parts of a run between dots that decode to text.
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

// encoded returns the runs that hold a finding in base64. The finding is the complete run,
// since the encoded text around the secret is of no use.
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
	if len(run)%4 == 1 { // no encoding ends so: one letter too many stands before or behind
		run = run[:len(run)-1]
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
