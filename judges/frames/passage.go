package frames

import (
	"strings"

	"github.com/trajectory-arena/arena"
)

const (
	// firstGate is the number of the first gate that thinking can pass. The gates are four tests,
	// taken in order, that decide the grade. Gate 1 is about the length of the model's replies;
	// gate 2, the first about thinking, asks for a remark on tool results.
	firstGate = 2
	// maxQuoted is the number of consecutive words from which on a part of a passage that is also
	// in the request counts as a quotation. Quotations are removed from the passage.
	maxQuoted = 16
	// minQuoted is the number of consecutive words that counts as a quotation of the request where
	// the question is whether a passage mostly repeats the request.
	minQuoted = 8
)

// Passage is the text that decided the grade of one attempt, empty if none did.
type Passage struct {
	// Problem is the ID of the problem, Request the text of the request or a hash of it, and Day
	// the date on which the agent ran. The last two are empty if they are unknown.
	Agent, Problem, Request, Day, Text string
	Marks
}

// DecidingPassage returns the passage that a judgement cites for the last gate
// passed, a remark, a datum or a reasoned choice; empty if it cites none. A passage that mostly repeats
// the request gives way to that of the gate before it, and parts of maxQuoted words or more that
// the request has are left out: a program that repeats the request before its sentence gains no other
// wording by that, nor by the titles of results (see WithoutTitles). turns are those of the attempt.
func DecidingPassage(j *arena.Judgement, request string, turns []arena.Turn) string {
	requested := strings.Join(strings.Fields(request), " ")
	var words []string
	for _, s := range j.Spans {
		if s.Gate < firstGate {
			continue
		}
		cited := strings.Fields(s.Quote)
		isRequest := 2*len(withoutQuotes(cited, requested, minQuoted)) < len(cited)
		if words == nil || !isRequest {
			words = cited
		}
	}
	return WithoutTitles(strings.Join(withoutQuotes(words, requested, maxQuoted), " "), turns)
}

// withoutQuotes returns the words of a passage without its quotations of the request: parts of n or
// more consecutive words that requested, the text of the request, contains.
func withoutQuotes(words []string, requested string, n int) []string {
	isQuoted := make([]bool, len(words))
	for i := 0; i+n <= len(words); i++ {
		if strings.Contains(requested, strings.Join(words[i:i+n], " ")) {
			for k := i; k < i+n; k++ {
				isQuoted[k] = true
			}
		}
	}
	var remaining []string
	for i, word := range words {
		if !isQuoted[i] {
			remaining = append(remaining, word)
		}
	}
	return remaining
}
