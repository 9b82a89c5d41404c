package daygen

import (
	"strings"

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

// nouns are the kinds of products in the generated shop, each with its department.
var nouns = []struct{ name, department string }{
	{"garden trowel", "Garden"}, {"ceramic planter", "Garden"}, {"hammock stand", "Garden"}, {"bird feeder", "Garden"},
	{"pasta roller", "Kitchen"}, {"bread knife", "Kitchen"}, {"tea infuser", "Kitchen"}, {"spice rack", "Kitchen"},
	{"rolling pin", "Kitchen"}, {"lunch thermos", "Kitchen"}, {"reading lamp", "Home"}, {"wall clock", "Home"},
	{"shower curtain", "Home"}, {"picture frame", "Home"}, {"laundry basket", "Home"}, {"door mat", "Home"},
	{"bicycle bell", "Sports"}, {"yoga block", "Sports"}, {"climbing chalk", "Sports"}, {"swim goggles", "Sports"},
	{"jump rope", "Sports"}, {"camping stove", "Outdoor"}, {"trail backpack", "Outdoor"}, {"rain poncho", "Outdoor"},
	{"head torch", "Outdoor"}, {"guitar capo", "Music"}, {"drum pad", "Music"}, {"music stand", "Music"},
	{"microphone cable", "Music"}, {"fountain pen", "Office"}, {"desk organizer", "Office"}, {"paper trimmer", "Office"},
	{"stapler", "Office"}, {"cat tunnel", "Pets"}, {"dog harness", "Pets"}, {"aquarium pump", "Pets"},
	{"phone tripod", "Electronics"}, {"travel adapter", "Electronics"}, {"webcam cover", "Electronics"}, {"trackball", "Electronics"},
}

var (
	materials = []string{"bamboo", "walnut", "aluminium", "linen", "rubber", "glass", "felt", "copper", "cork", "canvas"}
	styles    = []string{"nordic", "rustic", "industrial", "playful", "classic", "geometric", "vintage", "plain"}
	colours   = []string{"amber", "indigo", "coral", "mint", "charcoal", "ivory", "crimson", "turquoise"}
	sizes     = []string{"small", "medium", "large", "xl", "250 ml", "500 ml", "one size"}
	services  = []string{"official", "freeShipping", "COD", "flashsale"}
	features  = []string{"foldable", "washable", "weatherproof", "quiet", "lightweight", "magnetic", "adjustable", "stackable"}
	consonant = []string{"b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "kl", "st", "tr"}
	vowels    = []string{"a", "e", "i", "o", "u", "ai", "eo"}
)

// spoken maps each service of a product to the words in which a customer asks for it.
var spoken = map[string]string{
	"official": "from an official store", "freeShipping": "with free shipping",
	"COD": "with cash on delivery", "flashsale": "in the flash sale",
}

// word returns a random word of two to four syllables.
func (d *dice) word() string {
	var b strings.Builder
	for range d.between(2, 4) {
		b.WriteString(pick(d, consonant))
		b.WriteString(pick(d, vowels))
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
