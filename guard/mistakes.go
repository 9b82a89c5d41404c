package guard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Mistakes counts the tasks that a guard for other tasks drops by mistake: the request of one, or an
// attempt at it. attempts has the attempts by the request of their task. isOther reports whether two
// entries of the bank are known to be different tasks: to drop the same task in another wording is
// right. Requests with a near duplicate in the bank are left out for the same reason, and those of
// which no other task is known. A near duplicate has most runs of eight words in common (the n-gram
// tier), or the share minSharedWords of all different words, so that the detector of reworded requests
// does not judge itself. honest is the number of the requests that remain.
func (g *Guard) Mistakes(
	attempts map[string][]Candidate,
	isOther func(a, b *Entry) bool,
) (dropped, honest int, err error) {
	isNear := nearDuplicates(g.bank)
	for i := range g.bank {
		e := &g.bank[i]
		others := slicesx.FilterMap(g.bank, func(o Entry) (Entry, bool) { return o, isOther(e, &o) })
		if isNear[i] || len(others) == 0 {
			continue
		}
		honest++
		stranger, err := New(others, Config{Precomputed: &FalseDrops{Threshold: g.config.Drop}})
		if err != nil {
			return 0, 0, err
		}
		rows := append([]Candidate{{Text: e.Text}}, attempts[e.Text]...)
		if slices.ContainsFunc(rows, func(c Candidate) bool { return stranger.Check(c).Drop }) {
			dropped++
		}
	}
	return dropped, honest, nil
}

// minSharedWords is the share of all different words of two requests, 0 to 1, that near duplicates
// have in common.
const minSharedWords = 0.6

// nearDuplicates reports for each entry of a bank whether another one is a near duplicate of it.
func nearDuplicates(bank []Entry) []bool {
	isNear := make([]bool, len(bank))
	words := slicesx.Map(bank, func(e Entry) map[string]bool { return wordsOf(e.Text) })
	runs := newNgramIndex(bank)
	for i := range bank {
		repeated := runs.count(bank[i].Text)
		for j := range bank {
			if i == j {
				continue
			}
			isRepeated := runs.isEnough(int32(j), repeated[int32(j)]) //nolint:gosec // a bank has fewer
			if isRepeated || shareWords(words[i], words[j]) {
				isNear[i] = true
				isNear[j] = true
			}
		}
	}
	return isNear
}

var wordPattern = regexp.MustCompile(`[\pL\pN']+`)

func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for _, w := range wordPattern.FindAllString(strings.ToLower(text), -1) {
		words[w] = true
	}
	return words
}

// shareWords reports whether two sets have minSharedWords of all their words in common.
func shareWords(a, b map[string]bool) bool {
	shared := 0
	for w := range a {
		if b[w] {
			shared++
		}
	}
	return float64(shared) >= minSharedWords*float64(len(a)+len(b)-shared)
}
