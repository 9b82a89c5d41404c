package variety

import (
	"cmp"
	"slices"
	"unicode"

	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/internal/slicesx"
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

// read returns the hashes of the words and numbers of a text in order, without regard to case, and those
// of its numbers of at least minDigits digits, which may be parts of words. Equal words and numbers have
// equal hashes.
func read(text string) (words, numbers []uint64) {
	words = make([]uint64, 0, len(text)/4)
	word := uint64(0)
	number := uint64(0)
	digits := 0
	for _, r := range text + "\n" {
		if unicode.IsDigit(r) {
			word = hashOf(word, r)
			number = hashOf(number, r)
			digits++
			continue
		}
		if digits >= minDigits {
			numbers = append(numbers, number)
		}
		number = 0
		digits = 0
		switch {
		case r >= 'a' && r <= 'z': // as most characters are
			word = hashOf(word, r)
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			word = hashOf(word, unicode.ToLower(r))
		case word != 0:
			words = append(words, word)
			word = 0
		}
	}
	return words, numbers
}

// hashOf returns the hash (FNV-1a from 0) of a text that ends with the character last. hash is that
// of the characters before it, 0 if there are none.
func hashOf(hash uint64, last rune) uint64 { return (hash ^ uint64(last)) * 1_099_511_628_211 }

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

// similarities returns, for each row and each row before it, the number of grams that are in both
// divided by the number that are in at least one of them, 0 if a row has none.
func similarities(rows []*row) [][]float64 {
	type place struct {
		gram uint64
		row  int
	}
	var places []place
	out := make([][]float64, len(rows))
	for i, r := range rows {
		out[i] = make([]float64, i)
		for _, gram := range r.grams {
			places = append(places, place{gram, i})
		}
	}
	slicesx.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.gram, b.gram), a.row-b.row) })
	for n, p := range places {
		for k := n - 1; k >= 0 && places[k].gram == p.gram; k-- {
			out[p.row][places[k].row]++
		}
	}
	for i, list := range out {
		for j, both := range list {
			if both > 0 {
				list[j] = both / (float64(len(rows[i].grams)+len(rows[j].grams)) - both)
			}
		}
	}
	return out
}

// facts returns hashes of what a text can repeat of another: its sequences of three words, and its
// numbers of at least minDigits digits.
func facts(text string) []uint64 {
	words, numbers := read(text)
	return append(grams(words, gramWords), numbers...)
}

// thoughts returns four counts of the model's replies in messages. turns are all, reasoned those
// with reasoning. after are those that follow a tool result and contain a fact (three successive
// words, or a number); grounded are those of them that repeat a fact which only tool results
// contained before.
func thoughts(messages []chat.Message) (turns, reasoned, after, grounded int) {
	said := make([][]uint64, len(messages)) // the facts in each reply
	first := map[uint64]string{}            // the role that stated each of these facts first; results have many others
	for i := range messages {
		if m := &messages[i]; m.Role == chat.Assistant {
			said[i] = facts(m.Reasoning + "\n" + m.Content)
		}
		for _, fact := range said[i] {
			first[fact] = ""
		}
	}
	hasResults := false
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case chat.Tool:
			list := facts(m.Content)
			hasResults = hasResults || len(list) > 0
			learn(first, list, m.Role)
			continue
		case chat.Assistant:
			turns++
			if m.Reasoning != "" {
				reasoned++
			}
			if hasResults && len(said[i]) > 0 {
				after++
				if slices.ContainsFunc(said[i], func(fact uint64) bool { return first[fact] == chat.Tool }) {
					grounded++
				}
			}
		default:
			said[i] = facts(m.Reasoning + "\n" + m.Content)
		}
		for _, call := range m.Calls {
			said[i] = append(said[i], facts(string(call.Function.Arguments))...)
		}
		learn(first, said[i], m.Role)
	}
	return turns, reasoned, after, grounded
}

// learn sets the role that stated a fact first, for each fact in list that first has without a role.
func learn(first map[uint64]string, list []uint64, role string) {
	for _, fact := range list {
		if earlier, ok := first[fact]; ok && earlier == "" {
			first[fact] = role
		}
	}
}
