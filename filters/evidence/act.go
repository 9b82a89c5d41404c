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

// Act is a call with its arguments brought to one form, so that two spellings
// of the same request are equal: order of keys, types, defaults and encoding
// do not count. Empty fields mean "not given".
type Act struct {
	Tool Tool
	// name is a hash of the name of a tool that is told by it alone.
	name uint64
	// Words are hashes of the query's words in order; empty for other tools.
	Words []uint64
	// IDs are the product ids asked for or recommended, in order.
	IDs []string
	// specs are the queries of a search over one shop.
	specs [][]uint64
	Page  int
	// Shop is a hash of the shop that is searched.
	Shop uint64
	// Rest is a hash over all other arguments.
	Rest uint64
	// Used marks a named call that a dispatch has consumed, Begun one that a dispatch has
	// asked for a part of.
	Used, Begun bool
}

// Read brings the arguments of a call into a. encoded says that text values
// went through a URL encoder, as they do on the way to the proxy.
func (a *Act) Read(p *Pad, r Role, args arena.Raw, encoded bool) {
	*a = Act{Tool: r.Tool, name: r.name, Page: 1}
	if args.Kind() != arena.Object || !p.room() {
		return
	}
	for key, v := range gjson.Parse(string(args)).ForEach {
		if v.Type != gjson.Null && !r.argument(a, p, key.Str, v, encoded) {
			a.argument(p, key.Str, v, encoded)
		}
	}
}

func (a *Act) argument(p *Pad, key string, v gjson.Result, encoded bool) {
	switch key {
	case "q", "query":
		from := len(p.words)
		q := text(v)
		if strings.IndexByte(q, '%') >= 0 { // a plus parts words as a blank does
			q = plain(q, encoded)
		}
		p.words = AppendWords(p.words, q)
		a.Words = p.words[from:len(p.words):len(p.words)]
	case "product_ids", "product_id":
		from := len(p.ids)
		p.ids = appendIDs(p.ids, v, encoded)
		a.IDs = p.ids[from:len(p.ids):len(p.ids)]
	case "product_queries":
		a.queries(v)
	case "page":
		if n, err := strconv.ParseFloat(strings.TrimSpace(text(v)), 64); err == nil {
			a.Page = int(n)
		}
	case "shop_id":
		a.Shop = filter(v, encoded)
	default:
		if a.Tool == ToolOther || a.Tool == ToolAsk || a.Tool == ToolTerminate {
			a.foreign(p, v)
		}
		if h := filter(v, encoded); h != 0 {
			a.Rest += Mix(HashText(key), h)
		}
	}
}

// foreign reads an argument of a tool that the shop does not have by its value
// alone: what is nothing but ids are products, the longest other text is what is
// searched for.
func (a *Act) foreign(p *Pad, v gjson.Result) {
	from := len(p.ids)
	p.ids = appendIDs(p.ids, v, false)
	ids := p.ids[from:len(p.ids):len(p.ids)]
	for _, id := range ids {
		if len(id) < minID || strings.Trim(id, "0123456789") != "" {
			p.ids, ids = p.ids[:from], nil
			break
		}
	}
	switch {
	case len(ids) > 0 && len(a.IDs) == 0:
		a.IDs = ids
	case v.Type == gjson.String:
		start := len(p.words)
		p.words = AppendWords(p.words, v.Str)
		if said := p.words[start:len(p.words):len(p.words)]; len(said) > len(a.Words) {
			a.Words = said
		}
	}
}

// minID is how long a number must be to be a product's and no count or price.
const minID = 6

// queries reads the list of searches that find_products_in_same_shop takes, as
// JSON or as JSON in a string.
func (a *Act) queries(v gjson.Result) {
	if v.Type == gjson.String {
		v = gjson.Parse(v.Str)
	}
	v.ForEach(func(_, spec gjson.Result) bool {
		q := spec
		if spec.IsObject() {
			q = spec.Get("q")
		}
		a.specs = append(a.specs, AppendWords(nil, text(q)))
		return len(a.specs) < maxSpecs
	})
}

// maxSpecs bounds the searches of one call; real ones have two to four.
const maxSpecs = 32

func text(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.Str
	}
	return v.Raw
}

// plain takes URL encoding off a value, as often as it was put on; clients
// quote once or twice. Arguments that never were encoded pass unchanged unless
// they hold a sign of it.
func plain(s string, encoded bool) string {
	if !encoded {
		return s
	}
	for range maxQuotings {
		if !strings.ContainsAny(s, "+%") {
			break
		}
		u, err := url.QueryUnescape(s)
		if err != nil {
			u = strings.ReplaceAll(s, "+", " ")
		}
		s = u
	}
	return s
}

const maxQuotings = 3

func appendIDs(ids []string, v gjson.Result, encoded bool) []string {
	if encoded {
		v = gjson.Result{Type: gjson.String, Str: plain(text(v), true)}
	}
	return calls.AppendIDs(ids, v, len(ids)+maxIDs)
}

// maxIDs bounds the ids of one call; a page of the shop has ten.
const maxIDs = 256

// filter hashes the words of a value, whatever their order and however they are set
// apart: a list and a text with commas are one. 0 is no filter, as "default" is.
func filter(v gjson.Result, encoded bool) (h uint64) {
	for word := range strings.FieldsFuncSeq(strings.ToLower(plain(text(v), encoded)), func(r rune) bool { return strings.ContainsRune(" ,[]\"", r) }) {
		if word != "default" {
			h += HashText(word)
		}
	}
	return h
}

// SameRequest reports whether two acts ask for the same thing in every argument.
func (a *Act) SameRequest(b *Act) bool {
	return a.sameSubject(b) && a.Page == b.Page && a.Shop == b.Shop && a.Rest == b.Rest
}

// sameSubject reports whether two acts are about the same thing: the same words, the
// same products. Filters may differ.
func (a *Act) sameSubject(b *Act) bool {
	return a.Tool == b.Tool && a.name == b.name && slices.Equal(a.Words, b.Words) && SameIDs(a.IDs, b.IDs) && len(a.specs) == len(b.specs)
}

// SameIDs compares as sets: an order of ids is the client's business.
func SameIDs(a, b []string) bool {
	return slices.Equal(a, b) || len(a) == len(b) && Subset(a, b) && Subset(b, a)
}

// Subset reports whether every id of a stands in b.
func Subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(x string) bool { return !slices.Contains(b, x) })
}
