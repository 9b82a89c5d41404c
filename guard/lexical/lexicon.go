package lexical

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

//go:embed lexicon/*.txt
var lexiconFiles embed.FS

type lexicon struct {
	stop     map[string]bool
	ranges   map[string]bool    // words between the two ends of a range
	refusals map[string]bool    // words that turn a bound round
	near     map[string][]int32 // stem to groups of synonyms
	groups   int32
	foreign  map[string][]string
	longest  int // runes of the longest foreign word without spaces
	classes  map[string][]classValue
	names    []string
	hard     []bool // classes that hold even in another person's words
	phrases  map[string][]phrase
	units    map[string]unit
	numerals map[string]int
}

type classValue struct{ class, value uint8 }

// phrase is a sequence of words that means other words. A gap stands for none
// to two words.
type phrase struct {
	words []string
	means []string
}

const gapWord = "_"

const maxGap = 2

type unit struct {
	name   string
	factor float64
}

// words loads the embedded lexicon once. It is fixed at build time, so that a
// fault in it is a fault of the program.
var words = sync.OnceValue(func() *lexicon {
	l := &lexicon{
		stop: map[string]bool{}, ranges: map[string]bool{}, refusals: map[string]bool{}, near: map[string][]int32{}, foreign: map[string][]string{},
		classes: map[string][]classValue{}, phrases: map[string][]phrase{}, units: map[string]unit{}, numerals: map[string]int{},
	}
	eachEntry("stop", func(fields []string) {
		for _, w := range fields {
			l.stop[w], l.stop[stem(w)] = true, true
		}
	})
	for file, set := range map[string]map[string]bool{"ranges": l.ranges, "refusals": l.refusals} {
		eachEntry(file, func(fields []string) {
			for _, w := range fields {
				set[w] = true
			}
		})
	}
	eachEntry("synonyms", l.addGroup)
	eachEntry("foreign", l.addForeign)
	eachEntry("classes", l.addClass)
	eachEntry("phrases", l.addPhrase)
	eachEntry("units", l.addUnit)
	eachEntry("currencies", func(fields []string) { l.addUnit(append([]string{money}, fields...)) })
	eachEntry("numberwords", func(fields []string) { l.numerals[fields[0]] = sound(strconv.Atoi(fields[1])) })
	return l
})

func eachEntry(file string, add func(fields []string)) {
	for line := range strings.Lines(string(sound(lexiconFiles.ReadFile("lexicon/" + file + ".txt")))) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0][0] != '#' {
			add(fields)
		}
	}
}

func sound[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("read embedded lexicon: %v", err))
	}
	return v
}

func (l *lexicon) addGroup(fields []string) {
	l.groups++
	for _, w := range fields {
		s := stem(w)
		l.near[s] = append(l.near[s], l.groups)
	}
}

func (l *lexicon) addForeign(fields []string) {
	for _, w := range fields[1:] {
		w = foldText(w)
		if strings.Contains(w, gapWord) {
			l.addPhrase(append(strings.Split(w, gapWord), ">", fields[0]))
			continue
		}
		l.foreign[w] = append(l.foreign[w], fields[0])
		l.longest = max(l.longest, len([]rune(w)))
	}
}

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

func (l *lexicon) addPhrase(fields []string) {
	text, means, _ := strings.Cut(strings.Join(fields, " "), " > ")
	p := phrase{words: strings.Fields(text), means: strings.Fields(means)}
	l.phrases[p.words[0]] = append(l.phrases[p.words[0]], p)
}

func (l *lexicon) addUnit(fields []string) {
	for _, spelling := range fields[2:] {
		l.units[spelling] = unit{fields[0], sound(strconv.ParseFloat(fields[1], 64))}
	}
}

func (l *lexicon) classesOf(w string) []classValue {
	if v := l.classes[w]; v != nil {
		return v
	}
	if n := len(w); n > 3 && w[n-1] == 's' {
		return l.classes[w[:n-1]]
	}
	return nil
}

// foldText prepares text for reading: compatibility forms, lower case, Latin
// letters without accents, plain quotes and dashes, the peso sign as a word.
func foldText(text string) string {
	if isASCII(text) && !strings.Contains(text, "`") {
		return strings.ToLower(text)
	}
	text = plainSigns.Replace(strings.ToLower(norm.NFKC.String(strings.ToValidUTF8(text, " "))))
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		if r < utf8.RuneSelf || !unicode.Is(unicode.Latin, r) {
			if !unicode.Is(unicode.Mn, r) || r > 0x36F {
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

var plainSigns = strings.NewReplacer(
	"’", "'", "‘", "'", "´", "'", "`", " ", "–", "-", "—", "-", "−", "-", "‐", "-", "‑", "-", "~", "-", "～", "-", "〜", "-",
	"₱", " php ", "€", " eur ", "£", " gbp ", "¥", " jpy ", "ß", "ss", "ø", "o", "。", ".", "、", ".", "；", ".",
)

// endings are suffixes and what replaces them, the longest of a kind first.
var endings = [...]struct{ cut, put string }{
	{"iness", "y"}, {"ies", "y"}, {"sses", "ss"}, {"ized", "iz"}, {"ised", "iz"}, {"izing", "iz"}, {"ising", "iz"},
	{"ations", "at"}, {"ation", "at"}, {"ings", ""}, {"ing", ""}, {"edly", ""}, {"ally", "al"}, {"ly", ""},
	{"ers", ""}, {"er", ""}, {"ors", ""}, {"or", ""}, {"ches", "ch"}, {"shes", "sh"}, {"xes", "x"},
	{"ed", ""}, {"es", "e"}, {"s", ""},
}

// minStem is the least length that cutting an ending may leave.
const minStem = 3

// stem cuts the endings that a rewording changes. It is coarser than a
// linguist's: "printer" and "printing" meet, which costs less than a missed
// paraphrase.
func stem(w string) string {
	if len(w) > 4 {
		w = strings.ReplaceAll(w, "our", "or")
	}
	if len(w) > 3 && !isDigit(w[len(w)-1]) {
		w = cutEnding(w)
	}
	if len(w) > 4 && w[len(w)-1] == 'e' {
		w = w[:len(w)-1]
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeiouls", rune(w[n-1])) {
		w = w[:n-1]
	}
	return w
}

func cutEnding(w string) string {
	for _, e := range endings {
		singular := e.cut == "s" && (strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "us") || strings.HasSuffix(w, "is"))
		if strings.HasSuffix(w, e.cut) && !singular && len(w)-len(e.cut)+len(e.put) >= minStem {
			return w[:len(w)-len(e.cut)] + e.put
		}
	}
	return w
}
