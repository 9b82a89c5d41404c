package disguise

import (
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

// together joins letters that blanks or signs set apart ("r a t c h e t",
// "r.a.t"), and parts words that run together where known tells their bounds.
func together(text string, known func(string) bool) string {
	joined := text
	for _, sign := range [...]rune{'.', '-', '_', '*', '|', '·', '•', '~', ',', '+', '/'} {
		if strings.ContainsRune(text, sign) {
			joined = joinAt(joined, sign)
		}
	}
	return part(joinBlanks(joined), known)
}

// joinAt takes sign out of stretches in which it is every second character.
func joinAt(text string, sign rune) string {
	runes := []rune(text)
	out, joined := make([]rune, 0, len(runes)), 0
	for i := 0; i < len(runes); {
		end, letters := i, 0
		for end+1 < len(runes) && runes[end] != sign && runes[end+1] == sign {
			if unicode.IsLetter(runes[end]) {
				letters++
			}
			end += 2
		}
		if letters+1 < minStep {
			end = max(end, i+1)
			out, i = append(out, runes[i:end]...), end
			continue
		}
		for ; i < end; i += 2 {
			out = append(out, runes[i])
		}
		// No sign follows the last letter of the stretch.
		if joined += letters; end < len(runes) {
			out, i = append(out, runes[end]), end+1
		}
	}
	if joined < minApart {
		return text
	}
	return string(out)
}

// joinBlanks joins stretches of single characters between blanks. A wider blank
// in them is one between words.
func joinBlanks(text string) string {
	var out, run strings.Builder
	singles, from := 0, 0
	flush := func(to int) {
		if singles >= minApart {
			out.WriteString(run.String())
		} else {
			out.WriteString(text[from:to])
		}
		run.Reset()
		singles, from = 0, to
	}
	for at := 0; at < len(text); {
		end := at + len(text[at:]) - len(strings.TrimLeftFunc(text[at:], func(r rune) bool { return !unicode.IsSpace(r) }))
		gap := len(text[end:]) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		if word := []rune(text[at:end]); len(word) > 1 {
			flush(at)
			out.WriteString(text[at : end+gap])
			from = end + gap
		} else {
			run.WriteString(text[at:end])
			if singles++; gap > 1 || strings.Contains(text[end:end+gap], "\n") {
				run.WriteByte(' ')
			}
		}
		at = end + gap
	}
	flush(len(text))
	return out.String()
}

// Words that run together are looked for in runs of at least minRun letters and
// parted up to maxRun: longer ones are data.
const (
	minRun = 16
	maxRun = 600
)

// part puts blanks between words that run together.
func part(text string, known func(string) bool) string {
	var out strings.Builder
	for piece := range runs(text) {
		if n := len(piece); n < minRun || n > maxRun || known(strings.ToLower(piece)) {
			out.WriteString(piece)
			continue
		}
		out.WriteString(parted(piece, known))
	}
	return out.String()
}

// runs yields text in runs of ASCII letters and digits and what is between them.
func runs(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		for i := 1; i <= len(text); i++ {
			if i == len(text) || isRunByte(text[i]) != isRunByte(text[start]) {
				if !yield(text[start:i]) {
					return
				}
				start = i
			}
		}
	}
}

func isRunByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

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
