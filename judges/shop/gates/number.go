package gates

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// number is a figure in a text with its possible values in hundredths. "1 289" has two of them,
// since a blank may group thousands or separate two figures.
type number struct {
	// end is the byte offset after the figure.
	end      int
	readings [2]int64
	// count is the number of readings that are set.
	count int
	// digits is the number of digits before any decimal mark.
	digits int
	// plain is set for a run of digits without any mark, which may be an id.
	plain bool
	// rounding is the unit, in hundredths, that a figure such as 1.1k or 1,3 juta is rounded to. It
	// is 0 if the figure is exact.
	rounding int64
}

// maxDigits is the maximum number of digits of an amount. A longer run of digits is an id and has
// no value.
const maxDigits = 12

// readNumber reads the figure that begins at text[i], which must be a digit, including blanks
// between thousands and a unit such as k.
func readNumber(text string, i int) number {
	n := readUnspaced(text, i)
	n.readSpaced(text)
	n.applyUnit(text)
	return n
}

// readUnspaced reads the figure that begins at text[i] and ends at the first blank. A unit after
// it, such as k, is not applied.
func readUnspaced(text string, i int) number {
	end := digitsEnd(text, i)
	n := number{end: end, digits: end - i, plain: true}
	if n.digits > maxDigits {
		return n
	}
	units, _ := strconv.ParseInt(text[i:end], 10, 64) // at most maxDigits digits
	decimals := int64(0)
	for {
		value, size := digitsAfterMark(text, n.end)
		groups := n.digits <= 3 || !n.plain
		if size == 3 && groups && n.digits < maxDigits-3 {
			units = units*1000 + value
			n.digits += 3
			n.end += 4
			n.plain = false
			continue
		}
		if size == 1 || size == 2 {
			decimals = value * [3]int64{1: 10, 2: 1}[size]
			n.end += 1 + size
			n.plain = false
		}
		break
	}
	n.add(units*100 + decimals)
	return n
}

// readSpaced extends a figure of one to three digits by three digits after a blank, as in "1
// 289,50". Since the two may also be separate figures, the part after the blank is stored as a
// second possible value.
func (n *number) readSpaced(text string) {
	if !n.plain || n.digits > 3 {
		return
	}
	width := blankWidth(text, n.end)
	start := n.end + width
	if width == 0 || digitsEnd(text, start)-start != 3 {
		return
	}
	tail := readUnspaced(text, start)
	if tail.digits != 3 || tail.count != 1 {
		return
	}
	n.readings = [2]int64{
		n.readings[0]*1000 + tail.readings[0],
		tail.readings[0],
	}
	n.count = 2
	n.digits += 3
	n.end = tail.end
	n.plain = false
}

// blankWidth returns the number of bytes of the blank or no-break space at text[i], or 0 if there
// is none.
func blankWidth(text string, i int) int {
	for _, blank := range [...]string{" ", "\u00a0", "\u202f"} {
		if strings.HasPrefix(text[i:], blank) {
			return len(blank)
		}
	}
	return 0
}

func (n *number) add(reading int64) {
	if n.count < len(n.readings) {
		n.readings[n.count] = reading
		n.count++
	}
}

// isPrice reports whether the figure may be a product's price in hundredths. It is false for 0, the
// price of a product of which no result has one.
func (n *number) isPrice(cents int64) bool {
	return cents > 0 && slices.Contains(n.readings[:n.count], cents)
}

// applyUnit multiplies the figure by the unit after it, as in 1.1k, 1,3 juta or 2万, if the unit is
// a thousand or more. It sets n.rounding to a tenth of the unit, or to a hundredth for a figure
// with two decimals.
func (n *number) applyUnit(text string) {
	start := n.end + blankWidth(text, n.end)
	if n.digits > 4 || start >= len(text) || isDigit(text[start]) {
		return
	}
	unit, width := unitAt(text, start)
	if !unit.multiplies || unit.value < 1000 {
		return
	}
	n.rounding = 10 * unit.value
	for i := range n.count {
		if n.readings[i]%10 != 0 {
			n.rounding = unit.value
		}
		n.readings[i] *= unit.value
	}
	n.end = start + width
	n.plain = false
	if r, _ := utf8.DecodeRuneInString(text[start:]); unspaced(r) {
		n.addTail(text, unit.value)
	}
}

// addTail adds the digits right after a unit, such as the 4900 of 5만4900, to the figure, which is
// then exact. It changes nothing if there are no digits or they are not less than the unit.
func (n *number) addTail(text string, unit int64) {
	if n.end >= len(text) || !isDigit(text[n.end]) {
		return
	}
	tail := readUnspaced(text, n.end)
	if tail.readings[0] >= 100*unit {
		return
	}
	for i := range n.count {
		n.readings[i] += tail.readings[0]
	}
	n.end = tail.end
	n.rounding = 0
}

// unitAt returns the number word at text[i] and its length in bytes. In scripts without blanks it
// finds the longest number word that begins there. The result is zero if no number word is found.
func unitAt(text string, i int) (unit numberWord, width int) {
	if end := wordEnd(text, i); end > i {
		return numberWords()[text[i:end]], end - i
	}
	if r, _ := utf8.DecodeRuneInString(text[i:]); unspaced(r) {
		return longestNumberWord(text[i:])
	}
	return numberWord{}, 0
}

// digitsAfterMark reads the one to three digits after a grouping or decimal mark at text[i], such
// as 289 after the point of "1.289". value is the number they form and size how many they are. size
// is 0 if text[i] is no mark, no digit follows or more than three do.
func digitsAfterMark(text string, i int) (value int64, size int) {
	if i+1 >= len(text) || !isMark(text[i]) || !isDigit(text[i+1]) {
		return 0, 0
	}
	size = digitsEnd(text, i+1) - i - 1
	if size > 3 {
		return 0, 0
	}
	value, _ = strconv.ParseInt(text[i+1:i+1+size], 10, 64)
	return value, size
}

// isMark reports whether c is a grouping or decimal mark: a point, a comma or an apostrophe.
func isMark(c byte) bool { return c == '.' || c == ',' || c == '\'' }

func digitsEnd(text string, i int) int {
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}
