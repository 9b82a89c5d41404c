package variety

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/zeebo/xxh3"

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
	said := make([][]uint64, len(messages)) // the facts in each reply
	known := map[uint64]knowledge{}         // of these facts alone, since results have many others
	for i := range messages {
		if m := &messages[i]; m.Role == chat.Assistant {
			said[i] = facts(m.Reasoning + "\n" + m.Content)
		}
		for _, fact := range said[i] {
			known[fact] = knowledge{}
		}
	}
	hasResults := false
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case chat.Tool:
			list := facts(m.Content)
			hasResults = hasResults || len(list) > 0
			learn(known, list, func(k *knowledge) { k.shown = !k.told })
			continue
		case chat.Assistant:
			turns++
			if m.Reasoning != "" {
				reasoned++
			}
			if hasResults && len(said[i]) > 0 {
				after++
				if slices.ContainsFunc(said[i], func(fact uint64) bool { return known[fact].shown }) {
					grounded++
				}
			}
		default:
			said[i] = facts(m.Reasoning + "\n" + m.Content)
		}
		for _, call := range m.Calls {
			said[i] = append(said[i], facts(string(call.Function.Arguments))...)
		}
		learn(known, said[i], func(k *knowledge) { k.told = k.told || !k.shown })
	}
	return turns, reasoned, after, grounded
}

// knowledge is what is known of a fact: whether a message told it when no result had shown it, and
// whether a result showed it that was not told before.
type knowledge struct{ told, shown bool }

// learn calls change for each of the facts in list that known has.
func learn(known map[uint64]knowledge, list []uint64, change func(*knowledge)) {
	for _, fact := range list {
		if k, ok := known[fact]; ok {
			change(&k)
			known[fact] = k
		}
	}
}
