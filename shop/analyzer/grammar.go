package analyzer

import (
	"unicode/utf16"
	"unicode/utf8"
)

// state is a place in one of the grammars; 0 is nowhere, nothing follows it.
type state uint8

// grammar says which state follows on a character.
type grammar struct {
	moves     [maxStates][classCount]state
	accepting [maxStates]bool
}

const maxStates = 21

// start is the first state of each grammar.
const start state = 1

// longest is the length in bytes of the longest word at the beginning of s, in
// maxWord UTF-16 units at most; 0 is none.
func (g *grammar) longest(s string, classes *classTable) (size int) {
	at, units := start, 0
	for i, r := range s {
		units += utf16.RuneLen(r)
		if at = g.moves[at][classes.of(r)]; at == 0 || units > maxWord {
			return size
		}
		if g.accepting[at] {
			size = i + utf8.RuneLen(r)
		}
	}
	return size
}

// row is a state: whether a word may end there, what follows on each class, and
// what follows on the classes of extending characters.
type row struct {
	at        state
	accepts   bool
	next      map[class]state
	extending func(class) bool
	extended  state
}

func newGrammar(rows []row) *grammar {
	g := &grammar{}
	for _, r := range rows {
		g.accepting[r.at] = r.accepts
		for c := range classCount {
			if r.extending != nil && r.extending(c) {
				g.moves[r.at][c] = r.extended
			}
		}
		for c, to := range r.next {
			g.moves[r.at][c] = to
		}
		// it is a letter to words and a pictograph to emoji
		g.moves[r.at][letterPictograph] = max(r.next[letter], r.next[pictograph])
	}
	return g
}

// The states of a word.
const (
	leading state = start + 1 + iota
	inLetters
	inHebrew
	inDigits
	inKatakana
	joined
	// closed is after a Hebrew quote, which nothing in the middle may follow.
	closed
	afterLetter
	afterHebrew
	afterDigit
	inComplex
	inSign
)

// words is UAX #29 with Lucene's choices: runs of letters and digits with what
// may stand inside them, runs of Katakana, runs of a script without blanks, and
// single signs of Han and Hiragana.
var words = newGrammar([]row{
	{start, false, map[class]state{
		letter: inLetters, hebrew: inHebrew, digit: inDigits, katakana: inKatakana, underscore: leading,
		complexLetter: inComplex, complexMark: inComplex, han: inSign, hiragana: inSign,
	}, nil, 0},
	{leading, false, map[class]state{
		letter: inLetters, hebrew: inHebrew, digit: inDigits, katakana: inKatakana, underscore: leading,
	}, class.extends, leading},
	{inLetters, true, map[class]state{
		letter: inLetters, hebrew: inHebrew, digit: inDigits, underscore: joined,
		midLetter: afterLetter, midBoth: afterLetter, quote: afterLetter,
	}, class.extends, inLetters},
	{inHebrew, true, map[class]state{
		letter: inLetters, hebrew: inHebrew, digit: inDigits, underscore: joined,
		midLetter: afterLetter, midBoth: afterLetter, quote: closed, doubleQuote: afterHebrew,
	}, class.extends, inHebrew},
	{inDigits, true, map[class]state{
		letter: inLetters, hebrew: inHebrew, digit: inDigits, underscore: joined,
		midDigit: afterDigit, midBoth: afterDigit, quote: afterDigit,
	}, class.extends, inDigits},
	{inKatakana, true, map[class]state{katakana: inKatakana, underscore: joined}, class.extends, inKatakana},
	{joined, true, map[class]state{
		letter: inLetters, hebrew: inHebrew, digit: inDigits, katakana: inKatakana, underscore: joined,
	}, class.extends, joined},
	{closed, true, map[class]state{letter: inLetters, hebrew: inHebrew, digit: inDigits, underscore: joined}, class.extends, closed},
	{afterLetter, false, map[class]state{letter: inLetters, hebrew: inLetters}, class.extends, afterLetter},
	{afterHebrew, false, map[class]state{hebrew: closed}, class.extends, afterHebrew},
	{afterDigit, false, map[class]state{digit: inDigits}, class.extends, afterDigit},
	{inComplex, true, map[class]state{complexLetter: inComplex}, class.extends, inComplex},
	{inSign, true, nil, class.extends, inSign},
})

// The states of an emoji. What comes later in a chain takes no tags.
const (
	joiners state = start + 1 + iota
	pictured
	picturedJoined
	presented
	presentedJoined
	presentedJoiners
	tagged
	tagsEnded
	modified
	modifiedJoined
	later
	laterJoined
	laterPresented
	halfFlag
	flag
	key
	keySelected
	keyCapped
	keyDone
)

// unpresented are the characters that belong to an emoji before its selector.
func unpresented(c class) bool {
	return c.extends() && c != joiner && c != textSelector && c != emojiSelector
}

// unselected are those and the joiner.
func unselected(c class) bool { return unpresented(c) || c == joiner }

// emoji is the sequence of UTS #51: pictographs joined by joiners, flags and
// keycaps. A digit needs no keycap to be a word.
var emoji = newGrammar([]row{
	{start, false, map[class]state{
		joiner: joiners, pictograph: pictured, modifier: modified, regional: halfFlag, keycapBase: key,
	}, nil, 0},
	{joiners, false, map[class]state{joiner: joiners, pictograph: pictured}, nil, 0},
	{pictured, true, map[class]state{joiner: picturedJoined, emojiSelector: presented}, unpresented, pictured},
	{picturedJoined, true, map[class]state{joiner: picturedJoined, emojiSelector: presented, pictograph: later}, unpresented, pictured},
	{presented, true, map[class]state{joiner: presentedJoined, tag: tagged}, nil, 0},
	{presentedJoined, false, map[class]state{joiner: presentedJoiners, pictograph: later, modifier: modified}, nil, 0},
	{presentedJoiners, false, map[class]state{joiner: presentedJoiners, pictograph: later}, nil, 0},
	{tagged, false, map[class]state{tag: tagged, tagEnd: tagsEnded}, nil, 0},
	{tagsEnded, true, nil, nil, 0},
	{modified, true, map[class]state{joiner: modifiedJoined}, unpresented, modified},
	{modifiedJoined, true, map[class]state{joiner: modifiedJoined, pictograph: later}, unpresented, modified},
	{later, true, map[class]state{joiner: laterJoined, emojiSelector: laterPresented}, unpresented, later},
	{laterJoined, true, map[class]state{joiner: laterJoined, emojiSelector: laterPresented, pictograph: later}, unpresented, later},
	{laterPresented, true, map[class]state{joiner: presentedJoined}, nil, 0},
	{halfFlag, false, map[class]state{regional: flag}, class.extends, halfFlag},
	{flag, true, nil, class.extends, flag},
	{key, false, map[class]state{keycap: keyCapped, emojiSelector: keySelected}, unselected, key},
	{keySelected, false, map[class]state{keycap: keyDone}, nil, 0},
	{keyCapped, true, map[class]state{emojiSelector: keySelected}, unselected, keyCapped},
	{keyDone, true, nil, unselected, keyDone},
})

// eachWord segments a text: at each character the longest
// word or emoji; a character that begins neither is left out.
func eachWord(s string, emit func(string)) {
	for table := classes(); s != ""; {
		n := max(words.longest(s, table), emoji.longest(s, table))
		if n > 0 {
			emit(s[:n])
		} else {
			_, n = utf8.DecodeRuneInString(s)
		}
		s = s[n:]
	}
}
