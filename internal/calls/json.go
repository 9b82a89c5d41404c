package calls

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/cursor"
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
	if s != "" && strings.ContainsRune("{[\"", rune(s[0])) {
		strict := cursor.New(s, cursor.Limits{Depth: MaxDepth, StringBytes: len(s)})
		if strict.Skip(); strict.Err() == nil {
			return s[:strict.Mark()], s[strict.Mark():], 0, true
		}
	}
	if v := rules.Mend(s); v.Complete && gjson.Valid(v.JSON) {
		return v.JSON, s[v.End:], v.Mends, true
	}
	return "", s, 0, false
}
