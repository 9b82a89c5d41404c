package lexical

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lexiconFiles contains the word lists of the lexicon (see lexicon), compiled into the program.
//
//go:embed lexicon/*.txt
var lexiconFiles embed.FS

// lexicon holds what is known of words whatever requests are protected: stop words, synonyms,
// translations, units and so on.
type lexicon struct {
	stop       map[string]bool
	talk       map[string]bool            // words that a text may add to a request, in each form
	attributes map[string]bool            // words that a text may leave out, in each form
	ranges     map[string]bool            // words between the two ends of a range
	refusals   map[string]bool            // words that negate a bound
	roles      map[string]map[string]bool // words by their role in a sentence, such as "negation"
	synonyms   map[string][]int32         // from stems to groups of synonyms
	related    map[string][]int32         // from stems to groups of related words
	groups     int32                      // number of groups of both kinds
	foreign    map[string][]string        // from foreign words to English ones
	longest    map[rune]int               // number of runes of the longest word that starts with a letter
	classes    map[string][]classValue
	names      []string // of the classes
	hard       []bool   // whether two values of the class exclude each other even if two authors wrote them
	phrases    map[string][]phrase
	inPhrase   map[string]bool // words of the phrases
	units      map[string]unit
	// unitNames are the names of units by unitName.
	unitNames []string
	numerals  map[string]int
	// currencies has the lines of currencies.txt: a code and words.
	currencies [][]string
	// base holds the words of the currency to which amounts in other currencies are converted.
	base map[string]bool
	// own has the words of the domain.
	own map[string]bool
	// prefixes has words that are a currency's sign before a number, with its code. signs replaces
	// the other signs of the domain's currencies by their codes.
	prefixes map[string]string
	signs    *strings.Replacer
}

// classValue is a value of a closed class of words, such as the colour red: class is the index of
// the class (colour), value the index of the value (red) in the class.
type classValue struct{ class, value uint8 }

// phrase is a sequence of words in a text, and the words by which it is replaced. The word gapWord
// in it matches up to maxGap words of the text.
type phrase struct {
	words       []string
	replacement []string
}

const gapWord = "_"

const maxGap = 2

// unit is a unit of measure: name is the unit that amounts are converted to, and factor the number
// to multiply by. For cm they are mm and 10.
type unit struct {
	name   unitName
	factor float64
}

// unitName identifies a unit that amounts are converted to. Its zero value means that a number has no
// unit.
type unitName uint8

// loadLexicon returns the embedded lexicon, which is that of any domain without the words of its
// own. It parses the files on the first call and panics if one
// is invalid, since they are fixed at build time.
var loadLexicon = sync.OnceValue(func() *lexicon {
	l := &lexicon{
		stop:       map[string]bool{},
		talk:       map[string]bool{},
		attributes: map[string]bool{},
		ranges:     map[string]bool{},
		refusals:   map[string]bool{},
		roles:      map[string]map[string]bool{},
		synonyms:   map[string][]int32{},
		related:    map[string][]int32{},
		foreign:    map[string][]string{},
		classes:    map[string][]classValue{},
		phrases:    map[string][]phrase{},
		inPhrase:   map[string]bool{},
		longest:    map[rune]int{},
		units:      map[string]unit{},

		unitNames: []string{"", moneyName, ""},
		numerals:  map[string]int{},
	}
	eachEntry("stop", func(fields []string) {
		for _, w := range fields {
			l.stop[w] = true
			l.stop[stem(w)] = true
		}
	})
	eachEntry("talk", func(fields []string) {
		for _, w := range fields {
			addForms(l.talk, w)
		}
	})
	eachEntry("attributes", func(fields []string) {
		for _, w := range fields {
			addAll(l.attributes, []string{w, w + "s"})
		}
	})
	eachEntry("ranges", func(fields []string) {
		addAll(l.ranges, fields)
	})
	eachEntry("refusals", func(fields []string) {
		addAll(l.refusals, fields)
	})
	eachEntry("roles", func(fields []string) {
		if l.roles[fields[0]] == nil {
			l.roles[fields[0]] = map[string]bool{}
		}
		addAll(l.roles[fields[0]], fields[1:])
	})
	eachEntry("synonyms", func(fields []string) { l.addGroup(l.synonyms, fields) })
	eachEntry("related", func(fields []string) { l.addGroup(l.related, fields) })
	eachEntry("foreign", l.addForeign)
	eachEntry("classes", l.addClass)
	eachEntry("phrases", l.addPhrase)
	eachEntry("units", l.addUnit)
	eachEntry("currencies", func(fields []string) {
		l.currencies = append(l.currencies, fields)
	})
	eachEntry("numberwords", func(fields []string) {
		l.numerals[fields[0]] = must(strconv.Atoi(fields[1]))
	})
	return l
})

