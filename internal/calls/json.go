package calls

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/lenient"
)

// mendWords names the repairs of lenient in the order of their bits.
var mendWords = [...]string{RepairQuotes, RepairCommas, RepairLiterals, RepairKeys, RepairControl, RepairClosers}

// rules forgive all that has one meaning, and close what the end of the text left
// open between values, so that nothing is invented.
var rules = lenient.Rules{Depth: MaxDepth, Python: true, Close: true}

// value cuts the first JSON value off s and returns it as valid JSON. A value
// that is not quite JSON is rewritten.
func value(s string) (json, rest string, m lenient.Mends, ok bool) {
	s = strings.TrimLeft(s, " \t\r\n")
	if end, deep := span(s); end > 0 && deep <= MaxDepth && gjson.Valid(s[:end]) {
		return s[:end], s[end:], 0, true
	}
	if v := rules.Mend(s); v.Complete && gjson.Valid(v.JSON) {
		return v.JSON, s[v.End:], v.Mends, true
	}
	return "", s, 0, false
}

// span measures the object, list or string that s starts with, and how deep it
// nests, by strict JSON's rules for strings; 0 where it does not end.
func span(s string) (end, deep int) {
	if s == "" || (s[0] != '{' && s[0] != '[' && s[0] != '"') {
		return 0, 0
	}
	open, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
			if c == '\\' {
				i++
			}
			continue
		case c == '{' || c == '[':
			open++
			deep = max(deep, open)
		case c == '}' || c == ']':
			open--
		}
		if open == 0 && !quoted {
			return i + 1, deep
		}
	}
	return 0, 0
}
