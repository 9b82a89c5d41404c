package gates

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// number is a figure in a text: what it may mean, in hundredths. Grouping and
// decimal marks differ between languages, so "1.234" has two readings.
type number struct {
	end      int
	readings [2]int64
	count    int
	// digits is the count of digits before any decimal mark.
	digits int
	// plain is a run of digits alone, which may be an id.
	plain bool
	// step is what a figure such as 1.1k or 1,3 juta is rounded to, in
	// hundredths; 0 where it is exact.
	step int64
}

// maxDigits bounds a figure that is still an amount; longer runs are ids.
const maxDigits = 12

// readNumber reads the figure that begins at text[i], a digit.
func readNumber(text string, i int) number {
	n := readUnspaced(text, i)
	n.readSpaced(text)
	n.applySuffix(text)
	return n
}

func readUnspaced(text string, i int) number {
	end := digitsEnd(text, i)
	n := number{end: end, digits: end - i, plain: true}
	if n.digits > maxDigits {
		return n
	}
	whole, _ := strconv.ParseInt(text[i:end], 10, 64) // of digits alone, and few
	decimals := int64(0)
	for n.plain || n.count == 0 {
		piece, size := pieceAfter(text, n.end)
		if size == 3 && (n.digits <= 3 || !n.plain) && n.digits < maxDigits-3 {
			if n.plain {
				n.add(whole*100 + piece/10)
			}
			whole, n.digits = whole*1000+piece, n.digits+3
			n.end, n.plain, n.count = n.end+4, false, 0
			continue
		}
		if size == 1 || size == 2 {
			decimals = piece * [3]int64{1: 10, 2: 1}[size]
			n.end, n.plain = n.end+1+size, false
		}
		break
	}
	n.add(whole*100 + decimals)
	return n
}

// readSpaced reads the blank in "1 289,50" as a mark of thousands, beside the
// reading of the tail alone: two figures may stand side by side by chance.
func (n *number) readSpaced(text string) {
	blank := blankAt(text, n.end)
	at := n.end + blank
	if !n.plain || n.digits > 3 || blank == 0 || digitsEnd(text, at)-at != 3 {
		return
	}
	tail := readUnspaced(text, at)
	if tail.digits == 3 && tail.count == 1 {
		n.readings = [2]int64{n.readings[0]*1000 + tail.readings[0], tail.readings[0]}
		n.count, n.digits, n.end, n.plain = 2, n.digits+3, tail.end, false
	}
}

// blankAt is the width of a blank or a no-break space at text[i].
func blankAt(text string, i int) int {
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

// applySuffix reads the unit of 1.1k, 1,3 juta or 2万: thousands or more that
// the figure counts. Such a figure is known to a tenth of its unit, or to a
// hundredth where it says so.
func (n *number) applySuffix(text string) {
	at := n.end + blankAt(text, n.end)
	if n.digits > 4 || at >= len(text) || isDigit(text[at]) {
		return
	}
	unit, width := unitAt(text, at)
	if !unit.times || unit.value < 1000 {
		return
	}
	n.step = 10 * unit.value
	for i := range n.count {
		if n.readings[i]%10 != 0 {
			n.step = unit.value
		}
		n.readings[i] *= unit.value
	}
	n.end, n.plain = at+width, false
	if r, _ := utf8.DecodeRuneInString(text[at:]); unspaced(r) {
		n.addRest(text, unit.value)
	}
}

// addRest reads what follows a unit at once in scripts without blanks, such as
// the 4900 of 5만4900: it is less than the unit, and makes the figure exact.
func (n *number) addRest(text string, unit int64) {
	if n.end >= len(text) || !isDigit(text[n.end]) {
		return
	}
	rest := readUnspaced(text, n.end)
	if rest.readings[0] >= 100*unit {
		return
	}
	for i := range n.count {
		n.readings[i] += rest.readings[0]
	}
	n.end, n.step = rest.end, 0
}

// unitAt is what the word at text[i], or the sign in scripts without blanks,
// is worth as a number word.
func unitAt(text string, i int) (unit worth, width int) {
	if end := wordRun(text, i); end > i {
		return numberWords()[text[i:end]], end - i
	}
	if r, _ := utf8.DecodeRuneInString(text[i:]); unspaced(r) {
		return longestNumber(text[i:])
	}
	return worth{}, 0
}

// pieceAfter reads the digits after one mark at text[i]; size is 0 where there
// are none or where they are no part of a figure.
func pieceAfter(text string, i int) (value int64, size int) {
	if i+1 >= len(text) || text[i] != '.' && text[i] != ',' && text[i] != '\'' || !isDigit(text[i+1]) {
		return 0, 0
	}
	if size = digitsEnd(text, i+1) - i - 1; size > 3 {
		return 0, 0
	}
	value, _ = strconv.ParseInt(text[i+1:i+1+size], 10, 64)
	return value, size
}

func digitsEnd(text string, i int) int {
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}
