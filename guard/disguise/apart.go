package disguise

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// minApart is how many letters, each apart from the next, are no initials and no
// list of sizes any more; minStep is how many of them stand in a row, as those of
// a short word do.
const (
	minApart = 8
	minStep  = 3
)

// between are, by sign, stretches in which it is every second character.
var between = func() map[byte]*regexp.Regexp {
	all := map[byte]*regexp.Regexp{}
	for _, sign := range []byte(signs) {
		q := regexp.QuoteMeta(string(sign))
		all[sign] = regexp.MustCompile(`(?:[^` + q + `]` + q + `)+[^` + q + `]`)
	}
	return all
}()

const signs = `.-_*|~,+/`

// alternates reports whether sign is every second of five bytes somewhere: where
// it is not, no expression needs to be asked.
func alternates(text string, sign byte) bool {
	for i := 0; i+3 < len(text); i++ {
		if text[i] == sign && text[i+2] == sign && text[i+1] != sign {
			return true
		}
	}
	return false
}

// singles are single characters between blanks, wide the blanks between words
// among them.
var (
	singles = regexp.MustCompile(`(?:^|\s)(?:\S\s+){7,}\S(?:\s|$)`)
	wide    = regexp.MustCompile(`\s{2,}|\n`)
)

// together joins letters that blanks or signs set apart ("r a t c h e t",
// "r.a.t"), and parts words that run together where known tells their bounds.
func together(text string, known func(string) bool) string {
	for _, sign := range []byte(signs) {
		if alternates(text, sign) {
			text = joinAt(text, between[sign])
		}
	}
	if alternates(text, ' ') {
		text = singles.ReplaceAllStringFunc(text, joinSingles)
	}
	return runs.ReplaceAllStringFunc(text, func(run string) string {
		if len(run) > maxRun || known(strings.ToLower(run)) {
			return run
		}
		return parted(run, known)
	})
}

func joinSingles(run string) string {
	words := wide.Split(strings.TrimSpace(run), -1)
	for i, w := range words {
		words[i] = strings.Join(strings.Fields(w), "")
	}
	return " " + strings.Join(words, " ") + " "
}

// joinAt leaves out every second character of stretches that hold enough letters.
func joinAt(text string, stretch *regexp.Regexp) string {
	joined := 0
	out := stretch.ReplaceAllStringFunc(text, func(run string) string {
		var kept []rune
		letters := 0
		for i, r := range []rune(run) {
			if i%2 == 0 {
				kept = append(kept, r)
			}
			if i%2 == 0 && unicode.IsLetter(r) {
				letters++
			}
		}
		if letters < minStep {
			return run
		}
		joined += letters
		return string(kept)
	})
	if joined < minApart {
		return text
	}
	return out
}

// runs are letters and digits in which words may run together; longer ones than
// maxRun are data.
var runs = regexp.MustCompile(`[A-Za-z0-9]{16,}`)

const maxRun = 600

// maxKnown is the longest word that is asked for.
const maxKnown = 16

// What a piece of a run costs: a known word one, whatever its length, so that few
// long words win; a letter of no word two.
const (
	costWord   = 1.0
	costLetter = 2.0
	costDigits = 0.5
)

// parted cuts run where the pieces cost least; it stays whole unless most of its
// letters are in known words.
func parted(run string, known func(string) bool) string {
	lower := strings.ToLower(run)
	cost, from := make([]float64, len(run)+1), make([]int, len(run)+1)
	for to := 1; to <= len(run); to++ {
		cost[to], from[to] = cost[to-1]+costLetter, -1
		for at := max(0, to-maxKnown); at < to; at++ {
			if c := pieceCost(lower[at:to], known); c > 0 && cost[at]+c < cost[to] {
				cost[to], from[to] = cost[at]+c, at
			}
		}
	}
	var pieces []string
	strangers, end := 0, len(run)
	for to := len(run); to > 0; {
		at := from[to]
		if at < 0 { // a letter of no word: those in a row are one piece
			strangers++
			if to--; to == 0 || from[to] >= 0 {
				pieces, end = append(pieces, run[to:end]), to
			}
			continue
		}
		pieces, to, end = append(pieces, run[at:to]), at, at
	}
	if letters := len(strings.TrimFunc(lower, unicode.IsDigit)); 3*strangers > letters || len(pieces) < 2 || !hasWords(pieces, letters) {
		return run
	}
	slices.Reverse(pieces)
	return strings.Join(pieces, " ")
}

// hasWords reports whether at least half as many letters as there are stand in
// pieces that have some: digits between them make no words of data.
func hasWords(pieces []string, letters int) bool {
	n := 0
	for _, p := range pieces {
		if len(p) >= minWord {
			n += len(strings.Trim(p, "0123456789"))
		}
	}
	return 2*n >= letters
}

func pieceCost(piece string, known func(string) bool) float64 {
	switch {
	case strings.Trim(piece, "0123456789") == "":
		return costDigits
	case len(piece) == 1 && piece != "a" && piece != "i", !known(piece):
		return 0
	}
	return costWord
}
