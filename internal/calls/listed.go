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

// Listed are the calls of a text that is nothing but a list of them as Python has
// it: [Name of tool(key="value"), …]; none where it is not one to its end.
func Listed(text string) (all []arena.ToolCall) {
	if len(text) > MaxText {
		return nil
	}
	rest, isList := strings.CutPrefix(text, "[")
	for isList && strings.TrimSpace(rest) != "]" {
		name := listedName.FindStringSubmatch(rest)
		if name == nil {
			return nil
		}
		args, after, ok := listedArguments(rest[len(name[0]):])
		if !ok {
			return nil
		}
		all, rest = append(all, arena.ToolCall{Name: name[1], Arguments: args}), after
	}
	return all
}

func listedArguments(text string) (args arena.Raw, rest string, ok bool) {
	var members []string
	for {
		if rest, ok = strings.CutPrefix(strings.TrimSpace(text), ")"); ok {
			return arena.Raw("{" + strings.Join(members, ",") + "}"), rest, true
		}
		key := listedKey.FindStringSubmatch(text)
		if key == nil {
			return "", "", false
		}
		text = text[len(key[0]):]
		value := lenient.Rules{Depth: MaxDepth, Python: true}.Mend(text)
		if !value.Complete {
			return "", "", false
		}
		members, text = append(members, strconv.Quote(key[1])+":"+value.JSON), text[value.End:]
	}
}

// mendWords names the repairs of lenient in the order of their bits.
var mendWords = [...]string{RepairQuotes, RepairCommas, RepairLiterals, RepairKeys, RepairControl, RepairClosers}

// rules forgive all that has one meaning, and close what the end of the text left
// open between values, so that nothing is invented.
var rules = lenient.Rules{Depth: MaxDepth, Python: true, Close: true}

// strict are cursors for what is JSON as it stands.
var strict = sync.Pool{New: func() any { return cursor.New("", cursor.Limits{Depth: MaxDepth, StringBytes: math.MaxInt}) }}

// value cuts the first JSON value off s and returns it as valid JSON. A value
// that is not quite JSON is rewritten.
func value(s string) (json, rest string, m lenient.Mends, ok bool) {
	s = strings.TrimLeft(s, " \t\r\n")
	c, _ := strict.Get().(*cursor.Cursor)
	defer strict.Put(c)
	if c.Reset(s); c.Kind() >= arena.String {
		if json = string(c.Raw()); c.Err() == nil {
			return json, s[len(json):], 0, true
		}
	}
	if v := rules.Mend(s); v.Complete && gjson.Valid(v.JSON) {
		return v.JSON, s[v.End:], v.Mends, true
	}
	return "", s, 0, false
}

// Recommend is the tool that hands products to the customer.
const Recommend = "recommend_product"

// Recommended gives the ids that a call recommends, in order; none where the
// call is another tool's.
func Recommended(c arena.Call) []string {
	if c.Name != Recommend {
		return nil
	}
	return Products(c.Arguments)
}

// LastRecommended gives the ids of the last recommendation in some turns.
func LastRecommended(turns []arena.Turn) (ids []string) {
	for i := range turns {
		for _, call := range turns[i].Calls {
			if call.Name == Recommend {
				ids = Recommended(call)
			}
		}
	}
	return ids
}

// Products gives the ids that a call's arguments name under product_id and
// product_ids, in order.
func Products(arguments arena.Raw) []string {
	var ids []string
	for key, v := range gjson.Parse(string(arguments)).ForEach {
		if key.Str == "product_ids" || key.Str == "product_id" {
			ids = AppendIDs(ids, v, math.MaxInt)
		}
	}
	return ids
}

// AppendIDs adds the ids that a value holds to ids, until there are most in all.
// Models write them as a list, a number, or a text in which commas, white space,
// brackets or quotes part them: a list as JSON within a string is read, too.
func AppendIDs(ids []string, v gjson.Result, most int) []string {
	switch {
	case v.IsArray():
		v.ForEach(func(_, item gjson.Result) bool {
			ids = AppendIDs(ids, item, most)
			return len(ids) < most
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
		if len(ids) >= most {
			break
		}
		ids = append(ids, id)
	}
	return ids
}

func partsIDs(r rune) bool { return strings.ContainsRune(`,[]"'\`, r) || unicode.IsSpace(r) }
