package shop

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/shop/index"
)

// Query is one search request. An empty field means that the parameter is missing.
type Query struct {
	Q, Page, ShopID, Price, Sort, Service string
}

// Rules are the points in which the subnet's search server differs from the server of the
// ShoppingBench benchmark.
type Rules struct {
	// Depth is the number of best-ranked documents to which filters are applied.
	Depth int
	// CleanQuery reports whether the special characters of Lucene's query language are replaced
	// by spaces.
	CleanQuery bool
	// QuoteTwice reports whether the search tool URL-quotes a query twice although the server
	// unquotes it once.
	QuoteTwice bool
}

// SubnetRules are the rules of the subnet's server. BenchmarkRules are those of ShoppingBench.
var (
	SubnetRules    = Rules{Depth: 10_000, CleanQuery: true, QuoteTwice: true}
	BenchmarkRules = Rules{Depth: 100_000}
)

const (
	pageSize = 10
	maxPage  = 5
)

// errServer is wrapped by the errors of requests for which the server responds with status 500.
var errServer = errors.New("internal server error")

// Find returns the hits on the requested page of a query, sorted by relevance or by q.Sort. It
// returns an error if the server would fail on the query.
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
		text = cleanQuery(text)
	}
	if text == "" {
		return nil, nil
	}
	hits, err := c.search(text, readFilter(c, q), rules.Depth)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errServer, err)
	}
	if err := c.sortHits(hits, q.Sort); err != nil {
		return nil, err
	}
	start := min((page-1)*pageSize, len(hits))
	end := min(page*pageSize, len(hits))
	return hits[start:end], nil
}

// cleanQuery replaces the special characters of Lucene's query language by spaces, and removes
// spaces from both ends of the text.
func cleanQuery(text string) string {
	return python.Strip(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`+-&|!(){}[]^"~*?:\/`, r) {
			return ' '
		}
		return r
	}, text))
}

// search orders products by the query text and returns those that meet the conditions f, at most
// maxPage pages. The conditions are applied only to the depth best products.
func (c *Catalog) search(
	text string,
	f filter,
	depth int,
) ([]index.Hit, error) {
	const maxHits = pageSize * maxPage
	if f.isEmpty() && c.info.Duplicates == 0 {
		depth = maxHits
	}
	ranked, _, err := c.text.Search(text, depth)
	if err != nil {
		return nil, err
	}
	if c.info.Duplicates > 0 {
		ranked = c.uniqueIDs(ranked)
	}
	hits := make([]index.Hit, 0, maxHits)
	for _, h := range ranked {
		if len(hits) == maxHits {
			break
		}
		if f.matches(c, h.Document) {
			hits = append(hits, h)
		}
	}
	return hits, nil
}

// uniqueIDs returns the best hit of each product id, for catalogues in which several products have
// the same id. The hit then names the first document with that id: the server reads products by id,
// and so filters, sorts and shows that document. ranked is overwritten.
func (c *Catalog) uniqueIDs(ranked []index.Hit) []index.Hit {
	seen := map[uint32]bool{}
	unique := ranked[:0]
	for _, h := range ranked {
		if first, ok := c.ids.find(c.ids.get(int(h.Document))); ok {
			h.Document = uint32(first)
		}
		if !seen[h.Document] {
			seen[h.Document] = true
			unique = append(unique, h)
		}
	}
	return unique
}

// filter has the conditions of a search other than its text: bounds of the price, services and the
// shop.
type filter struct {
	low, high *float64 // the bounds of the price, nil for none
	services  byte     // the bits of the services that a product must have
	hasShop   bool
	shop      uint32 // the number of the shop, 0 if it has no product
}

func readFilter(c *Catalog, q Query) filter {
	f := filter{
		hasShop: q.ShopID != "",
		shop:    c.shopNumber(q.ShopID),
	}
	if low, high, ok := strings.Cut(q.Price, "-"); ok && !strings.Contains(high, "-") {
		f.low = parseBound(low)
		f.high = parseBound(high)
	}
	for s := range strings.SplitSeq(q.Service, ",") {
		f.services |= serviceBits[s]
	}
	return f
}

func parseBound(s string) *float64 {
	if v, ok := python.ParseFloat(s); ok {
		return &v
	}
	return nil
}

func (f filter) isEmpty() bool {
	return f.low == nil && f.high == nil && f.services == 0 && !f.hasShop
}

// matches reports whether document (product) i meets the conditions of a search other than its
// text. Like the server, it ignores a price bound of NaN.
func (f filter) matches(c *Catalog, i uint32) bool {
	if f.hasShop && (f.shop == 0 || c.shopOf(i) != f.shop) {
		return false
	}
	if f.services&^c.flags[i] != 0 {
		return false
	}
	price := c.price(i)
	if f.low != nil && price < *f.low {
		return false
	}
	return f.high == nil || !(price > *f.high)
}

// sortHits sorts hits by a sort key of the server: "order" (most sold first), "priceasc" or
// "pricedesc". The sort is stable, and any other key changes nothing. It returns an error for
// "order" if a product has no number of sales.
func (c *Catalog) sortHits(hits []index.Hit, key string) error {
	hasNoSales := func(h index.Hit) bool {
		return c.flags[h.Document]&noSales != 0
	}
	comparePrices := func(a, b index.Hit) int {
		return cmp.Compare(c.price(a.Document), c.price(b.Document))
	}
	switch key {
	case "order":
		if slices.ContainsFunc(hits, hasNoSales) {
			return fmt.Errorf("sort by sales: a product has none: %w", errServer)
		}
		slicesx.SortStableFunc(hits, func(a, b index.Hit) int {
			return cmp.Compare(c.soldCount(b.Document), c.soldCount(a.Document))
		})
	case "priceasc":
		slicesx.SortStableFunc(hits, comparePrices)
	case "pricedesc":
		slicesx.SortStableFunc(hits, func(a, b index.Hit) int {
			return comparePrices(b, a)
		})
	}
	return nil
}
