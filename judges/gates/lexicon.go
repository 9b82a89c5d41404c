package gates

import (
	"embed"
	"strings"
	"sync"
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

var words = sync.OnceValue(loadLexicon)

func loadLexicon() *lexicon {
	l := &lexicon{values: []string{""}}
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
	l.build()
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
		for item := range strings.SplitSeq(entries, ", ") {
			l.add(item, meaning{class: bigWord})
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
		for item := range strings.SplitSeq(entries, ", ") {
			l.add(strings.TrimSpace(item), m)
		}
	}
}