// addForms adds a word to set with the forms that it has as a noun or a verb: "trim", "trims", "trimmed"
// and "trimming", but not "trimmer", which is another thing.
func addForms(set map[string]bool, w string) {
	start := strings.TrimSuffix(w, "e")
	doubled := w + w[len(w)-1:]
	addAll(set, []string{w, w + "s", w + "es", start + "ed", start + "ing", doubled + "ed", doubled + "ing"})
	if y, ok := strings.CutSuffix(w, "y"); ok {
		addAll(set, []string{y + "ies", y + "ied"})
	}
}

func addAll(set map[string]bool, words []string) {
	for _, w := range words {
		set[w] = true
	}
}

// eachEntry calls add with the fields of every line of an embedded lexicon file. It skips blank
// lines and lines that start with #.
func eachEntry(file string, add func(fields []string)) {
	content := must(lexiconFiles.ReadFile("lexicon/" + file + ".txt"))
	for line := range strings.Lines(string(content)) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0][0] != '#' {
			add(fields)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("read embedded lexicon: %v", err))
	}
	return v
}

// addGroup adds a group of words with the same or a related meaning to groups, the synonyms or the
// related words of the lexicon.
func (l *lexicon) addGroup(groups map[string][]int32, words []string) {
	l.groups++
	for _, w := range words {
		s := stem(w)
		groups[s] = append(slices.Clip(groups[s]), l.groups)
	}
}

// groupsOf returns the groups of synonyms and of related words that have the stem.
func (l *lexicon) groupsOf(stem string) []int32 {
	return append(slices.Clip(l.synonyms[stem]), l.related[stem]...)
}

// addForeign adds an English word, the first field, and its translations, the other fields. A
// translation of several words, joined by gapWord, becomes a phrase that the English word replaces.
func (l *lexicon) addForeign(fields []string) {
	for _, w := range fields[1:] {
		w = foldText(w)
		if strings.Contains(w, gapWord) {
			l.addPhrase(append(strings.Split(w, gapWord), ">", fields[0]))
			continue
		}
		l.foreign[w] = append(l.foreign[w], fields[0])
		l.addLongest(w)
	}
}

// addLongest adds a word to those that are found in a text without blanks.
func (l *lexicon) addLongest(w string) {
	first, _ := utf8.DecodeRuneInString(w)
	if isUnspaced(first) {
		l.longest[first] = max(l.longest[first], utf8.RuneCountInString(w))
	}
}

// addClass adds a closed class of words, such as colours. The first field is the name of the class.
// It ends in "!:" for a hard class, whose values exclude each other in any wording, and in ":"
// otherwise. Each other field is a value, written as its spellings joined by "=".
func (l *lexicon) addClass(fields []string) {
	class := uint8(len(l.names))
	name, hard := strings.CutSuffix(fields[0], "!:")
	l.names = append(l.names, strings.TrimSuffix(name, ":"))
	l.hard = append(l.hard, hard)
	for i, spellings := range fields[1:] {
		for w := range strings.SplitSeq(spellings, "=") {
			l.classes[w] = append(l.classes[w], classValue{class, uint8(i)})
		}
	}
}

// addPhrase adds a phrase and its replacement. A word in braces stands for each word of a role.
func (l *lexicon) addPhrase(fields []string) {
	for i, w := range fields {
		role, isRole := strings.CutPrefix(w, "{")
		if !isRole {
			continue
		}
		for _, member := range slices.Sorted(maps.Keys(l.roles[strings.TrimSuffix(role, "}")])) {
			l.addPhrase(slices.Concat(fields[:i], []string{member}, fields[i+1:]))
		}
		return
	}
	text, replacement, _ := strings.Cut(foldText(strings.Join(fields, " ")), " > ")
	p := phrase{
		words:       strings.Fields(text),
		replacement: strings.Fields(replacement),
	}
	l.phrases[p.words[0]] = append(l.phrases[p.words[0]], p)
	l.addLongest(p.words[0])
	addAll(l.inPhrase, p.words)
}

func (l *lexicon) addUnit(fields []string) {
	i := slices.Index(l.unitNames, fields[0])
	if i < 0 {
		i = len(l.unitNames)
		l.unitNames = append(l.unitNames, fields[0])
	}
	for _, spelling := range fields[2:] {
		l.units[spelling] = unit{unitName(i), must(strconv.ParseFloat(fields[1], 64))}
		l.addLongest(spelling)
	}
}

