package gates

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/scripts"
	"github.com/trajectory-arena/arena/internal/text"
)

// fold returns text in lower case and with ASCII digits. The byte offset of every word and of every
// figure's end is unchanged, so that quotes can be cut from the original. A letter whose lower case
// has another length in bytes is not changed, nor are bytes that are not UTF-8.
func fold(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	b := []byte(text)
	for i := 0; i < len(b); {
		if c := b[i]; c < utf8.RuneSelf {
			b[i] = lower(c)
			i++
			continue
		}
		c, width := utf8.DecodeRune(b[i:])
		if unicode.IsDigit(c) {
			i = foldFigure(b, i)
			continue
		}
		if low := unicode.ToLower(c); low != c && utf8.RuneLen(low) == width {
			utf8.EncodeRune(b[i:], low)
		}
		i += width
	}
	return string(b)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldFigure writes the figure of another script at b[i] with ASCII digits and marks, after as many
// blanks as these have bytes less. It returns the byte offset after the figure.
func foldFigure(b []byte, i int) int {
	var figure []byte
	end := i
	for end < len(b) {
		c, width := utf8.DecodeRune(b[end:])
		next, _ := utf8.DecodeRune(b[end+width:])
		if mark := figureMarks[c]; mark != 0 && unicode.IsDigit(next) {
			c = mark
		}
		sign := byte(min(scripts.ASCIIDigit(c), utf8.RuneSelf))
		isGap := sign == ' ' && next >= utf8.RuneSelf && unicode.IsDigit(next) // between thousands
		if !isDigit(sign) && !isMark(sign) && !isGap {
			break
		}
		figure = append(figure, sign)
		end += width
	}
	start := end - len(figure)
	for k := i; k < start; k++ {
		b[k] = ' '
	}
	copy(b[start:], figure)
	return end
}

// figureMarks are the marks of other scripts before decimals and between thousands, with the ASCII ones.
var figureMarks = map[rune]rune{'\u066b': '.', '\u066c': ',', '．': '.', '，': ','}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// wordBytes has true for the ASCII letters and digits.
var wordBytes = func() (bytes [256]bool) {
	for c := range bytes {
		low := lower(byte(c))
		bytes[c] = low >= 'a' && low <= 'z' || isDigit(low)
	}
	return bytes
}()

func isWordByte(c byte) bool { return wordBytes[c] }

// unspaced reports whether a rune is in a script that is treated as written without blanks between
// words: Thai, Japanese, Chinese or Korean. Digits are not.
func unspaced(r rune) bool {
	return r >= 0x0E00 && r < 0x0E50 || r > 0x0E59 && r <= 0x0E7F || r >= 0x3040 && r <= 0x30FF ||
		r >= 0x3400 && r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7AF || r >= 0xF900 && r <= 0xFAFF
}

// maxQuote is the maximum number of bytes of a quotation that is given as evidence for a gate (a
// test of the reasoning).
const maxQuote = 240

// clip returns at most maxQuote bytes from the beginning of a text, without white space around
// them. It does not cut a character in two.
func clip(s string) string {
	return strings.TrimSpace(text.ClipBytes(strings.TrimSpace(s), maxQuote))
}

// span is a half-open range of bytes, or of indexes of a slice.
type span struct{ start, end int32 }

// quote returns at most maxQuote bytes of a sentence: the first ones, if these contain the evidence.
// Otherwise the quotation begins maxQuote/2 bytes before the evidence, but not before the sentence.
func quote(text string, sentence, evidence span) string {
	start := sentence.start
	if sentence.end-start > maxQuote && evidence.end-start > maxQuote {
		start = max(start, evidence.start-maxQuote/2)
		for start < evidence.start && !utf8.RuneStart(text[start]) {
			start++
		}
	}
	return clip(text[start:sentence.end])
}

// A brand in a script without blanks is searched for in the thinking by its characters.
const (
	// minName and maxName are the minimum and maximum number of characters of a brand in a script
	// without blanks, such as Chinese, that is searched for in the thinking.
	minName = 2
	maxName = 6
	// maxNames is the maximum number of different brands in scripts without blanks that are
	// searched for in the thinking of one attempt.
	maxNames = 512
)

// leadingWordEnd returns the end of the first word of a title or brand. In a script without blanks,
// that word ends at the first character that is no letter of such a script.
func leadingWordEnd(text string) int {
	if end := wordEnd(text, 0); end > 0 {
		return end
	}
	for i, c := range text {
		if !unspaced(c) {
			return i
		}
	}
	return len(text)
}

// unspacedBrand is a brand written in a script without blanks, such as Chinese, with the step of
// the first tool result that contains it.
type unspacedBrand struct {
	name string
	step int32
}

// unspacedBrands returns the brands of the products that are in scripts without blanks and have
// minName to maxName characters. The brand of a product without one is the beginning of its title.
// Each is returned once, at most maxNames of them, with the step of the first result that contains
// it.
func (x *factIndex) unspacedBrands() []unspacedBrand {
	var brands []unspacedBrand
	for i := range x.products {
		p := &x.products[i]
		text := cmp.Or(p.brand, p.title)
		name := text[:leadingWordEnd(text)]
		first, _ := utf8.DecodeRuneInString(name)
		n := utf8.RuneCountInString(name)
		if !unspaced(first) || n < minName || n > maxName || len(brands) == maxNames {
			continue
		}
		if !slices.ContainsFunc(brands, func(b unspacedBrand) bool { return b.name == name }) {
			brands = append(brands, unspacedBrand{name, p.step})
		}
	}
	return brands
}

// citeUnspacedBrands appends to r.cites each mention, in the passage, of a brand in a script
// without blanks that an earlier result contains.
func (r *reading) citeUnspacedBrands() {
	for _, b := range r.brands {
		if b.step < r.step {
			r.citeEach(b.name)
		}
	}
}

// citeEach appends to r.cites each occurrence of a brand in the passage's text. The brand must be
// in a script without blanks, such as Chinese.
func (r *reading) citeEach(brand string) {
	for offset := 0; ; {
		i := strings.Index(r.text[offset:], brand)
		if i < 0 {
			return
		}
		start := int32(offset + i)
		end := start + int32(len(brand))
		if sentence, ok := r.findSentence(start); ok {
			inRequest := strings.Contains(r.request, brand)
			r.cites = append(r.cites, cite{
				span: span{start, end}, kind: citeBrand, sentence: sentence, token: -1, product: -1, inRequest: inRequest,
			})
		}
		offset = int(end)
	}
}

// findSentence finds the sentence that contains the byte at offset, and returns its index. ok is
// false if there is none.
func (r *reading) findSentence(offset int32) (index int, ok bool) {
	return slices.BinarySearchFunc(r.sentences, offset, func(s sentence, offset int32) int {
		if s.end <= offset {
			return -1
		}
		return max(0, cmp.Compare(s.start, offset))
	})
}
