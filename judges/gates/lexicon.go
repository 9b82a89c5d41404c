package gates

import (
	"embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The word lists, one file a language: lines of "class: entry, entry". An
// entry may be a phrase; one that ends in * matches the beginning of a word.
// values.txt maps what thinking may call a value to the word that tools return.
//
//go:embed lexicon/*.txt
var lexiconFiles embed.FS

// class is a set of roles that a word may have in a sentence of thinking.
type class uint32

// The roles. docs/judges.md says what each is for.
const (
	resultWord   class = 1 << iota // names the tools' output: results, list, page
	evalWord                       // judges something: fits, pricey
	verdictWord                    // a remark on results by itself: none of them
	seeWord                        // perception: looks, found, came back
	countWord                      // how many: several, none, both
	deicticWord                    // points into a list: the first, the others
	planWord                       // intention or condition: next, I'll, if
	requireWord                    // the customer's wish: asked for
	actWord                        // an action on an id: open, recommend
	preferWord                     // one over another: rather than, beats
	chooseWord                     // a choice: take, keep
	rejectWord                     // a refusal: drops out, lacks
	compareWord                    // a comparative that is a reason: lighter
	cheapWord                      // says that one costs less: cheaper
	causeWord                      // because, since
	contrastWord                   // but, whereas
	groundWord                     // what a reason may rest on: brand, price
	seenWord                       // how often or where it was listed: no reason
	graderWord                     // speaks to whoever grades
	commonWord                     // too common to be a datum
	moneyWord                      // an amount is near: pesos, costs
	evenWord                       // neither is better: no difference
	checkWord                      // finds out more: verify, compare
	thoughtWord                    // names thinking itself: reasoning, decisions
	bigWord                        // a number word of a hundred or more
)

var classNames = map[string]class{
	"result": resultWord, "eval": evalWord, "verdict": verdictWord, "see": seeWord,
	"count": countWord, "deictic": deicticWord, "plan": planWord, "require": requireWord,
	"act": actWord, "prefer": preferWord, "choose": chooseWord, "reject": rejectWord,
	"compare": compareWord, "cheaper": compareWord | cheapWord, "cause": causeWord, "contrast": contrastWord,
	"ground": groundWord, "seen": seenWord, "grader": graderWord,
	"common": commonWord, "money": moneyWord, "even": evenWord, "check": checkWord, "thought": thoughtWord,
}

// The files that are no word lists of a language.
const (
	valuesFile  = "values.txt"
	numbersFile = "numbers.txt"
)

// entryKey is the length of the beginnings that entries are looked up by.
const entryKey = 3

// lexicon holds the entries by their first bytes, each list in order.
type lexicon struct {
	entries map[[entryKey]byte][]entry
	// lengths has, by first byte, a bit for each length of the keys that begin so:
	// most signs and words begin none.
	lengths [256]uint8
	// plain are the words of all phrases: none of them is a name or a datum.
	plain map[string]bool
	// values are the words tools return, by concept; 0 is none.
	values []string
}

// entry is one item of the word lists, folded: a word or phrase, or the beginning
// of one.
type entry struct {
	word   string
	prefix bool
	meaning
}

type meaning struct {
	class   class
	concept uint8
}

var words = sync.OnceValue(loadLexicon)

func loadLexicon() *lexicon {
	l := &lexicon{entries: map[[entryKey]byte][]entry{}, plain: map[string]bool{}, values: []string{""}}
	files, _ := lexiconFiles.ReadDir("lexicon") // they are a part of the program
	for _, f := range files {
		if f.Name() != numbersFile {
			text, _ := lexiconFiles.ReadFile("lexicon/" + f.Name())
			l.readLines(string(text), f.Name() == valuesFile)
		}
	}
	// Words of a hundred or more are entered so that the others are looked up only in
	// a text that may spell a price.
	for word, w := range numberWords() {
		if w.value >= 100 {
			l.add(word, meaning{class: bigWord})
		}
	}
	for _, list := range l.entries {
		slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.word, b.word) })
	}
	return l
}

func (l *lexicon) readLines(text string, values bool) {
	for line := range strings.Lines(text) {
		name, entries, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found || strings.HasPrefix(name, "#") {
			continue
		}
		m := meaning{class: classNames[name]}
		if values {
			l.values = append(l.values, name)
			m = meaning{concept: uint8(len(l.values) - 1)}
			l.add(name, m)
		}
		for item := range strings.SplitSeq(entries, ", ") {
			for word := range strings.FieldsFuncSeq(fold(item), func(r rune) bool { return !unicode.IsLetter(r) }) {
				l.plain[word] = true
			}
			l.add(strings.TrimSpace(item), m)
		}
	}
}

// add enters an item; what several lists say of one word is joined.
func (l *lexicon) add(text string, m meaning) {
	word, prefix := strings.CutSuffix(fold(text), "*")
	if word == "" {
		return
	}
	key := [entryKey]byte{word[0]}
	l.lengths[word[0]] |= 1 << copy(key[:], word)
	list := l.entries[key]
	at := slices.IndexFunc(list, func(e entry) bool { return e.word == word && e.prefix == prefix })
	if at < 0 {
		l.entries[key] = append(list, entry{word, prefix, m})
		return
	}
	list[at].class |= m.class
	list[at].concept = max(list[at].concept, m.concept)
}

type mark struct {
	start, end int32
	meaning
}

// find appends the entries of the lexicon that begin at text[start], the shorter
// ones first. text is folded; runs of white space match one blank, a typographic
// apostrophe a plain one. It tells how far any entry agrees with text.
func (l *lexicon) find(marks []mark, text string, start int) ([]mark, int) {
	var key [entryKey]byte
	far := start
	for k, at := 0, start; k < len(key) && at < len(text) && text[at] != 0; k++ {
		width := 0
		key[k], width = folded(text, at)
		at += width
		if l.lengths[key[0]]&(2<<k) == 0 {
			continue
		}
		list := l.entries[key]
		for i := range list {
			e := &list[i]
			end, whole := agrees(e.word[k+1:], text, at)
			far = max(far, end)
			if whole && (e.prefix || wordEnds(text, end)) {
				marks = append(marks, mark{int32(start), int32(end), e.meaning})
			}
		}
	}
	return marks, far
}

// agrees is how far the rest of an entry and text[start:] are the same.
func agrees(rest, text string, start int) (end int, whole bool) {
	for k := range len(rest) {
		if start >= len(text) {
			return start, false
		}
		if c := text[start]; c > ' ' && c == rest[k] {
			start++
			continue
		}
		b, width := folded(text, start)
		if b != rest[k] {
			return start, false
		}
		start += width
	}
	return start, true
}

// folded is the byte that text[i:] stands for in an entry and how many bytes
// it takes.
func folded(text string, i int) (b byte, width int) {
	switch c := text[i]; {
	case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		end := i + 1
		for end < len(text) && end < i+8 && (text[end] == ' ' || text[end] == '\n') {
			end++
		}
		return ' ', end - i
	case c == 0xE2 && strings.HasPrefix(text[i:], "’"):
		return '\'', len("’")
	default:
		return c, 1
	}
}

func wordEnds(text string, i int) bool {
	if i >= len(text) {
		return true
	}
	if c := text[i]; c < utf8.RuneSelf {
		return !isWordByte(c)
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return !unicode.IsLetter(r) && !unicode.IsMark(r) || unspaced(r)
}
