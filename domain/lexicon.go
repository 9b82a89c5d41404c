package domain

import (
	"maps"
	"regexp"
	"slices"

	"github.com/trajectory-arena/arena/internal/wrong"
)

// BaseUnits are the units to which the guard converts the units that it knows in every domain.
var BaseUnits = []string{"mm", "ml", "g", "v", "w", "mah", "gb", "mo", "hz", "pct"}

// maxUnits is the maximum number of units of a domain.
const maxUnits = 100

// plainWord matches a word that a text in lower case and without accents has.
var plainWord = regexp.MustCompile(`^[\p{Ll}\p{Lo}]+$`)

// sign matches what may stand before an amount: letters, or a character that is no letter.
var sign = regexp.MustCompile(`^(?:[a-z]+|[^\pL\pN\s])$`)

// validateLexicon adds to bad what is wrong with the lexicon.
func (d *Domain) validateLexicon(bad *wrong.List) {
	bases := 0
	hasRates := false
	for _, code := range slices.Sorted(maps.Keys(d.Lexicon.Currencies)) {
		c := d.Lexicon.Currencies[code]
		validateWords(bad, "lexicon.currencies."+code, append([]string{code}, c.Words...))
		bad.Unless(c.Rate >= 0, "lexicon.currencies.%s.rate is %g: want the amount in the currency with the rate 1", code, c.Rate)
		for _, s := range c.Signs {
			bad.Unless(sign.MatchString(s), "lexicon.currencies.%s.signs has %q: want small letters or one other character", code, s)
		}
		hasRates = hasRates || c.Rate > 0
		if c.Rate == 1 {
			bases++
		}
	}
	bad.Unless(!hasRates || bases == 1, "lexicon.currencies has %d currencies with the rate 1: want one, in which the other rates are", bases)
	bad.Unless(len(d.Lexicon.Units) <= maxUnits, "lexicon.units has %d units: want at most %d", len(d.Lexicon.Units), maxUnits)
	for _, name := range slices.Sorted(maps.Keys(d.Lexicon.Units)) {
		u := d.Lexicon.Units[name]
		validateWords(bad, "lexicon.units."+name, append([]string{name}, u.Words...))
		bad.Unless(u.Factor > 0, "lexicon.units.%s.factor is %g: want a number above 0", name, u.Factor)
		_, isOwn := d.Lexicon.Units[u.Of]
		isBase := isOwn && d.Lexicon.Units[u.Of].Of == u.Of
		bad.Unless(isBase || slices.Contains(BaseUnits, u.Of), "lexicon.units.%s.of is %q: want a unit of the file that is of itself, or one of %s", name, u.Of, join(BaseUnits))
	}
	for _, group := range d.Lexicon.Synonyms {
		validateWords(bad, "lexicon.synonyms", group)
		bad.Unless(len(group) > 1, "lexicon.synonyms has %q: want two words or more", group)
	}
}

func validateWords(bad *wrong.List, key string, words []string) {
	for _, w := range words {
		bad.Unless(plainWord.MatchString(w), "%s has the word %q: want one word in small letters", key, w)
	}
}
