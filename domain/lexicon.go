package domain

import (
	"maps"
	"regexp"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// BaseUnits are the units to which the guard converts the units that it knows in every domain.
var BaseUnits = []string{"mm", "ml", "g", "v", "w", "mah", "gb", "mo", "hz", "pct"}

// maxUnits is the maximum number of units of a domain.
const maxUnits = 100

// smallWord matches a word of small letters, or of a script without capitals.
var smallWord = regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{Lm}\p{M}]+$`)

// sign matches what may stand before an amount: letters, or a character that is no letter.
var sign = regexp.MustCompile(`^(?:[a-z]+|[^\pL\pN\s])$`)

// ValidateLexicon returns an error that lists what is wrong with a lexicon.
func ValidateLexicon(l *arena.Lexicon) error {
	var bad wrong.List
	validateLexicon(&bad, l)
	return bad.Err()
}

// isFactor reports whether amounts times x are no smaller or larger than the guard can compare.
func isFactor(x float64) bool { return x >= 1e-15 && x <= 1e15 }

func validateLexicon(bad *wrong.List, l *arena.Lexicon) {
	bases := 0
	hasRates := false
	for _, code := range slices.Sorted(maps.Keys(l.Currencies)) {
		c := l.Currencies[code]
		validateWords(bad, "lexicon.currencies."+code, append([]string{code}, c.Words...))
		bad.Unless(c.Rate == 0 || isFactor(c.Rate), "lexicon.currencies.%s.rate is %g: want the amount in the currency with the rate 1, from 1e-15 to 1e15", code, c.Rate)
		for _, s := range c.Signs {
			bad.Unless(sign.MatchString(s), "lexicon.currencies.%s.signs has %q: want small letters or one other character", code, s)
		}
		hasRates = hasRates || c.Rate > 0
		if c.Rate == 1 {
			bases++
		}
	}
	bad.Unless(!hasRates || bases == 1, "lexicon.currencies has %d currencies with the rate 1: want one, in which the other rates are", bases)
	bad.Unless(len(l.Units) <= maxUnits, "lexicon.units has %d units: want at most %d", len(l.Units), maxUnits)
	for _, name := range slices.Sorted(maps.Keys(l.Units)) {
		u := l.Units[name]
		validateWords(bad, "lexicon.units."+name, append([]string{name}, u.Words...))
		bad.Unless(isFactor(u.Factor), "lexicon.units.%s.factor is %g: want a number from 1e-15 to 1e15", name, u.Factor)
		_, isOwn := l.Units[u.Of]
		isBase := isOwn && l.Units[u.Of].Of == u.Of
		bad.Unless(isBase || slices.Contains(BaseUnits, u.Of), "lexicon.units.%s.of is %q: want a unit of the file that is of itself, or one of %s", name, u.Of, join(BaseUnits))
	}
	for _, group := range l.Synonyms {
		validateWords(bad, "lexicon.synonyms", group)
		bad.Unless(len(group) > 1, "lexicon.synonyms has %q: want two words or more", group)
	}
}

func validateWords(bad *wrong.List, key string, words []string) {
	for _, w := range words {
		bad.Unless(smallWord.MatchString(w), "%s has the word %q: want one word in small letters", key, w)
	}
}
