package filters

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
)

// tool is one of the shop's tools as the filter tells them apart.
type tool uint8

const (
	toolOther tool = iota
	toolFind
	toolView
	toolMatch
	toolShop
	toolVoucher
	toolRecommend
	toolTerminate
)

func toolOf(name string) tool {
	switch name {
	case "find_product":
		return toolFind
	case "view_product_information":
		return toolView
	case "check_product_match":
		return toolMatch
	case "find_products_in_same_shop":
		return toolShop
	case "calculate_voucher":
		return toolVoucher
	case "recommend_product":
		return toolRecommend
	case "terminate":
		return toolTerminate
	}
	return toolOther
}

// catalogue reports whether a call of this tool asks the shop for something, so that
// an agent who makes it must have gone through the proxy or a local tool.
func (t tool) catalogue() bool { return t >= toolFind && t <= toolVoucher }

// act is a call with its arguments brought to one form, so that two spellings
// of the same request are equal: order of keys, types, defaults and encoding
// do not count. Empty fields mean "not given".
type act struct {
	tool tool
	// words are hashes of the query's words in order; empty for other tools.
	words []uint64
	// ids are the product ids asked for or recommended, in order.
	ids []string
	// specs are the queries of a search over one shop.
	specs [][]uint64
	page  int
	price priceRange
	// shop, service and sort are hashes of the filters' values.
	shop, service, sort uint64
	// rest is a hash over all other arguments.
	rest uint64
	// computed reports whether the call stands in a program that the model wrote, with
	// arguments that only running it tells.
	computed bool
	// used marks a named call that a dispatch has consumed.
	used bool
}

// priceRange is a filter on the price; open ends are 0 and +Inf. The zero
// value is "no filter".
type priceRange struct {
	set    bool
	lo, hi float64
}

// read brings the arguments of a call into a. encoded says that text values
// went through a URL encoder, as they do on the way to the proxy.
func (a *act) read(p *pad, t tool, args arena.Raw, encoded bool) {
	*a = act{tool: t, page: 1}
	if args.Kind() != arena.Object || !p.room() {
		return
	}
	gjson.Parse(string(args)).ForEach(func(key, v gjson.Result) bool {
		if v.Type != gjson.Null {
			a.argument(p, key.Str, v, encoded)
		}
		return true
	})
}

func (a *act) argument(p *pad, key string, v gjson.Result, encoded bool) {
	switch key {
	case "q", "query":
		from := len(p.words)
		q := text(v)
		if strings.IndexByte(q, '%') >= 0 { // a plus parts words as a blank does
			q = plain(q, encoded)
		}
		p.words = appendWords(p.words, q)
		a.words = p.words[from:len(p.words):len(p.words)]
	case "product_ids", "product_id":
		from := len(p.ids)
		p.ids = appendIDs(p.ids, v, encoded)
		a.ids = p.ids[from:len(p.ids):len(p.ids)]
	case "product_queries":
		a.queries(v)
	case "page":
		if n, err := strconv.ParseFloat(strings.TrimSpace(text(v)), 64); err == nil {
			a.page = int(n)
		}
	case "price":
		a.price = parsePrice(plain(text(v), encoded))
	case "shop_id":
		a.shop = hashText(plain(text(v), encoded))
	case "service":
		a.service = hashSet(v, encoded)
	case "sort":
		a.sort = hashText(plain(text(v), encoded))
	default:
		if a.tool == toolOther || a.tool == toolTerminate {
			a.foreign(p, v)
		}
		a.rest += mix(hashText(key), hashText(strings.ToLower(plain(text(v), encoded))))
	}
}

// foreign reads an argument of a tool that the shop does not have by its value
// alone: what is nothing but ids are products, the longest other text is what is
// searched for.
func (a *act) foreign(p *pad, v gjson.Result) {
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
	case len(ids) > 0 && len(a.ids) == 0:
		a.ids = ids
	case v.Type == gjson.String:
		start := len(p.words)
		p.words = appendWords(p.words, v.Str)
		if said := p.words[start:len(p.words):len(p.words)]; len(said) > len(a.words) {
			a.words = said
		}
	}
}

