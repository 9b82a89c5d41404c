package evidence

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
)

// narrowRange is the maximum ratio of the upper to the lower bound of a price range, such as
// 328/310, that can single out one item. Customers' requests have one bound, or two bounds that are
// farther apart.
const narrowRange = 1.25

// countPinned counts the searches within a narrow range of numbers, such as price=310-328, that
// nothing before them suggests: no number in the range is in the customer's request or an
// earlier result. Such a search knows the price of an item that was not shown yet.
func (a *Attempt) countPinned() int {
	n := 0
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		if d.Act.Tool.TakesIDs() {
			continue
		}
		for _, value := range gjson.Parse(string(cmp.Or(d.Call.Params, d.Call.Body))).ForEach {
			if strings.ContainsFunc(valueText(value), unicode.IsLetter) {
				continue
			}
			low, high, ok := parseRange(unquote(valueText(value), true))
			if ok && high <= low*narrowRange && !a.suggests(low, high, d.Start) {
				n++
				break
			}
		}
	}
	return n
}

// rangePattern matches two numbers with a hyphen, a dash, a comma or two points between them.
var rangePattern = regexp.MustCompile(`^\s*(\d{1,9}(?:\.\d{1,4})?)\s*(?:-|–|\.\.|,)\s*(\d{1,9}(?:\.\d{1,4})?)\s*$`)

// parseRange parses text such as "310-328" as the bounds of a range. ok is false if text is no such
// range or its bounds are not 0 < low <= high.
func parseRange(text string) (low, high float64, ok bool) {
	match := rangePattern.FindStringSubmatch(text)
	if match == nil {
		return 0, 0, false
	}
	low, errLow := strconv.ParseFloat(match[1], 64)
	high, errHigh := strconv.ParseFloat(match[2], 64)
	return low, high, errLow == nil && errHigh == nil && low > 0 && low <= high
}

// suggests reports whether a number from low to high is in the customer's request or in a result
// that ended before time (Unix milliseconds). It also returns true if a result was not recorded,
// or after maxSearched bytes were searched.
func (a *Attempt) suggests(low, high, time float64) bool {
	isWithin := func(text string) bool {
		for number := range numbers(text) {
			if number >= low && number <= high {
				return true
			}
		}
		return false
	}
	if isWithin(a.query) {
		return true
	}
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		if d.End > time+a.Log.Slack {
			continue
		}
		text := string(a.responseTo(d))
		a.searchedBytes += len(text)
		if d.unrecorded || a.searchedBytes > maxSearched || isWithin(text) {
			return true
		}
	}
	return false
}

// numbers yields the numbers in a text. Commas within a number are ignored, since they group
// thousands.
func numbers(text string) func(yield func(float64) bool) {
	isOutsideNumber := func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' }
	return func(yield func(float64) bool) {
		for part := range strings.FieldsFuncSeq(text, isOutsideNumber) {
			part = strings.ReplaceAll(strings.Trim(part, ".,"), ",", "")
			number, err := strconv.ParseFloat(part, 64)
			if err == nil && !yield(number) {
				return
			}
		}
	}
}
