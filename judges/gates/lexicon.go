package gates

import (
	"embed"
	"maps"
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
	compareWord                    // a comparative that is a reason: cheaper
	causeWord                      // because, since
	contrastWord                   // but, whereas
	groundWord                     // what a reason may rest on: brand, price
	seenWord                       // how often or where it was listed: no reason
	graderWord                     // speaks to whoever grades
	commonWord                     // too common to be a datum
	moneyWord                      // an amount is near: pesos, costs
	evenWord                       // neither is better: no difference
	checkWord                      // finds out more: verify, compare
	bigWord                        // a number word of a hundred or more
)

var classNames = map[string]class{
	"result": resultWord, "eval": evalWord, "verdict": verdictWord, "see": seeWord,
	"count": countWord, "deictic": deicticWord, "plan": planWord, "require": requireWord,
	"act": actWord, "prefer": preferWord, "choose": chooseWord, "reject": rejectWord,
	"compare": compareWord, "cause": causeWord, "contrast": contrastWord,
	"ground": groundWord, "seen": seenWord, "grader": graderWord,
	"common": commonWord, "money": moneyWord, "even": evenWord, "check": checkWord,
}

// lexicon is a trie over folded bytes. A node holds the meaning of the word
// that ends there (exact) and of any word that begins so (prefix).
type lexicon struct {
	root  [256]int32
	nodes []node
	// labels are the bytes that lead to the nodes; the children of a node stand
	// side by side once the trie is packed.
	labels []byte
	// values are the words tools return, by concept; 0 is none.
	values []string
}

type node struct {
	// child is the first of count children.
	child, count  int32
	exact, prefix meaning
	// byLabel holds the children while the trie is built.
	byLabel map[byte]*node
}

type meaning struct {
	class   class
	concept uint8
}

// The files that are no word lists of a language.
const (
	valuesFile  = "values.txt"
	numbersFile = "numbers.txt"
)

var words = sync.OnceValue(loadLexicon)

func loadLexicon() *lexicon {
	l := &lexicon{nodes: []node{{byLabel: map[byte]*node{}}}, values: []string{""}}
	files, err := lexiconFiles.ReadDir("lexicon")
	if err != nil {
		return l
	}
	for _, f := range files {
		text, err := lexiconFiles.ReadFile("lexicon/" + f.Name())
		switch {
		case err != nil:
		case f.Name() == numbersFile:
			l.readBigWords(string(text))
		default:
			l.readLines(string(text), f.Name() == valuesFile)
		}
	}
	l.pack()
	return l
}

// readBigWords enters the words of a hundred or more, so that the others are
// looked up only in a text that may spell a price.
func (l *lexicon) readBigWords(text string) {
	for line := range strings.Lines(text) {
		value, entries, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found || len(value) < 3 || value == "x10" {
			continue
		}
		for entry := range strings.SplitSeq(entries, ", ") {
			l.add(entry, meaning{class: bigWord})
		}
	}
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
		for entry := range strings.SplitSeq(entries, ", ") {
			l.add(strings.TrimSpace(entry), m)
		}
	}
}

func (l *lexicon) add(entry string, m meaning) {
	word, isPrefix := strings.CutSuffix(fold(entry), "*")
	if word == "" {
		return
	}
	at := &l.nodes[0]
	for i := range len(word) {
		next := at.byLabel[word[i]]
		if next == nil {
			next = &node{byLabel: map[byte]*node{}}
			at.byLabel[word[i]] = next
		}
		at = next
	}
	slot := &at.exact
	if isPrefix {
		slot = &at.prefix
	}
	slot.class |= m.class
	if m.concept != 0 {
		slot.concept = m.concept
	}
}

// pack lays the nodes out breadth first, children side by side.
func (l *lexicon) pack() {
	l.labels = make([]byte, 1)
	for i := 0; i < len(l.nodes); i++ {
		children := l.nodes[i].byLabel
		l.nodes[i].byLabel = nil
		l.nodes[i].child, l.nodes[i].count = int32(len(l.nodes)), int32(len(children))
		for _, b := range slices.Sorted(maps.Keys(children)) {
			l.nodes = append(l.nodes, *children[b])
			l.labels = append(l.labels, b)
		}
	}
	for k := range l.nodes[0].count {
		l.root[l.labels[l.nodes[0].child+k]] = l.nodes[0].child + k
	}
}

// step is the child of a node under a byte; 0 where there is none.
func (l *lexicon) step(at int32, b byte) int32 {
	n := &l.nodes[at]
	for k := n.child; k < n.child+n.count; k++ {
		if l.labels[k] == b {
			return k
		}
	}
	return 0
}

// mark is one word of the lexicon found in a text.
type mark struct {
	start, end int32
	meaning
}

// find appends the entries of the lexicon that begin at text[start]. text is
// folded; runs of white space match one blank, a typographic apostrophe a
// plain one.
func (l *lexicon) find(marks []mark, text string, start int) []mark {
	at := l.root[text[start]]
	i := start + 1
	for at != 0 {
		n := &l.nodes[at]
		if n.prefix != (meaning{}) {
			marks = append(marks, mark{int32(start), int32(i), n.prefix})
		}
		if n.exact != (meaning{}) && wordEnds(text, i) {
			marks = append(marks, mark{int32(start), int32(i), n.exact})
		}
		if i >= len(text) {
			break
		}
		b, width := folded(text, i)
		at = l.step(at, b)
		i += width
	}
	return marks
}

// folded is the byte that text[i:] stands for in the trie and how many bytes
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
