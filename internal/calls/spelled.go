package calls

import (
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// Spelled gives the calls of a reply that is written in no dialect of Mended: a
// tool's name, and after it the arguments' own keys with values set off by
// quotes, tags, brackets or the end of the line. Python, the XML of some models,
// special tokens and ReAct lines with labels in any language all look so; prose
// that speaks of a tool does not. A call whose arguments only running a program
// tells has none. No more than MaxSpelled bytes are read.
func Spelled(text string) iter.Seq[arena.Call] {
	return func(yield func(arena.Call) bool) {
		for name, rest := nextTool(text[:min(len(text), MaxSpelled)]); name != ""; {
			next, after := nextTool(rest)
			body := rest[:len(rest)-len(after)-len(next)]
			c := arena.Call{Name: name, Arguments: objectSpelled(name, body)}
			if c.Arguments == "" {
				c.Arguments = argumentsSpelled(name, body)
			}
			if (c.Arguments != "" || strings.HasPrefix(body, "(")) && !yield(c) {
				return
			}
			name, rest = next, after
		}
	}
}

// MaySpell reports whether Spelled could find a call, at the price of a search.
func MaySpell(text string) bool { return strings.Contains(text, toolMark) }

// IsSearchKey reports whether an argument of this name is one of the shop's own search.
func IsSearchKey(key string) bool { return slices.Contains(spelledKeys["find_product"], key) }

// MaxSpelled is how much of a reply is searched: twice what logs keep whole.
const MaxSpelled = 4 << 10

// spelledKeys are the arguments of the tools with the one first without which
// nothing is asked for.
var spelledKeys = map[string][]string{
	"find_product":               {"q", "query", "page", "price", "shop_id", "service", "sort"},
	"view_product_information":   {"product_ids", "product_id"},
	"check_product_match":        {"product_id", "product_ids"},
	Recommend:                    {"product_ids", "product_id"},
	"find_products_in_same_shop": {"product_queries"},
}

// toolMark stands in the name of every tool of spelledKeys.
const toolMark = "product"

// nextTool finds the first name of a tool that stands alone.
func nextTool(text string) (name, rest string) {
	for from := 0; ; {
		i := strings.Index(text[from:], toolMark)
		if i < 0 {
			return "", ""
		}
		start, end := from+i, from+i
		for start > 0 && nameByte(text[start-1]) {
			start--
		}
		for end < len(text) && nameByte(text[end]) {
			end++
		}
		if name = text[start:end]; spelledKeys[name] != nil {
			return name, text[end:]
		}
		from = end
	}
}

func nameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= '0' && c <= '9'
}

// objectSpelled is the JSON object that follows a tool's name after signs alone,
// as in <function=find_product>{"q": "lamp"}; empty where there is none with a
// key of that tool.
func objectSpelled(name, body string) arena.Raw {
	open := strings.IndexByte(body, '{')
	if open < 0 || strings.Contains(body[:open], `"`) || !strings.Contains(body[open:], "}") {
		return ""
	}
	args := ArgumentsIn(body[open : strings.LastIndexByte(body, '}')+1])
	for _, key := range spelledKeys[name] {
		if gjson.Get(string(args), key).Exists() {
			return args
		}
	}
	return ""
}

// argumentsSpelled gathers what body gives for a tool's keys, as a JSON object;
// empty where it gives nothing to ask for.
func argumentsSpelled(name, body string) arena.Raw {
	var args []byte
	for i, key := range spelledKeys[name] {
		value := valueOf(body, key)
		if value == "" && i == 0 {
			value = onlyValue(body)
		}
		if value == "" {
			continue
		}
		if args = append(args, ','); len(args) == 1 {
			args[0] = '{'
		}
		args = gjson.AppendJSONString(args, key)
		args = gjson.AppendJSONString(append(args, ':'), value)
	}
	if args == nil {
		return ""
	}
	return arena.Raw(append(args, '}'))
}

// onlyValue is the first argument of a function that is called without its
// key, as in find_product("lamp").
func onlyValue(body string) string {
	if !strings.HasPrefix(body, "(") {
		return ""
	}
	switch body = strings.TrimLeft(body[1:], " \n"); {
	case strings.HasPrefix(body, `"`), strings.HasPrefix(body, "'"), strings.HasPrefix(body, "["):
		return setOff("=" + body)
	}
	return ""
}

// valueOf finds the key as a word of its own and reads the value set off after
// it.
func valueOf(body, key string) string {
	for from := 0; ; {
		i := strings.Index(body[from:], key)
		if i < 0 {
			return ""
		}
		at, end := from+i, from+i+len(key)
		from = end
		if at > 0 && nameByte(body[at-1]) || end < len(body) && nameByte(body[end]) {
			continue
		}
		if value := setOff(body[end:]); value != "" {
			return value
		}
	}
}

// setOff reads the value that follows a key: after a sign that joins the two,
// up to the sign that closes what was opened.
func setOff(s string) string {
	var last byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '<': // a tag between key and value
			if i = skipTo(s, i, '>'); i < len(s) {
				last = '>'
			}
		case '>', ':', '=':
			last = c
		case '"', '\'':
			if last != 0 && last != '>' {
				return inQuotes(s[i:])
			}
		case ' ', '\n', '\t', '`', '|', '(':
		case '[':
			return upTo(s[i+1:], "]")
		default:
			return unquotedValue(s[i:], last)
		}
	}
	return ""
}

// inQuotes is the text that starts with a quote and ends with the same one;
// empty where code goes on to compute something of it.
func inQuotes(s string) string {
	for end := 1; end < len(s); end++ {
		switch s[end] {
		case '\\':
			end++
		case s[0]:
			if strings.HasPrefix(s[end+1:], ".") || strings.HasPrefix(s[end+1:], "%") {
				return ""
			}
			if s[0] == '"' && strings.IndexByte(s[:end], '\\') > 0 {
				return gjson.Parse(s[:end+1]).Str
			}
			return s[1:end]
		}
	}
	return ""
}

// unquotedValue is a value without quotes: what a tag holds, the rest of a
// labelled line, or a number. A word after an equals sign is a variable, whose
// value nobody knows.
func unquotedValue(s string, last byte) string {
	switch {
	case last == '>':
		return strings.TrimSpace(upTo(s, "<"))
	case last == ':' && inObject(s):
		return s[:len(s)-len(strings.TrimLeft(s, numberSigns))]
	case last == ':':
		return strings.TrimSpace(upTo(s, "\n"))
	case last == '=' && s[0] >= '0' && s[0] <= '9':
		return strings.TrimRight(s[:len(s)-len(strings.TrimLeft(s, numberSigns))], ".-")
	}
	return ""
}

const numberSigns = "0123456789.-"

// inObject reports whether s starts with a number which JSON goes on after: with the
// next key in quotes, or the end of the object.
func inObject(s string) bool {
	after := strings.TrimLeft(s, numberSigns)
	if len(after) == len(s) {
		return false
	}
	after = strings.TrimLeft(after, " \n\t")
	return strings.HasPrefix(after, "}") || strings.HasPrefix(after, ",") && strings.HasPrefix(strings.TrimLeft(after[1:], " \n\t"), `"`)
}

// upTo is s up to the first of the given signs, all of it where there is none.
func upTo(s, sign string) string {
	before, _, _ := strings.Cut(s, sign)
	return before
}

// skipTo is where c stands next, at the earliest at the given place.
func skipTo(s string, at int, c byte) int {
	if at >= len(s) {
		return len(s)
	}
	if i := strings.IndexByte(s[at:], c); i >= 0 {
		return at + i
	}
	return len(s)
}
