package calls

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/lenient"
)

var (
	listedName = regexp.MustCompile(`^[\s,]*([\pL_][\pL\pN_ ./:-]{0,99})\(`)
	listedKey  = regexp.MustCompile(`^[\s,]*([\pL_][\pL\pN_-]{0,99})\s*=\s*`)
)

// Listed returns the calls of a text that consists of a Python list of calls, [Name of
// tool(key="value"), …]. It returns nil for any other text.
func Listed(text string) (calls []arena.ToolCall) {
	if len(text) > MaxText {
		return nil
	}
	remaining, isList := strings.CutPrefix(text, "[")
	for isList && strings.TrimSpace(remaining) != "]" {
		name := listedName.FindStringSubmatch(remaining)
		if name == nil {
			return nil
		}
		args, after, ok := listedArguments(remaining[len(name[0]):])
		if !ok {
			return nil
		}
		calls, remaining = append(calls, arena.ToolCall{
			Name:      name[1],
			Arguments: args,
		}), after
	}
	return calls
}

func listedArguments(text string) (args arena.Raw, remaining string, ok bool) {
	var members []string
	for {
		if remaining, ok = strings.CutPrefix(strings.TrimSpace(text), ")"); ok {
			return arena.Raw("{" + strings.Join(members, ",") + "}"), remaining, true
		}
		key := listedKey.FindStringSubmatch(text)
		if key == nil {
			return "", "", false
		}
		text = text[len(key[0]):]
		value := lenient.Rules{Depth: MaxDepth, Python: true}.Repair(text)
		if !value.Complete {
			return "", "", false
		}
		members, text = append(members, strconv.Quote(key[1])+":"+value.JSON), text[value.End:]
	}
}

// mendWords are the names under which repairs of a model's JSON are reported. Their order is that
// of the bits of lenient.Repairs.
var mendWords = [...]string{RepairQuotes, RepairCommas, RepairLiterals, RepairKeys, RepairControl, RepairClosers}

// rules are the repairs that are made to JSON of models: those that have one obvious meaning. Lists
// and objects that are open at the end of the text are closed, but no value is invented.
var rules = lenient.Rules{Depth: MaxDepth, Python: true, Close: true}

// strict is a pool of cursors that accept only valid JSON.
var strict = sync.Pool{New: func() any {
	return cursor.New("", cursor.Limits{
		Depth:       MaxDepth,
		StringBytes: math.MaxInt,
	})
}}

// cutValue splits the first JSON value off s. It returns the value as valid JSON, the text after
// it, and the repairs that were needed. ok is false if s does not start with a value that can be
// repaired; remaining is then s without leading blanks.
func cutValue(s string) (json, remaining string, m lenient.Repairs, ok bool) {
	s = strings.TrimLeft(s, " \t\r\n")
	c, _ := strict.Get().(*cursor.Cursor)
	defer strict.Put(c)
	if c.Reset(s); c.Kind() >= arena.String {
		if json = string(c.Raw()); c.Err() == nil {
			return json, s[len(json):], 0, true
		}
	}
	if v := rules.Repair(s); v.Complete && gjson.Valid(v.JSON) {
		return v.JSON, s[v.End:], v.Mends, true
	}
	return "", s, 0, false
}

// AppendIDs appends the ids in a JSON value until ids has limit elements. Models write ids as a
// list, a number, or a text in which commas, white space, brackets or quotes separate them. Such
// a text may also be a JSON list.
func AppendIDs(ids []string, v gjson.Result, limit int) []string {
	switch {
	case v.IsArray():
		v.ForEach(func(_, item gjson.Result) bool {
			ids = AppendIDs(ids, item, limit)
			return len(ids) < limit
		})
		return ids
	case v.Type == gjson.Null:
		return ids
	}
	text := v.Raw
	if v.Type == gjson.String {
		text = v.Str
	}
	for id := range strings.FieldsFuncSeq(text, partsIDs) {
		if len(ids) >= limit {
			break
		}
		ids = append(ids, id)
	}
	return ids
}

func partsIDs(r rune) bool {
	switch r {
	case ',', '[', ']', '"', '\'', '\\':
		return true
	}
	return unicode.IsSpace(r)
}
