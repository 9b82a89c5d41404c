package lexical

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// defaultLexicon returns the lexicon of a bank that names none.
var defaultLexicon = sync.OnceValue(func() *lexicon {
	return loadLexicon().with(&(*domain.Set)(nil).ByName(domain.Shop).Lexicon)
})

// with returns a lexicon that has the words of a domain beside those of l.
func (l *lexicon) with(words *arena.Lexicon) *lexicon {
	out := *l
	out.units = maps.Clone(l.units)
	out.unitNames = slices.Clone(l.unitNames)
	out.synonyms = maps.Clone(l.synonyms)
	out.phrases = maps.Clone(l.phrases)
	out.base = map[string]bool{}
	out.prefixes = map[string]string{}
	out.own = map[string]bool{}
	out.longest = maps.Clone(l.longest)
	out.addCurrencies(words.Currencies)
	for _, name := range slicesx.SortedKeys(words.Units) {
		u := words.Units[name]
		fields := []string{u.Of, strconv.FormatFloat(u.Factor, 'g', -1, 64)}
		out.addUnit(append(fields, out.addOwn(name, u.Words)...))
	}
	for _, group := range words.Synonyms {
		out.addGroup(out.synonyms, out.addOwn(group[0], group[1:]))
	}
	return &out
}

// addOwn adds words of a domain to those that are found in a run of Chinese characters, and returns
// them in normal form (see foldText), as texts have them.
func (l *lexicon) addOwn(name string, words []string) []string {
	folded := []string{foldText(name)}
	for _, w := range words {
		folded = append(folded, foldText(w))
	}
	for _, w := range folded {
		l.own[w] = true
		l.addLongest(w)
	}
	return folded
}

// IsWord reports whether texts are read so that w is one word of them, as a word of a domain must be.
func IsWord(w string) bool {
	l := &lexicon{own: map[string]bool{}, longest: map[rune]int{}}
	w = l.addOwn(w, nil)[0]
	tokens := l.scan(w, nil)
	return len(tokens) == 1 && tokens[0].text == w
}

// addCurrencies adds the currencies of the program and those of a domain. Of the former only those
// with a rate of the domain are converted.
func (l *lexicon) addCurrencies(currencies map[string]arena.Currency) {
	var signs []string
	for _, words := range l.currencies {
		l.addCurrency(words, currencies[words[0]].Rate)
	}
	for _, code := range slicesx.SortedKeys(currencies) {
		c := currencies[code]
		words := l.addOwn(code, c.Words)
		for _, w := range words[1:] {
			delete(l.phrases, w) // such as that which takes the word for another currency
		}
		l.addCurrency(words, c.Rate)
		for _, s := range c.Signs {
			if isLower(s[0]) {
				l.prefixes[s] = words[0]
			} else {
				signs = append(signs, s, " "+code+" ")
			}
		}
	}
	if len(signs) > 0 {
		l.signs = strings.NewReplacer(signs...)
	}
}

// addCurrency adds the words of a currency. Its amounts are multiplied by rate; the rate 1 is that
// of the base currency.
func (l *lexicon) addCurrency(words []string, rate float64) {
	for _, w := range words {
		l.addLongest(w)
		delete(l.base, w)
		delete(l.units, w)
		switch rate {
		case 0:
			l.units[w] = unit{unrated, 1}
		case 1:
			l.base[w] = true
		default:
			l.units[w] = unit{money, rate}
		}
	}
}

// fold returns text in normal form (see foldText), with the signs of the domain's currencies as
// words.
func (l *lexicon) fold(text string) string {
	if l.signs != nil {
		text = l.signs.Replace(text)
	}
	return foldText(text)
}

// amount returns a number with its unit. It rounds to nine significant digits, so that 6 inches are
// 152.4 mm and not 152.39999999999998.
func (l *lexicon) amount(n number) string {
	return strings.TrimSpace(fmt.Sprintf("%.9g %s", n.value, l.unitNames[n.unit]))
}

// Currencies returns the codes of the currencies that the program knows and in which a text states
// amounts.
func Currencies(text string) []string {
	l := loadLexicon().with(&arena.Lexicon{})
	tokens := l.scan(l.fold(text), nil)
	return slicesx.FilterMap(l.currencies, func(words []string) (string, bool) {
		for i := range tokens {
			isBefore := i+1 < len(tokens) && tokens[i+1].isNumber()
			isAfter := i > 0 && tokens[i-1].isNumber()
			if slices.Contains(words, tokens[i].text) && (isBefore || isAfter) {
				return words[0], true
			}
		}
		return "", false
	})
}