// classesOf returns the values of closed classes, such as a colour, that w denotes. It returns
// those of w without a final s if w itself denotes none.
func (l *lexicon) classesOf(w string) []classValue {
	if v := l.classes[w]; v != nil {
		return v
	}
	if n := len(w); n > 3 && w[n-1] == 's' {
		return l.classes[w[:n-1]]
	}
	return nil
}

// foldText returns text in the normal form in which it is parsed: in lower case, compatibility
// characters replaced (NFKC), Latin letters without accents, plain quotes and dashes, and currency
// signs other than $ as words.
func foldText(text string) string {
	if isASCII(text) && !strings.Contains(text, "`") {
		return strings.ToLower(text)
	}
	text = plainSigns().Replace(strings.ToLower(norm.NFKC.String(strings.ToValidUTF8(text, " "))))
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		if r < utf8.RuneSelf || !unicode.Is(unicode.Latin, r) {
			isAccent := unicode.Is(unicode.Mn, r) && r <= 0x36F
			if !isAccent {
				b.WriteRune(r)
			}
			continue
		}
		for _, part := range norm.NFD.String(string(r)) {
			if !unicode.Is(unicode.Mn, part) {
				b.WriteRune(part)
			}
		}
	}
	return b.String()
}

// plainSigns returns what replaces quotes, dashes, full stops and a few letters by their ASCII forms,
// and the signs of currencies and the pictographs in signs.txt by words.
var plainSigns = sync.OnceValue(func() *strings.Replacer {
	pairs := []string{
		"’", "'", "‘", "'", "´", "'", "`", " ",
		"–", "-", "—", "-", "−", "-", "‐", "-", "‑", "-", "~", "-", "～", "-", "〜", "-",
		"ß", "ss", "ø", "o", "đ", "d",
		"。", ".", "、", ".", "；", ".",
	}
	eachEntry("signs", func(fields []string) {
		pairs = append(pairs, fields[0], " "+strings.Join(fields[1:], " ")+" ")
	})
	return strings.NewReplacer(pairs...)
})

// endings are the suffixes that trimEnding removes from a word and what it replaces them with. The
// first match counts, so that longer suffixes are before shorter ones that they end in.
var endings = [...]struct{ suffix, replacement string }{
	{"iness", "y"}, {"ies", "y"}, {"sses", "ss"},
	{"ized", "iz"}, {"ised", "iz"}, {"izing", "iz"}, {"ising", "iz"},
	{"ations", "at"}, {"ation", "at"},
	{"ings", ""}, {"ing", ""},
	{"edly", ""}, {"ally", "al"}, {"ly", ""},
	{"ers", ""}, {"er", ""}, {"ors", ""}, {"or", ""},
	{"ches", "ch"}, {"shes", "sh"}, {"xes", "x"},
	{"ed", ""}, {"es", "e"}, {"s", ""},
}

// minStem is the minimum length in bytes of a word after trimEnding. A suffix that leaves less is
// not removed.
const minStem = 3

// stem returns w without suffixes in which two wordings differ, such as a plural s or -ing. It is
// coarser than linguistic stemming: "printer" and "printing" have one stem, which costs less than a
// missed paraphrase.
func stem(w string) string {
	if len(w) > 4 {
		w = strings.ReplaceAll(w, "our", "or")
		if start, ok := strings.CutSuffix(w, "re"); ok && (w[len(w)-3] == 'b' || w[len(w)-3] == 't') {
			w = start + "er" // "fibre", "centre"
		}
	}
	if len(w) > 3 && !isDigit(w[len(w)-1]) {
		w = trimEnding(w)
	}
	if len(w) > 4 && w[len(w)-1] == 'e' {
		w = w[:len(w)-1]
	}
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeiouls", rune(w[n-1])) {
		w = w[:n-1]
	}
	return w
}

func trimEnding(w string) string {
	for _, e := range endings {
		trimmed, ok := strings.CutSuffix(w, e.suffix)
		if !ok || e.suffix == "s" && isSingular(w) {
			continue
		}
		if len(trimmed)+len(e.replacement) >= minStem {
			return trimmed + e.replacement
		}
	}
	return w
}

// isSingular reports whether w, which ends in s, is likely not a plural: it ends in ss, us or is.
func isSingular(w string) bool {
	return strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "us") || strings.HasSuffix(w, "is")
}
