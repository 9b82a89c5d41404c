package calls

import (
	"math"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

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
	gjson.Parse(string(arguments)).ForEach(func(key, v gjson.Result) bool {
		if key.Str == "product_ids" || key.Str == "product_id" {
			ids = AppendIDs(ids, v, math.MaxInt)
		}
		return true
	})
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
	case v.Type == gjson.String:
		return appendSplit(ids, v.Str, most)
	default:
		return appendSplit(ids, v.Raw, most)
	}
}

func appendSplit(ids []string, text string, most int) []string {
	for id := range strings.FieldsFuncSeq(text, partsIDs) {
		if len(ids) >= most {
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
