package gates

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// number is a figure in a text with its possible values in hundredths. Grouping
// and decimal marks differ between languages, so "1.234" has two readings.
type number struct {
	end      int
	readings [2]int64
	// count is the number of readings.
	count int
	// digits is the number of digits before any decimal mark.
	digits int
	// plain is set for a run of digits alone, which may be an id.
	plain bool
	// rounding is the unit that a figure such as 1.1k or 1,3 juta is rounded to,
	// in hundredths; 0 if it is exact.
	rounding int64
}

// maxDigits is the maximum number of digits of an amount; longer runs are ids.
const maxDigits = 12

// readNumber returns the figure that begins at text[i], a digit.
func readNumber(text string, i int) number {
	n := readUnspaced(text, i)
	n.readSpaced(text)
	n.applyUnit(text)
	return n
}

// readUnspaced returns the figure up to the first blank.
func readUnspaced(text string, i int) number {
	end := digitsEnd(text, i)
	n := number{end: end, digits: end - i, plain: true}
	if n.digits > maxDigits {
		return n
	}
	units, _ := strconv.ParseInt(text[i:end], 10, 64) // at most maxDigits digits
	decimals := int64(0)
	for n.plain || n.count == 0 {
		value, size := digitsAfterMark(text, n.end)
		groups := n.digits <= 3 || !n.plain
		if size == 3 && groups && n.digits < maxDigits-3 {
			if n.plain {
				n.add(units*100 + value/10)
			}
			units = units*1000 + value
			n.digits += 3
			n.end += 4
			n.plain = false
			n.count = 0
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

// readSpaced reads the blank in "1 289,50" as a mark of thousands. The tail alone
// becomes the second reading: two figures may be adjacent by chance.
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

// blankWidth returns the number of bytes of a blank or a no-break space at
// text[i]; 0 if there is none.
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

// applyUnit multiplies the figure by the unit of 1.1k, 1,3 juta or 2万, which is a
// thousand or more. Such a figure is exact to a tenth of its unit, or to a
// hundredth if it has two decimals.
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

// addTail reads the digits right after a unit in scripts without blanks, such as
// the 4900 of 5만4900: they are less than the unit, and make the figure exact.
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

// unitAt returns the number word at text[i], or the sign in scripts without
// blanks.
func unitAt(text string, i int) (unit numberWord, width int) {
	if end := wordEnd(text, i); end > i {
		return numberWords()[text[i:end]], end - i
	}
	if r, _ := utf8.DecodeRuneInString(text[i:]); unspaced(r) {
		return longestNumberWord(text[i:])
	}
	return numberWord{}, 0
}

// digitsAfterMark reads the digits after one mark at text[i]. Their number, size,
// is 0 if there are none or they are no part of a figure.
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

// isMark reports whether c is a grouping or decimal mark.
func isMark(c byte) bool { return c == '.' || c == ',' || c == '\'' }

func digitsEnd(text string, i int) int {
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}
