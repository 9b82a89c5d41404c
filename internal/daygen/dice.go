package daygen

import (
	_ "embed"
	"strings"

	"github.com/trajectory-arena/arena/internal/asjson"
	seeded "github.com/trajectory-arena/arena/internal/dice"
)

// dice is the source of random numbers for the generated data.
type dice struct{ *seeded.Dice }

func roll(seeds ...uint64) *dice { return &dice{seeded.New(seeds...)} }

// between returns a random number from low to high, both included.
func (d *dice) between(low, high int) int { return low + d.N(high-low+1) }

func (d *dice) chance(p float64) bool { return d.Share() < p }

func pick[T any](d *dice, items []T) T { return items[d.N(len(items))] }

// some returns n distinct random items in random order. It returns all items if there are fewer
// than n.
func some[T any](
	d *dice,
	n int,
	items []T,
) []T {
	remaining := append([]T(nil), items...)
	for i := range min(n, len(remaining)) {
		j := i + d.N(len(remaining)-i)
		remaining[i], remaining[j] = remaining[j], remaining[i]
	}
	return remaining[:min(n, len(remaining))]
}

// digits returns a random number of n digits, the first of which is not 0.
func (d *dice) digits(n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte('0' + d.N(10))
	}
	out[0] = byte('1' + d.N(9))
	return string(out)
}

func (d *dice) hex(n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = "0123456789abcdef"[d.N(16)]
	}
	return string(out)
}

func (d *dice) uuid() string {
	return d.hex(8) + "-" + d.hex(4) + "-4" + d.hex(3) + "-a" + d.hex(3) + "-" + d.hex(12)
}

// lexicon has the words of the generated shop: the kinds of products, each with its department, the
// values of their properties, and the sounds of invented words. Spoken maps each service of a product
// to the words in which a customer asks for it.
var lexicon = asjson.Parse[struct {
	Nouns                             []struct{ Name, Department string }
	Materials, Styles, Colours, Sizes []string
	Services, Features                []string
	Consonants, Vowels                []string
	Spoken                            map[string]string
}](wordsFile)

//go:embed words.json
var wordsFile []byte

// word returns a random word of two to four syllables.
func (d *dice) word() string {
	var b strings.Builder
	for range d.between(2, 4) {
		b.WriteString(pick(d, lexicon.Consonants))
		b.WriteString(pick(d, lexicon.Vowels))
	}
	return b.String()
}

func (d *dice) words(n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = d.word()
	}
	return words
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// sentence returns a random sentence for a product's description, with words from vocabulary and
// the given noun.
func (d *dice) sentence(vocabulary []string, noun string) string {
	var b strings.Builder
	b.WriteString(capital(pick(d, vocabulary)))
	for range d.between(5, 12) {
		b.WriteByte(' ')
		b.WriteString(pick(d, vocabulary))
	}
	b.WriteString(pick(d, []string{" for every ", ", made as a ", " and a ", ", the "}))
	b.WriteString(noun)
	b.WriteString(pick(d, []string{
		". ",
		".\n",
		"! ",
		" \"" + pick(d, vocabulary) + "\". ",
	}))
	return b.String()
}
