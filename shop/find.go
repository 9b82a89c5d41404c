package shop

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/shop/index"
)

// Query is one search as the server's parameters give it. An empty field is
// one that is missing.
type Query struct {
	Q, Page, ShopID, Price, Sort, Service string
}

// Rules are the points in which the subnet's search server and the benchmark
// it comes from differ.
type Rules struct {
	// Depth is how far down the ranking filters look.
	Depth int
	// CleanQuery blanks the characters of the query language first.
	CleanQuery bool
	// QuoteTwice: the tool quotes a query once more than the server unquotes.
	QuoteTwice bool
}

// SubnetRules are those of the subnet's server, BenchmarkRules those of
// ShoppingBench's own.
var (
	SubnetRules    = Rules{Depth: 10_000, CleanQuery: true, QuoteTwice: true}
	BenchmarkRules = Rules{Depth: 100_000}
)

const (
	pageSize = 10
	maxPage  = 5
)

// errServer is in the chain of every error for which the server answers 500.
var errServer = errors.New("internal server error")

// Find is one search: the documents of the page asked for, with their scores,
// best first or in the order of sort. An error means that the server breaks
// on the query.
func (c *Catalog) Find(q Query, rules Rules) ([]index.Hit, error) {
	page, ok, bad := python.ParsePage(q.Page)
	if bad {
		return nil, fmt.Errorf("read page %q: %w", q.Page, errServer)
	}
	if !ok || page < 1 || page > maxPage {
		return nil, nil
	}
	text := q.Q
	if rules.CleanQuery {
		text = python.Strip(strings.Map(func(r rune) rune {
			if strings.ContainsRune(`+-&|!(){}[]^"~*?:\/`, r) {
				return ' '
			}
			return r
		}, text))
	}
	if text == "" {
		return nil, nil
	}
	hits, err := c.listed(text, readFilter(c, q), rules.Depth)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errServer, err)
	}
	if err := c.sortHits(hits, q.Sort); err != nil {
		return nil, err
	}
	return hits[min((page-1)*pageSize, len(hits)):min(page*pageSize, len(hits))], nil
}

// listed walks down the ranking and keeps what passes the filter, until there
// are five pages.
func (c *Catalog) listed(text string, f filter, depth int) ([]index.Hit, error) {
	const enough = pageSize * maxPage
	if f.passesAll() && c.info.Duplicates == 0 {
		depth = enough
	}
	ranked, _, err := c.text.Search(text, depth)
	if err != nil {
		return nil, err
	}
	if c.info.Duplicates > 0 {
		ranked = c.firsts(ranked)
	}
	hits := make([]index.Hit, 0, enough)
	for _, h := range ranked {
		if f.passes(c, h.Document) {
			if hits = append(hits, h); len(hits) == enough {
				break
			}
		}
	}
	return hits, nil
}

// firsts keeps the best hit of each id. The server reads a product by its id
// only, so it is the first of that id that is filtered, sorted and shown.
func (c *Catalog) firsts(ranked []index.Hit) []index.Hit {
	seen := map[uint32]bool{}
	kept := ranked[:0]
	for _, h := range ranked {
		if first, ok := c.ids.find(c.ids.at(int(h.Document))); ok {
			h.Document = uint32(first)
		}
		if !seen[h.Document] {
			seen[h.Document] = true
			kept = append(kept, h)
		}
	}
	return kept
}

type filter struct {
	low, high *float64
	services  byte
	byShop    bool
	shop      uint32
}

func readFilter(c *Catalog, q Query) filter {
	f := filter{byShop: q.ShopID != "", shop: c.shop(q.ShopID)}
	if low, high, ok := strings.Cut(q.Price, "-"); ok && !strings.Contains(high, "-") {
		f.low, f.high = bound(low), bound(high)
	}
	for s := range strings.SplitSeq(q.Service, ",") {
		f.services |= serviceBits[s]
	}
	return f
}

func bound(s string) *float64 {
	if v, ok := python.ParseFloat(s); ok {
		return &v
	}
	return nil
}

func (f filter) passesAll() bool {
	return f.low == nil && f.high == nil && f.services == 0 && !f.byShop
}

// passes holds one document against the filter. The comparisons are the
// server's own, so that a bound of NaN filters nothing.
func (f filter) passes(c *Catalog, i uint32) bool {
	if f.byShop && (f.shop == 0 || c.shopOf(i) != f.shop) {
		return false
	}
	if f.services&^c.flags[i] != 0 {
		return false
	}
	price := c.price(i)
	return (f.low == nil || !(price < *f.low)) && (f.high == nil || !(price > *f.high))
}

// sortHits orders what was listed; equal values keep the order of relevance.
func (c *Catalog) sortHits(hits []index.Hit, by string) error {
	switch by {
	case "order":
		if slices.ContainsFunc(hits, func(h index.Hit) bool { return c.flags[h.Document]&noSales != 0 }) {
			return fmt.Errorf("sort by sales: a product has none: %w", errServer)
		}
		slices.SortStableFunc(hits, func(a, b index.Hit) int { return cmp.Compare(c.soldCount(b.Document), c.soldCount(a.Document)) })
	case "priceasc":
		slices.SortStableFunc(hits, func(a, b index.Hit) int { return cmp.Compare(c.price(a.Document), c.price(b.Document)) })
	case "pricedesc":
		slices.SortStableFunc(hits, func(a, b index.Hit) int { return cmp.Compare(c.price(b.Document), c.price(a.Document)) })
	}
	return nil
}
