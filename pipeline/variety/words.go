package variety

import (
	"slices"
	"strings"
	"unicode"

	"github.com/zeebo/xxh3"

	"github.com/trajectory-arena/arena/corpus/chat"
)

const (
	// gramWords is the number of words in each of the sequences (grams) by which texts are
	// compared.
	gramWords = 3
	// openingWords is the number of words at the start of two rows that must be equal for the rows
	// to have the same opening.
	openingWords = 8
	// minDigits is the minimum number of digits of a number, such as a price or an ID, that counts
	// by itself as something that a text can repeat.
	minDigits = 3
)

// words returns the hashes of the words and numbers of a text in order, without regard to case.
func words(text string) []uint64 {
	var out []uint64
	isBreak := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), isBreak) {
		out = append(out, xxh3.HashString(word))
	}
	return out
}

// grams returns the hash of each sequence of n values, which are hashes of words, in order. It
// returns one hash for fewer than n values, none for no values.
func grams(words []uint64, n int) []uint64 {
	if len(words) == 0 {
		return nil
	}
	n = min(n, len(words))
	out := make([]uint64, 0, len(words)-n+1)
	for i := range len(words) - n + 1 {
		hash := uint64(0)
		for _, word := range words[i : i+n] {
			hash = hash*1_000_003 + word
		}
		out = append(out, hash)
	}
	return out
}

// set returns the distinct values, sorted.
func set(values []uint64) []uint64 {
	out := slices.Clone(values)
	slices.Sort(out)
	return slices.Compact(out)
}

// jaccard returns the number of values that are in both of two sorted sets, divided by the number
// that are in at least one of them. It returns 0 if a set is empty.
func jaccard(a, b []uint64) float64 {
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both++
			i++
			j++
		}
	}
	if both == 0 {
		return 0
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// facts returns hashes of what a text can repeat of another: its sequences of three words, and its
// numbers of at least minDigits digits.
func facts(text string) []uint64 {
	out := grams(words(text), gramWords)
	for number := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsDigit(r) }) {
		if len(number) >= minDigits {
			out = append(out, xxh3.HashString(number))
		}
	}
	return out
}

// thoughts returns four counts of the model's replies in messages. turns are all, reasoned those
// with reasoning. after are those that follow a tool result and contain a fact (three successive
// words, or a number); grounded are those of them that repeat a fact which only tool results
// contained before.
func thoughts(messages []chat.Message) (turns, reasoned, after, grounded int) {
	told := map[uint64]bool{}
	shown := map[uint64]bool{}
	for i := range messages {
		m := &messages[i]
		if m.Role == chat.Tool {
			for _, fact := range facts(m.Content) {
				shown[fact] = !told[fact]
			}
			continue
		}
		said := facts(m.Reasoning + "\n" + m.Content)
		if m.Role == chat.Assistant {
			turns++
			if m.Reasoning != "" {
				reasoned++
			}
			if len(shown) > 0 && len(said) > 0 {
				after++
				if slices.ContainsFunc(said, func(fact uint64) bool { return shown[fact] }) {
					grounded++
				}
			}
		}
		for _, call := range m.Calls {
			said = append(said, facts(string(call.Function.Arguments))...)
		}
		for _, fact := range said {
			if !shown[fact] {
				told[fact] = true
			}
		}
	}
	return turns, reasoned, after, grounded
}
