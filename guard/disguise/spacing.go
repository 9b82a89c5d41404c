package disguise

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// minSeparated is the number of separated letters in a text from which they are
// neither initials nor a list of sizes, minRunLetters the number of letters in a
// run, which is at least a short word.
const (
	minSeparated  = 8
	minRunLetters = 3
)

// separators are the signs that may separate the letters of a text.
const separators = `.-_*|~,+/`

// separatedRuns are, by separator, runs in which it is every second character.
var separatedRuns = func() map[byte]*regexp.Regexp {
	patterns := map[byte]*regexp.Regexp{}
	for _, sign := range []byte(separators) {
		q := regexp.QuoteMeta(string(sign))
		patterns[sign] = regexp.MustCompile(`(?:[^` + q + `]` + q + `)+[^` + q + `]`)
	}
	return patterns
}()

// alternates reports whether sign is the first and third of three bytes anywhere in
// text. It is a fast test before a regular expression.
func alternates(text string, sign byte) bool {
	for i := 0; i+3 < len(text); i++ {
		if text[i] == sign && text[i+2] == sign && text[i+1] != sign {
			return true
		}
	}
	return false
}

// spacedRun matches single characters between blanks, wordGap the blanks between
// words within such a run.
var (
	spacedRun = regexp.MustCompile(`(?:^|\s)(?:\S\s+){7,}\S(?:\s|$)`)
	wordGap   = regexp.MustCompile(`\s{2,}|\n`)
)

// normaliseSpacing joins letters that blanks or signs separate ("r a t c h e t",
// "r.a.t") and splits words without blanks between them.
func normaliseSpacing(text string, known func(string) bool) string {
	for _, sign := range []byte(separators) {
		if alternates(text, sign) {
			text = removeSeparators(text, separatedRuns[sign])
		}
	}
	if alternates(text, ' ') {
		text = spacedRun.ReplaceAllStringFunc(text, joinSpaced)
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

// removeSeparators removes every second character of the runs with enough letters.
// It returns text itself if they have too few in total.
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

// unspacedRun matches letters and digits that may be several words; runs longer
// than maxRun are data.
var unspacedRun = regexp.MustCompile(`[A-Za-z0-9]{16,}`)

const maxRun = 600

// maxKnown is the maximum length of a piece that may be a word.
const maxKnown = 16

// The costs of the pieces of a run. A known word of any length costs one, so that
// few long words are best, a letter outside a word two.
const (
	costWord   = 1.0
	costLetter = 2.0
	costDigits = 0.5
)

// splitWords splits run into the pieces of the lowest total cost. It returns run
// itself unless most of its letters are in known words.
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

// pieceStarts returns, for each end of a prefix of run, the start of the last piece
// of its cheapest split, -1 for a letter outside a word.
func pieceStarts(run string, known func(string) bool) []int {
	cost := make([]float64, len(run)+1)
	starts := make([]int, len(run)+1)
	for end := 1; end <= len(run); end++ {
		cost[end] = cost[end-1] + costLetter
		starts[end] = -1
		for start := max(0, end-maxKnown); start < end; start++ {
			c := pieceCost(run[start:end], known)
			if c > 0 && cost[start]+c < cost[end] {
				cost[end] = cost[start] + c
				starts[end] = start
			}
		}
	}
	return starts
}

// hasWords reports whether at least half of the letters are in pieces of some
// length: data with digits in between has no such pieces.
func hasWords(pieces []string, letters int) bool {
	n := 0
	for _, p := range pieces {
		if len(p) >= minWord {
			n += len(strings.Trim(p, "0123456789"))
		}
	}
	return 2*n >= letters
}

// pieceCost returns the cost of a piece, 0 if it is neither a number nor a word.
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
