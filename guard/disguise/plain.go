// Package disguise undoes what hides a text from a program and from no person:
// code points that are not drawn, letters that look like others, letters set
// apart, exchanged, turned round or encoded.
package disguise

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Plain writes text in the letters that it shows: without what is not drawn, in
// compatibility form (full width, bold), and with Latin letters for those that look like them. A word of another script
// stays as it is in a text of that script. Bytes that are no character become a
// blank.
func Plain(text string) string {
	if isPlain(text) {
		return text
	}
	text = norm.NFKC.String(strings.Map(drawn, strings.ToValidUTF8(text, " ")))
	return norm.NFKC.String(inLatin(text)) // an accent joins the letter that took another's place
}

func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// drawn leaves out controls and the default-ignorable code points of Unicode, and
// makes a letter of one that stands in a box, a circle or a flag.
func drawn(r rune) rune {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return r
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return -1
	case r == '\u2800' || unicode.IsSpace(r): // the blank of Braille, and all others
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
	latin   script = iota
	alike          // all of its letters look like Latin ones and are not
	strange        // it has letters that look like none of Latin
)

// inLatin writes words in Latin letters that mix them with others that look
// alike, and words wholly of such letters where most words are Latin.
func inLatin(text string) string {
	count := map[script]int{}
	for _, word := range word.FindAllString(text, -1) {
		count[scriptOf(word)]++
	}
	mostlyLatin := count[latin] >= count[strange]
	return word.ReplaceAllStringFunc(text, func(word string) string {
		if s := scriptOf(word); s == latin || s == alike && mostlyLatin {
			return strings.Map(toLatin, word)
		}
		return word
	})
}

// word is a run of letters.
var word = regexp.MustCompile(`[\p{L}\p{M}]+`)

// scriptOf takes a word for Latin as soon as one of its letters is: no language
// mixes them with letters that look alike.
func scriptOf(word string) script {
	s := latin
	for _, r := range word {
		switch {
		case unicode.Is(unicode.Latin, r):
			return latin
		case unicode.IsMark(r):
		case toLatin(r) == r:
			s = strange
		case s == latin:
			s = alike
		}
	}
	return s
}

// alikes are, after each Latin letter, those of other scripts and of phonetic
// writing that are drawn like it (Unicode TR 39 calls them confusable), as far as
// fonts of today have them. Letters with strokes and hooks count as theirs.
const alikes = `
aаɑαᴀаӑаꭺаαɐⱥ bЬɓƀᏏʙвƅƃ cсϲᴄⅽсꮯҫȼƈ dԁɗđᴅꭰⅾꓓ eеҽɛᴇɇєеҿꭼ fƒꜰғϝẝꞙ gɡɢցԍɠǥ hһհħʜнһԋꮋɦ iіıɩɪιӏїɨӀⅰꭵ jјʝϳᴊɉ kкκᴋĸҝкƙⱪ
lӏɭʟⅼꓡłƚɫ mмᴍⅿⅯꮇɱ nпոռɴηɲƞпṇ oоοօσᴏօөⲟჿøɔо pрρᴘþϱƿꮲⲣ qԛգʠɋզ rгʀɾꭇᴦꮁꭱɼɽ sѕꜱʂꮪƽ tтτᴛŧтꭲƭț uսυᴜʋцʉ vνѵᴠⅴטν wԝѡաᴡɯωшⱳ xхχⅹхҳӽ yуүγʏყуƴɏч zʐᴢȥƶꮓʑʒ
AАΑᎪꓮ BВΒᏴꓐ CСϹᏟꓚⅭ DᎠꓓⅮ EЕΕᎬꓰ FϜꓝ GԌᏀꓖ HНΗᎻꓧ IІΙӀꓲ JЈᎫꓙ KКΚᏦꓗ LᏞꓡⅬŁ MМΜᎷꓟ NΝꓠ OОΟՕꓳØ PРΡᏢꓑ QԚ RᎡꓣ SЅՏᏚꓢ TТΤᎢꓔ UՍꓴ VѴᏙꓦ WԜᎳꓪ XХΧꓫ YҮΥꓬ ZΖᏃꓜ`

var latinOf = func() map[rune]rune {
	of := map[rune]rune{}
	for group := range strings.FieldsSeq(alikes) {
		letters := []rune(group)
		for _, r := range letters[1:] {
			of[r] = letters[0]
		}
	}
	return of
}()

// toLatin is the Latin letter that r is drawn like, r itself where there is none.
func toLatin(r rune) rune {
	if l, is := latinOf[r]; is {
		return l
	}
	return r
}

// Reading is one way to read a text that is disguised.
type Reading struct {
	Text string
	// How says what was undone: "base64", "spaced letters".
	How string
}

// Disguise in disguise (reversed, then spaced, then base64) is undone to
// maxDepth, and a text read in maxReadings ways.
const (
	maxDepth    = 3
	maxReadings = 24
)

// Readings returns what text, in plain letters, says beneath a disguise; none for
// most texts. known reports whether a word in lower case is one of the language:
// where it is nil, only encodings are undone.
func Readings(text string, known func(word string) bool) []Reading {
	var out []Reading
	seen, level := map[string]bool{text: true}, []Reading{{Text: text}}
	for range maxDepth {
		var next []Reading
		for _, r := range level {
			for _, u := range undoOnce(r, known) {
				if !seen[u.Text] && len(seen) <= maxReadings {
					next, seen[u.Text] = append(next, u), true
				}
			}
		}
		out, level = append(out, next...), next
	}
	return out
}

func undoOnce(r Reading, known func(string) bool) []Reading {
	var out []Reading
	note := func(text, how string) {
		if text != r.Text {
			out = append(out, Reading{Plain(text), strings.TrimPrefix(r.How+", "+how, ", ")})
		}
	}
	decoded, how := decode(r.Text)
	note(decoded, how)
	if known == nil {
		return out
	}
	note(together(r.Text, known), "letters set apart")
	for _, e := range exchanges {
		for _, text := range e.undo(r.Text, known) {
			note(text, e.how)
		}
	}
	return out
}
