// Package disguise undoes changes that hide a text from a program but not from a
// person: invisible code points, letters of other scripts that look alike, and
// separated, substituted, reversed or encoded letters.
package disguise

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Plain returns text without invisible code points, in compatibility form (no full width or bold
// letters), and with Latin letters in place of letters that look like them. Words of another script
// are unchanged in a text of that script. Invalid bytes become a blank.
func Plain(text string) string {
	if isPlain(text) {
		return text
	}
	text = norm.NFKC.String(strings.Map(visible, strings.ToValidUTF8(text, " ")))
	return norm.NFKC.String(toLatinWords(text)) // composes accents with the new letters
}

// isPlain reports whether text is ASCII without control characters other than
// white space.
func isPlain(text string) bool {
	for i := range len(text) {
		c := text[i]
		isControl := c < ' ' && !isLineSpace(rune(c))
		if isControl || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func isLineSpace(r rune) bool { return r == '\n' || r == '\t' || r == '\r' }

// visible returns what to replace r by: -1, which removes it, for control characters and invisible
// code points, a space for white space other than tabs and line ends, the plain letter for a letter
// in a box, a circle or a flag, and otherwise r itself.
func visible(r rune) rune {
	switch {
	case isLineSpace(r):
		return r
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return -1
	case r == '\u2800' || unicode.IsSpace(r): // U+2800 is the blank of Braille
		return ' '
	}
	for _, first := range [...]rune{0x1F150, 0x1F170, 0x1F1E6} { // in circles, in boxes, of flags
		if r >= first && r < first+26 {
			return 'a' + r - first
		}
	}
	return r
}

type script uint8

const (
	latin     script = iota
	lookalike        // no letter is Latin, but every letter looks like a Latin one
	foreign          // no letter is Latin, and some letter does not look like a Latin one
)

// toLatinWords replaces letters that look like Latin ones by these Latin letters. It does so in
// words that have a Latin letter, and in words that consist of lookalikes if the text has at least
// as many Latin words as words of other scripts.
func toLatinWords(text string) string {
	count := map[script]int{}
	for _, w := range wordPattern.FindAllString(text, -1) {
		count[scriptOf(w)]++
	}
	mostlyLatin := count[latin] >= count[foreign]
	return wordPattern.ReplaceAllStringFunc(text, func(w string) string {
		if s := scriptOf(w); s == latin || s == lookalike && mostlyLatin {
			return strings.Map(toLatin, w)
		}
		return w
	})
}

// wordPattern matches a run of letters and combining marks.
var wordPattern = regexp.MustCompile(`[\p{L}\p{M}]+`)

// scriptOf returns the script of a word: latin if any of its letters is Latin, since no language
// mixes Latin letters with letters that look like them; lookalike if each letter looks like a Latin
// one; and foreign otherwise.
func scriptOf(word string) script {
	s := latin
	for _, r := range word {
		switch {
		case unicode.Is(unicode.Latin, r):
			return latin
		case unicode.IsMark(r):
		case toLatin(r) == r:
			s = foreign
		case s == latin:
			s = lookalike
		}
	}
	return s
}

// lookalikes lists, after each Latin letter, the letters of other scripts and of
// phonetic alphabets that look like it (the confusables of Unicode TR 39 that
// common fonts have). Letters with strokes and hooks are included.
const lookalikes = `
aаɑαᴀаӑаꭺаαɐⱥ bЬɓƀᏏʙвƅƃ cсϲᴄⅽсꮯҫȼƈ dԁɗđᴅꭰⅾꓓ eеҽɛᴇɇєеҿꭼ fƒꜰғϝẝꞙ gɡɢցԍɠǥ hһհħʜнһԋꮋɦ iіıɩɪιӏїɨӀⅰꭵ jјʝϳᴊɉ kкκᴋĸҝкƙⱪ
lӏɭʟⅼꓡłƚɫ mмᴍⅿⅯꮇɱ nпոռɴηɲƞпṇ oоοօσᴏօөⲟჿøɔо pрρᴘþϱƿꮲⲣ qԛգʠɋզ rгʀɾꭇᴦꮁꭱɼɽ sѕꜱʂꮪƽ tтτᴛŧтꭲƭț uսυᴜʋцʉ vνѵᴠⅴטν wԝѡաᴡɯωшⱳ xхχⅹхҳӽ yуүγʏყуƴɏч zʐᴢȥƶꮓʑʒ
AАΑᎪꓮ BВΒᏴꓐ CСϹᏟꓚⅭ DᎠꓓⅮ EЕΕᎬꓰ FϜꓝ GԌᏀꓖ HНΗᎻꓧ IІΙӀꓲ JЈᎫꓙ KКΚᏦꓗ LᏞꓡⅬŁ MМΜᎷꓟ NΝꓠ OОΟՕꓳØ PРΡᏢꓑ QԚ RᎡꓣ SЅՏᏚꓢ TТΤᎢꓔ UՍꓴ VѴᏙꓦ WԜᎳꓪ XХΧꓫ YҮΥꓬ ZΖᏃꓜ`

// latinLetters maps each letter that looks like a Latin one to this Latin letter, by lookalikes.
var latinLetters = func() map[rune]rune {
	m := map[rune]rune{}
	for group := range strings.FieldsSeq(lookalikes) {
		letters := []rune(group)
		for _, r := range letters[1:] {
			m[r] = letters[0]
		}
	}
	return m
}()

// toLatin returns the Latin letter that r looks like, or r itself if it looks like none.
func toLatin(r rune) rune {
	if l, ok := latinLetters[r]; ok {
		return l
	}
	return r
}

// Reading is a text with a disguise undone.
type Reading struct {
	Text string
	// How names the disguises that were undone: "base64", "letters set apart".
	How string
}

// maxDepth is the maximum number of disguises that are undone one after another (a text that was
// reversed, then spaced, then encoded), maxReadings the maximum number of readings of one text.
const (
	maxDepth    = 3
	maxReadings = 24
)

// Readings returns the texts that result from text, which is in plain letters (see Plain), if
// disguises are undone. Most texts have none. known reports whether a word in lower case is one of
// the language; if known is nil, only encodings such as base64 are undone.
func Readings(text string, known func(word string) bool) []Reading {
	var out []Reading
	seen := map[string]bool{text: true}
	level := []Reading{{Text: text}}
	for range maxDepth {
		var next []Reading
		for _, r := range level {
			for _, u := range undoOnce(r, known) {
				if !seen[u.Text] && len(seen) <= maxReadings {
					next = append(next, u)
					seen[u.Text] = true
				}
			}
		}
		out = append(out, next...)
		level = next
	}
	return out
}

// undoOnce returns the texts that result from r if one more disguise is undone: an encoding such as
// base64 or, if known is not nil, letters set apart ("r a t") or replaced ("l4mp"). Each text is in
// plain letters (see Plain). It returns none if no disguise is found. known reports whether a word
// in lower case is one of the language.
func undoOnce(r Reading, known func(string) bool) []Reading {
	var out []Reading
	add := func(text, how string) {
		if text != r.Text {
			out = append(out, Reading{Plain(text), strings.TrimPrefix(r.How+", "+how, ", ")})
		}
	}
	decoded, how := decode(r.Text)
	add(decoded, how)
	for _, e := range escapes {
		add(e.undo(r.Text), e.how)
	}
	if known == nil {
		return out
	}
	add(normaliseSpacing(r.Text, known), "letters set apart")
	for _, s := range substitutions {
		for _, text := range s.undo(r.Text, known) {
			add(text, s.how)
		}
	}
	return out
}
