package gates

import (
	"embed"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// lexiconFiles are the word lists, one file for each language, with lines of the form "class:
// entry, entry". An entry is a word, a phrase, or with a final * the beginning of a word. In
// values.txt a line begins with a word that tools return, and its entries are other words for the
// same value. In ordinals.txt a line begins with a place in a list, and its entries are words for
// that place. numbers.txt has number words.
//
//go:embed lexicon/*.txt
var lexiconFiles embed.FS

// class is a set of meanings, one bit each, that a word may have in a sentence of thinking.
type class uint64

// The classes of words. docs/judges.md describes what each is for.
const (
	resultWord   class = 1 << iota // names the tools' output: results, list, page
	evalWord                       // judges something: fits, pricey
	verdictWord                    // a remark on results by itself: none of them
	seeWord                        // perception: looks, found, returned
	countWord                      // how many: several, none, both
	deicticWord                    // points into a list: the first, the others
	planWord                       // intention or condition: next, I'll, if
	requireWord                    // the customer's wish: asked for
	actWord                        // an action on an id: open, recommend
	preferWord                     // one over another: rather than, beats
	chooseWord                     // a choice: take, keep
	rejectWord                     // a refusal: drops out, lacks
	compareWord                    // a comparative that is a reason: lighter
	cheapWord                      // one costs less: cheaper
	causeWord                      // because, since
	contrastWord                   // but, whereas
	groundWord                     // what supports a reason: brand, price
	seenWord                       // how often or where it was listed: no reason
	graderWord                     // addresses a grader
	commonWord                     // too common to be a datum
	moneyWord                      // a word near amounts: pesos, costs
	evenWord                       // neither is better: no difference
	checkWord                      // finds out more: verify, compare
	thoughtWord                    // names thinking itself: reasoning, decisions
	bigWord                        // a number word of a hundred or more
	negationWord                   // negates the word after it: not, isn't
	onlyWord                       // nothing else does: only, sole
	lessWord                       // of two figures the first is lower: cheaper, below
	moreWord                       // of two figures the first is higher: dearer, above
	thanWord                       // what follows is compared with: than
	labelWord                      // a mark of the listing and not of the product: its number
	decideWord                     // names deciding itself: decided, choice
	deferWord                      // puts a decision off: too early, later
	ifWord                         // supposes or asks: if, whether, before
	mightWord                      // a possibility: may, perhaps
)

// classNames maps the name of a class of words, as the word lists write it, to the class.
var classNames = map[string]class{
	"result": resultWord, "eval": evalWord, "verdict": verdictWord, "see": seeWord,
	"count": countWord, "deictic": deicticWord, "plan": planWord, "require": requireWord,
	"act": actWord, "prefer": preferWord, "choose": chooseWord, "reject": rejectWord,
	"compare": compareWord, "cheaper": compareWord | cheapWord | lessWord, "cause": causeWord, "contrast": contrastWord,
	"ground": groundWord, "seen": seenWord, "grader": graderWord,
	"common": commonWord, "money": moneyWord, "even": evenWord, "check": checkWord, "thought": thoughtWord,
	"negation": negationWord, "only": onlyWord, "less": lessWord, "more": moreWord, "than": thanWord, "label": labelWord,
	"decide": decideWord, "defer": deferWord, "undecided": decideWord | deferWord, "if": ifWord, "might": mightWord,
}

// Names of the files that are not the word list of a language.
const (
	valuesFile   = "values.txt"
	ordinalsFile = "ordinals.txt"
	numbersFile  = "numbers.txt"
)

// keyLength is the number of bytes at the beginning of a listed word by which the word is looked
// up.
const keyLength = 3

// lexicon holds the entries of all word lists.
type lexicon struct {
	// entries has a list of entries for each beginning of keyLength bytes, sorted by word. The
	// first byte is the lowest of the key. A shorter word is under its bytes and zeros.
	entries map[uint32][]entry
	// keyLengths has, by first byte, a bit for each length of the keys in entries, without their
	// zeros. Most words begin no key and are not looked up.
	keyLengths [256]uint8
	// keys has a bit for the hash of each key in entries. Most beginnings of words have none, and
	// need no look-up.
	keys bitset
	// plain has each word of all lists, also those of phrases, in lower case. None of them is a
	// name or returned data.
	plain map[string]bool
	// values are the words that tools return for attribute values, by concept (the number of the
	// value). Concept 0 is no value.
	values []string
}

// bitset is a set of hashes of numbers. Its length is a power of two. It may also report numbers that were
// not added.
type bitset []uint64

// place returns the index of a number's word, and its bit there.
func (b bitset) place(n uint64) (word int, bit uint64) {
	h := n * 0x9E3779B97F4A7C15 >> 32
	return int(h>>6) & (len(b) - 1), 1 << (h & 63)
}

func (b bitset) add(n uint64) {
	word, bit := b.place(n)
	b[word] |= bit
}

func (b bitset) mayHave(n uint64) bool {
	word, bit := b.place(n)
	return b[word]&bit != 0
}

// entry is one item of the word lists in lower case: a word, a phrase, or if prefix is set the
// beginning of a word.
type entry struct {
	word   string
	prefix bool
	meaning
}

// meaning is what the word lists say of a word: its classes (such as refusal or comparison), the
// number of the attribute value that it is a word for, 0 for no value, and the place in a list that
// it points at ("second"), 0 for no place.
type meaning struct {
	class   class
	concept uint8
	ordinal uint8
}

var words = sync.OnceValue(loadLexicon)

func loadLexicon() *lexicon {
	l := &lexicon{
		entries: map[uint32][]entry{},
		keys:    make(bitset, 1<<10),
		plain:   map[string]bool{},
		values:  []string{""},
	}
	files, _ := lexiconFiles.ReadDir("lexicon") // embedded
	for _, f := range files {
		if f.Name() != numbersFile {
			text, _ := lexiconFiles.ReadFile("lexicon/" + f.Name())
			l.readLines(string(text), f.Name())
		}
	}
	// Only text with a number word of a hundred or more is searched for spelled
	// prices, so those are entries too.
	for word, w := range numberWords() {
		if w.value >= 100 {
			l.add(word, meaning{class: bigWord})
		}
	}
	for _, list := range l.entries {
		slicesx.SortFunc(list, func(a, b entry) int {
			return strings.Compare(a.word, b.word)
		})
	}
	return l
}

// readLines adds the entries of one word list to the lexicon: text is its content, file its name.
// Arabic words are also added with the article, and with the article after "and", which are written
// as one word with them.
func (l *lexicon) readLines(text, file string) {
	for line := range strings.Lines(text) {
		name, entries, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		m := meaning{class: classNames[name]}
		switch file {
		case valuesFile:
			l.values = append(l.values, name)
			m = meaning{concept: uint8(len(l.values) - 1)}
			l.add(name, m)
		case ordinalsFile:
			m = meaning{ordinal: name[0] - '0'}
		}
		for item := range strings.SplitSeq(entries, ", ") {
			for word := range strings.FieldsFuncSeq(fold(item), func(r rune) bool { return !unicode.IsLetter(r) }) {
				l.plain[word] = true
			}
			l.add(strings.TrimSpace(item), m)
			if first, _ := utf8.DecodeRuneInString(item); unicode.Is(unicode.Arabic, first) {
				l.add("ال"+item, m)
				l.add("وال"+item, m)
			}
		}
	}
}

// add adds a word or phrase of a word list with its meaning. A final * in text makes it the
// beginning of longer words. A word in several lists gets the classes of all.
func (l *lexicon) add(text string, m meaning) {
	word, prefix := strings.CutSuffix(fold(text), "*")
	if word == "" {
		return
	}
	var start [4]byte
	l.keyLengths[word[0]] |= 1 << copy(start[:keyLength], word)
	key := binary.LittleEndian.Uint32(start[:])
	l.keys.add(uint64(key))
	list := l.entries[key]
	i := slices.IndexFunc(list, func(e entry) bool {
		return e.word == word && e.prefix == prefix
	})
	if i < 0 {
		l.entries[key] = append(list, entry{word, prefix, m})
		return
	}
	list[i].class |= m.class
	list[i].concept = max(list[i].concept, m.concept)
	list[i].ordinal = max(list[i].ordinal, m.ordinal)
}

// mark is a listed word or phrase found in a text: its byte range and its meaning in the word
// lists.
type mark struct {
	start, end int32
	meaning
}

// appendMatches appends a mark for each listed word or phrase that begins at byte start of a text
// in lower case, shorter ones first. A run of up to eight white-space bytes matches one blank, and
// a typographic apostrophe a plain one. It also returns the end of the longest piece of the text
// that a listed entry begins with; this is start if there is none.
func (l *lexicon) appendMatches(
	marks []mark,
	text string,
	start int,
) ([]mark, int) {
	key := uint32(0)
	longest := start
	i := start
	for k := 0; k < keyLength && i < len(text) && text[i] != 0; k++ {
		b, width := entryByte(text, i)
		key |= uint32(b) << (8 * k)
		i += width
		if l.keyLengths[key&0xff]&(2<<k) == 0 || !l.keys.mayHave(uint64(key)) {
			continue
		}
		next := byte(0)
		if i < len(text) {
			next, _ = entryByte(text, i)
		}
		list := l.entries[key]
		for n := range list {
			e := &list[n]
			longest = max(longest, i)
			if len(e.word) > k+1 && e.word[k+1] != next {
				continue
			}
			end, ok := matchSuffix(e.word[k+1:], text, i)
			longest = max(longest, end)
			if ok && e.endsAt(text, end) {
				marks = append(marks, mark{int32(start), int32(end), e.meaning})
			}
		}
	}
	return marks, longest
}

// endsAt reports whether an occurrence of a listed word may end before text[end]: if the entry
// stands for the beginning of longer words, or if no word continues there.
func (e *entry) endsAt(text string, end int) bool { return e.prefix || isWordEnd(text, end) }

// matchSuffix compares the suffix of a lexicon entry with the text from byte start on. It returns
// the end of the equal part of the text, and whether the complete suffix is equal.
func matchSuffix(suffix, text string, start int) (end int, ok bool) {
	for k := range len(suffix) {
		if start >= len(text) {
			return start, false
		}
		if c := text[start]; c > ' ' && c == suffix[k] {
			start++
			continue
		}
		b, width := entryByte(text, start)
		if b != suffix[k] {
			return start, false
		}
		start += width
	}
	return start, true
}

// entryByte returns the byte that text[i] has in lexicon entries, and the number of bytes of the
// text that it replaces. A run of white space is one blank there, and a typographic apostrophe a
// plain one; any other byte is unchanged.
func entryByte(text string, i int) (b byte, width int) {
	switch c := text[i]; c {
	case ' ', '\n', '\t', '\r':
		end := i + 1
		for end < min(len(text), i+8) && (text[end] == ' ' || text[end] == '\n') {
			end++
		}
		return ' ', end - i
	case 0xE2:
		if strings.HasPrefix(text[i:], "’") {
			return '\'', len("’")
		}
		return c, 1
	default:
		return c, 1
	}
}

func isWordEnd(text string, i int) bool {
	if i >= len(text) {
		return true
	}
	if c := text[i]; c < utf8.RuneSelf {
		return !isWordByte(c)
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	isWordRune := unicode.IsLetter(r) || unicode.IsMark(r)
	return unspaced(r) || !isWordRune
}