// minID is how long a number must be to be a product's and no count or price.
const minID = 6

// queries reads the list of searches that find_products_in_same_shop takes, as
// JSON or as JSON in a string.
func (a *act) queries(v gjson.Result) {
	if v.Type == gjson.String {
		v = gjson.Parse(v.Str)
	}
	v.ForEach(func(_, spec gjson.Result) bool {
		q := spec
		if spec.IsObject() {
			q = spec.Get("q")
		}
		a.specs = append(a.specs, appendWords(nil, text(q)))
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
		s = unquote(s)
	}
	return s
}

const maxQuotings = 3

func unquote(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			out = append(out, ' ')
		case s[i] == '%' && i+2 < len(s) && hexDigit(s[i+1]) < 16 && hexDigit(s[i+2]) < 16:
			out = append(out, hexDigit(s[i+1])<<4|hexDigit(s[i+2]))
			i += 2
		default:
			out = append(out, s[i])
		}
	}
	return string(out)
}

func hexDigit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}

// appendIDs adds the product ids that an argument holds.
func appendIDs(ids []string, v gjson.Result, encoded bool) []string {
	if encoded {
		v = gjson.Result{Type: gjson.String, Str: plain(text(v), true)}
	}
	return calls.AppendIDs(ids, v, len(ids)+maxIDs)
}

// maxIDs bounds the ids of one call; a page of the shop has ten.
const maxIDs = 256

// parsePrice reads "lo-hi" with open ends. What is no range keeps its text as
// a filter of its own kind: an impossible range that equals only itself.
func parsePrice(s string) priceRange {
	s = strings.ReplaceAll(strings.TrimSpace(s), " ", "")
	if s == "" {
		return priceRange{}
	}
	lo, hi, dashed := strings.Cut(s, "-")
	if !dashed {
		return priceRange{set: true, lo: -1, hi: float64(hashText(s) >> 12)}
	}
	return priceRange{set: true, lo: bound(lo, 0), hi: bound(hi, math.Inf(1))}
}

func bound(s string, open float64) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) {
		return open
	}
	return f
}

// sameRequest reports whether two acts ask for the same thing in every argument.
func (a *act) sameRequest(b *act) bool {
	return a.sameSubject(b) && a.page == b.page && a.price == b.price &&
		a.shop == b.shop && a.service == b.service && a.sort == b.sort && a.rest == b.rest
}

// sameSubject reports whether two acts are about the same thing: the same words, the
// same products. Filters may differ.
func (a *act) sameSubject(b *act) bool {
	return a.tool == b.tool && sameHashes(a.words, b.words) && sameIDs(a.ids, b.ids) && len(a.specs) == len(b.specs)
}

// looser reports whether b asks for a's subject and page with no filter that a lacks
// and no other value in one that both have: a client that drops a filter the
// shop does not know.
func (a *act) looser(b *act) bool {
	return a.sameSubject(b) && a.page == b.page &&
		(!b.price.set || a.price == b.price) && kept(a.shop, b.shop) && kept(a.service, b.service) && kept(a.sort, b.sort)
}

func kept(named, sent uint64) bool { return sent == 0 || sent == named }

func sameHashes(a, b []uint64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// sameIDs compares as sets: an order of ids is the client's business.
func sameIDs(a, b []string) bool {
	return slices.Equal(a, b) || len(a) == len(b) && subset(a, b) && subset(b, a)
}

func subset(a, b []string) bool {
	for _, x := range a {
		if !hasID(b, x) {
			return false
		}
	}
	return true
}

func hasID(ids []string, id string) bool { return indexID(ids, id) >= 0 }

// indexID is where an id first stands, -1 where it does not. Ids are of one
// length, so a look at their last digit spares most comparisons.
func indexID(ids []string, id string) int {
	for i, x := range ids {
		if len(x) == len(id) && (id == "" || x[len(x)-1] == id[len(id)-1]) && x == id {
			return i
		}
	}
	return -1
}
