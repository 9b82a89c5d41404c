package evidence

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
)

// Act is a tool call with normalised arguments. Two spellings of the same request are equal: the
// order of keys, types, defaults and encoding do not matter. A field is empty if the call does
// not set it.
type Act struct {
	Tool Tool
	// name is the hash of the tool's name. It is set only for tools whose kind does not identify
	// them.
	name uint64
	// Words are the hashes of the query's words in order; empty for other tools.
	Words []uint64
	// IDs are the item ids that the call requests or commits, in order.
	IDs []string
	// specs are the queries of a call of find_products_in_same_shop, each as the hashes of its
	// words.
	specs [][]uint64
	Page  int
	// Scope is the hash of the owner whose items are searched, 0 for all items.
	Scope uint64
	// OtherArgs is a hash of all other arguments.
	OtherArgs uint64
	// Used reports, for a call in a model's reply, whether a logged request carried out all of
	// it. Started reports whether one carried out at least a part of it.
	Used    bool
	Started bool
}

// read sets a to the normalised form of a call, in which calls of different clients can be
// compared. r is the tool, and args its arguments: a JSON object or a string that contains one.
// encoded reports whether text values are URL-encoded, as they are in the proxy's log. The
// arguments stay empty if args is no JSON object, or if the attempt is larger than the limits of s.
func (a *Act) read(
	s *scratch,
	r Role,
	args arena.Raw,
	encoded bool,
) {
	*a = Act{Tool: r.Tool, name: r.name, Page: 1}
	if args.Kind() == arena.String { // the JSON of an object in a string
		args = arena.Raw(gjson.Parse(string(args)).Str)
	}
	if args.Kind() != arena.Object || !s.hasRoom() {
		return
	}
	for key, v := range gjson.Parse(string(args)).ForEach {
		if v.Type == gjson.Null {
			continue
		}
		if !r.readArgument(a, s, key.Str, v, encoded) {
			a.readArgument(s, key.Str, v, encoded)
		}
	}
}

// readArgument reads one argument of a call, with the name key and the value v, into a. It knows
// the argument names of the standard set of tools. An argument with another name is only hashed
// into OtherArgs. If the tool is not in that set either, the argument's value may also be the query
// or the items.
func (a *Act) readArgument(
	s *scratch,
	key string,
	v gjson.Result,
	encoded bool,
) {
	switch key {
	case "q", "query":
		query := valueText(v)
		if strings.IndexByte(query, '%') >= 0 { // a plus separates words as a blank does
			query = unquote(query, encoded)
		}
		start := len(s.words)
		s.words = AppendWords(s.words, query)
		a.Words = s.words[start:len(s.words):len(s.words)]
	case "product_ids", "product_id":
		a.IDs = s.appendIDs(v, encoded)
	case "product_queries":
		a.readQueries(v)
	case "page":
		if n, err := strconv.ParseFloat(strings.TrimSpace(valueText(v)), 64); err == nil {
			a.Page = int(n)
		}
	case "shop_id":
		a.Scope = hashFilter(v, encoded)
	default:
		if a.Tool == ToolOther || a.Tool == ToolAsk || a.Tool == ToolTerminate {
			a.readByValue(s, v)
		}
		if h := hashFilter(v, encoded); h != 0 {
			a.OtherArgs += Mix(HashText(key), h)
		}
	}
}

// readByValue reads one argument of a tool call whose argument names are unknown. If the value
// consists of item ids and the call has none yet, it becomes a.IDs. Of all other texts, the one
// with the most words becomes a.Words, the query.
func (a *Act) readByValue(s *scratch, v gjson.Result) {
	start := len(s.ids)
	ids := s.appendIDs(v, false)
	if !slices.ContainsFunc(ids, isNotID) {
		if len(ids) > 0 && len(a.IDs) == 0 {
			a.IDs = ids
			return
		}
	} else {
		s.ids = s.ids[:start]
	}

	if v.Type != gjson.String {
		return
	}
	start = len(s.words)
	s.words = AppendWords(s.words, v.Str)
	if words := s.words[start:len(s.words):len(s.words)]; len(words) > len(a.Words) {
		a.Words = words
	}
}

