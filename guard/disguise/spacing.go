package disguise

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// minSeparated is the minimum number of separated letters in a text that removeSeparators joins:
// fewer may be initials or a list of sizes. minRunLetters is the minimum number of letters in one
// run of them, those of a short word.
const (
	minSeparated  = 8
	minRunLetters = 3
)

// separators are the signs that may be between the letters of a disguised text.
const separators = `.-_*|~,+/`

// separatedRuns maps each separator to an expression for text in which the separator is every
// second character, such as "r.a.t".
var separatedRuns = func() map[byte]*regexp.Regexp {
	patterns := map[byte]*regexp.Regexp{}
	for _, sign := range []byte(separators) {
		q := regexp.QuoteMeta(string(sign))
		patterns[sign] = regexp.MustCompile(`(?:[^` + q + `]` + q + `)+[^` + q + `]`)
	}
	return patterns
}()

// alternates reports whether sign occurs twice in text with exactly one other byte between, and not
// at its end, as in "r.a.t". It is a fast test before a regular expression.
func alternates(text string, sign byte) bool {
	for i := 0; i+3 < len(text); i++ {
		if text[i] == sign && text[i+2] == sign && text[i+1] != sign {
			return true
		}
	}
	return false
}

// spacedRun matches eight or more single characters with blanks between them. wordGap matches the
// wider blanks, or a new line, between the words of such a run.
var (
	spacedRun = regexp.MustCompile(`(?:^|\s)(?:\S\s+){7,}\S(?:\s|$)`)
	wordGap   = regexp.MustCompile(`\s{2,}|\n`)
)

// normaliseSpacing joins letters that blanks or signs separate ("r a t c h e t", "r.a.t"), and puts
// spaces between words that are written without blanks. known reports whether a word in lower case
// is one of the language.
func normaliseSpacing(text string, known func(string) bool) string {
	for _, sign := range []byte(separators) {
		if alternates(text, sign) {
			text = removeSeparators(text, separatedRuns[sign])
		}
	}
	if alternates(text, ' ') {
		text = spacedRun.ReplaceAllStringFunc(text, joinSpaced)
	}
	if !mayHaveEncoded(text) { // the expression is slow, and what it matches is of the same length
		return text
	}
	return unspacedRun.ReplaceAllStringFunc(text, func(run string) string {
		if len(run) > maxRun || known(strings.ToLower(run)) {
			return run
		}
		return splitWords(run, known)
	})
}

func joinSpaced(run string) string {
	words := wordGap.Split(strings.TrimSpace(run), -1)
	for i, w := range words {
		words[i] = strings.Join(strings.Fields(w), "")
	}
	return " " + strings.Join(words, " ") + " "
}

// removeSeparators removes the separators from runs such as "r.a.t", which pattern matches and in
// which every second character is a separator. A run needs at least minRunLetters letters. If these
// runs have fewer than minSeparated letters in total, it returns text itself.
func removeSeparators(text string, pattern *regexp.Regexp) string {
	total := 0
	out := pattern.ReplaceAllStringFunc(text, func(run string) string {
		var joined []rune
		letters := 0
		for i, r := range []rune(run) {
			if i%2 != 0 {
				continue
			}
			joined = append(joined, r)
			if unicode.IsLetter(r) {
				letters++
			}
		}
		if letters < minRunLetters {
			return run
		}
		total += letters
		return string(joined)
	})
	if total < minSeparated {
		return text
	}
	return out
}

// unspacedRun matches a run of letters and digits that may be several words without blanks. Runs
// longer than maxRun bytes are data.
var unspacedRun = regexp.MustCompile(`[A-Za-z0-9]{16,}`)

const maxRun = 600

// maxKnown is the maximum length in bytes of a known word that splitWords finds in a run without
// blanks.
const maxKnown = 16

// The costs by which splitWords chooses a split: of a known word of any length, of a letter outside
// a word, and of a number. A split into few long words is the cheapest.
const (
	costWord   = 1.0
	costLetter = 2.0
	costDigits = 0.5
)

// splitWords splits run, which has no blanks, into known words, numbers and other letters at the
// lowest total cost (see pieceCost), and joins the pieces with spaces. It returns run itself if it
// is one piece, if more than a third of its letters are outside known words, or if most letters are
// in pieces too short for words (see hasWords). known reports whether a word in lower case is
// known.
func splitWords(run string, known func(string) bool) string {
	lower := strings.ToLower(run)
	starts := pieceStarts(lower, known)
	var pieces []string
	unknown := 0
	pieceEnd := len(run)
	for end := len(run); end > 0; {
		start := starts[end]
		if start >= 0 {
			pieces = append(pieces, run[start:end])
			end = start
			pieceEnd = start
			continue
		}
		// A letter outside a word. Consecutive ones are one piece.
		unknown++
		end--
		if end == 0 || starts[end] >= 0 {
			pieces = append(pieces, run[end:pieceEnd])
			pieceEnd = end
		}
	}

	letters := len(strings.TrimFunc(lower, unicode.IsDigit))
	if 3*unknown > letters || len(pieces) < 2 || !hasWords(pieces, letters) {
		return run
	}
	slices.Reverse(pieces)
	return strings.Join(pieces, " ")
}

// pieceStarts finds the split of lowest cost of every prefix of run into known words, numbers and
// other letters. starts[end], an element of the result, is the start of the last piece of
// run[:end], or -1 if run[end-1] is a letter outside a word.
func pieceStarts(run string, known func(string) bool) []int {
	cost := make([]float64, len(run)+1)
	starts := make([]int, len(run)+1)
	for end := 1; end <= len(run); end++ {
		cost[end] = cost[end-1] + costLetter
		starts[end] = -1
		for start := max(0, end-maxKnown); start < end; start++ {
			if cost[start]+costDigits >= cost[end] { // a piece costs at least costDigits
				continue
			}
			c := pieceCost(run[start:end], known)
			if c > 0 && cost[start]+c < cost[end] {
				cost[end] = cost[start] + c
				starts[end] = start
			}
		}
	}
	return starts
}

// hasWords reports whether at least half of a text's letters, whose number is letters, are in
// pieces of at least minWord bytes. Data in which digits alternate with letters has no such pieces.
func hasWords(pieces []string, letters int) bool {
	n := 0
	for _, p := range pieces {
		if len(p) >= minWord {
			n += len(strings.Trim(p, "0123456789"))
		}
	}
	return 2*n >= letters
}

// pieceCost returns the cost of a piece in a split: costDigits for a number, costWord for a known
// word. It returns 0 for any other text, which must not be a piece.
func pieceCost(piece string, known func(string) bool) float64 {
	isNumber := strings.Trim(piece, "0123456789") == ""
	isSingle := len(piece) == 1 && piece != "a" && piece != "i"
	switch {
	case isNumber:
		return costDigits
	case isSingle, !known(piece):
		return 0
	}
	return costWord
}