// hasValues reports whether a call has any argument value, such as query words or items. A logged
// request without one, such as search(), is no sign that the model asked for it, since any client
// could send it.
func (a *Act) hasValues() bool {
	return len(a.Words) > 0 || len(a.IDs) > 0 || len(a.specs) > 0 || a.Page > 1 || a.Scope != 0 || a.OtherArgs != 0
}

// minID is the minimum number of digits of an item id. Shorter numbers are counts or prices.
const minID = 6

func isNotID(id string) bool {
	return len(id) < minID || strings.Trim(id, "0123456789") != ""
}

// readQueries reads the queries of a call of find_products_in_same_shop into a.specs. v is a
// JSON list of queries, or a string that contains such a list.
func (a *Act) readQueries(v gjson.Result) {
	if v.Type == gjson.String {
		v = gjson.Parse(v.Str)
	}
	v.ForEach(func(_, spec gjson.Result) bool {
		query := spec
		if spec.IsObject() {
			query = spec.Get("q")
		}
		a.specs = append(a.specs, AppendWords(nil, valueText(query)))
		return len(a.specs) < maxSpecs
	})
}

// maxSpecs is the maximum number of queries that are read from one call of
// find_products_in_same_shop. Real calls have two to four.
const maxSpecs = 32

// valueText returns the content of a JSON string, without quotes, or the unchanged JSON of any
// other value: 12 → "12".
func valueText(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.Str
	}
	return v.Raw
}

// maxQuotings is the maximum number of times that URL encoding is undone in one value. Most clients
// encode a value once or twice.
const maxQuotings = 3

// unquote undoes URL encoding of s ("a%20b" → "a b"), up to maxQuotings times. It returns s
// unchanged if encoded is false.
func unquote(s string, encoded bool) string {
	if !encoded {
		return s
	}
	for range maxQuotings {
		if !strings.ContainsAny(s, "+%") {
			break
		}
		decoded, err := url.QueryUnescape(s)
		if err != nil {
			decoded = strings.ReplaceAll(s, "+", " ")
		}
		s = decoded
	}
	return s
}

// maxIDs is the maximum number of item ids that are read from one argument or result. A
// result page of the tool server has ten.
const maxIDs = 256

// appendIDs appends the item ids in an argument to s.ids and returns the appended ones.
// encoded reports whether the value is URL-encoded.
func (s *scratch) appendIDs(v gjson.Result, encoded bool) []string {
	if encoded {
		v = gjson.Result{
			Type: gjson.String,
			Str:  unquote(valueText(v), true),
		}
	}
	start := len(s.ids)
	s.ids = calls.AppendIDs(s.ids, v, start+maxIDs)
	return s.ids[start:len(s.ids):len(s.ids)]
}

// hashFilter returns a hash of the words in the value of a search filter. The order and
// separators of the words do not matter, so that a list and a text with commas are equal. It
// returns 0 for "default" and for a value without words.
func hashFilter(v gjson.Result, encoded bool) uint64 {
	isSeparator := func(r rune) bool { return strings.ContainsRune(" ,[]\"", r) }
	h := uint64(0)
	for word := range strings.FieldsFuncSeq(strings.ToLower(unquote(valueText(v), encoded)), isSeparator) {
		if word != "default" {
			h += HashText(word)
		}
	}
	return h
}

// SameRequest reports whether two calls have the same tool and the same arguments.
func (a *Act) SameRequest(b *Act) bool {
	return a.sameSubject(b) && a.Page == b.Page &&
		a.Scope == b.Scope && a.OtherArgs == b.OtherArgs
}

// sameSubject reports whether calls a and b ask for the same: the same tool, query words and items.
// The page, and filters of a search, may differ.
func (a *Act) sameSubject(b *Act) bool {
	return a.Tool == b.Tool && a.name == b.name &&
		slices.Equal(a.Words, b.Words) && SameIDs(a.IDs, b.IDs) &&
		slices.EqualFunc(a.specs, b.specs, slices.Equal)
}

// SameIDs reports whether a and b contain the same ids, in any order.
func SameIDs(a, b []string) bool {
	return slices.Equal(a, b) ||
		len(a) == len(b) && IsSubset(a, b) && IsSubset(b, a)
}

// IsSubset reports whether b contains every id of a.
func IsSubset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(id string) bool {
		return !slices.Contains(b, id)
	})
}
