package daygen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// product is one generated product with its JSON forms: item in a list of results, view with
// details, and document in the catalogue.
type product struct {
	id, shop   string
	noun       int
	brand      string
	material   string
	style      string
	feature    string
	title      string
	price      float64
	services   []string
	skus       []sku
	words      map[string]bool
	item, view string
	document   string
}

type sku struct{ id, colour, size string }

// catalog is the set of products of the generated shop. byNoun groups them by kind of product,
// byShop by seller.
type catalog struct {
	products []*product
	byNoun   [][]*product
	byShop   map[string][]*product
}

// newCatalog returns a catalogue of n products. Each seller has several kinds of products.
// sentences is the mean length of a description, in sentences.
func newCatalog(d *dice, n, sentences int) *catalog {
	c := &catalog{
		byNoun: make([][]*product, len(lexicon.Nouns)),
		byShop: map[string][]*product{},
	}
	vocabulary := d.words(1500)
	brands := d.words(60)
	ids := map[string]bool{}
	var shop string
	for i := range n {
		if i%8 == 0 {
			shop = d.digits(7)
		}
		p := newProduct(
			d,
			newID(d, ids),
			shop,
			i%len(lexicon.Nouns),
			pick(d, brands),
		)
		p.render(d, vocabulary, sentences)
		c.products = append(c.products, p)
		c.byNoun[p.noun] = append(c.byNoun[p.noun], p)
		c.byShop[p.shop] = append(c.byShop[p.shop], p)
	}
	return c
}

// newID returns a random product id that is not in used, and adds the id to used.
func newID(d *dice, used map[string]bool) string {
	for {
		if id := d.digits(10); !used[id] {
			used[id] = true
			return id
		}
	}
}

func newProduct(d *dice, id, shop string, noun int, brand string) *product {
	p := &product{
		id: id, shop: shop, noun: noun, brand: brand,
		material: pick(d, lexicon.Materials), style: pick(d, lexicon.Styles), feature: pick(d, lexicon.Features),
		price: float64(d.between(2000, 480000)) / 100, services: some(d, d.N(4), lexicon.Services),
	}
	for range d.between(1, 4) {
		p.skus = append(p.skus, sku{d.digits(10), pick(d, lexicon.Colours), pick(d, lexicon.Sizes)})
	}
	name := lexicon.Nouns[noun].Name
	p.title = strings.Join([]string{
		capital(brand),
		p.feature,
		name,
		p.material,
		p.style,
		pick(d, []string{"set", "new", "original", "2 pcs", "sale"}),
	}, " ")
	p.words = map[string]bool{brand: true, p.material: true, p.style: true, p.feature: true}
	for _, w := range strings.Fields(name) {
		p.words[w] = true
	}
	return p
}

// render generates a description and sets the JSON forms of the product. sentences is the mean
// length of descriptions, in sentences.
func (p *product) render(d *dice, vocabulary []string, sentences int) {
	name := lexicon.Nouns[p.noun].Name
	var description strings.Builder
	for range d.between(sentences/2, sentences*3/2) {
		description.WriteString(d.sentence(vocabulary, name))
	}
	var skus []string
	for _, s := range p.skus {
		skus = append(skus, s.id, object("color_family", str(s.colour), "size", str(s.size)))
	}
	short := fmt.Sprintf("%s %s in %s; %s look; by %s.", p.feature, name, p.material, p.style, p.brand)
	sold := integer(d.N(40000))

	attributes := object(
		"brand", list(str(p.brand)),
		"material", list(str(p.material)),
		"style", list(str(p.style)),
		"feature", list(str(p.feature)),
	)
	p.item = object(
		"price", num(p.price),
		"product_id", str(p.id),
		"service", texts(p.services),
		"shop_id", str(p.shop),
		"sold_count", sold,
		"title", str(p.title),
	)
	p.view = object(
		"attributes", attributes,
		"description", str(description.String()),
		"product_id", str(p.id),
		"short_description", str(short),
		"sku_options", object(skus...),
	)
	p.document = p.catalogForm(sold, short, description.String(), attributes, object(skus...))
}

// catalogForm returns the product as a JSON document of the catalogue.
func (p *product) catalogForm(sold, short, description, attributes, skus string) string {
	noun := lexicon.Nouns[p.noun]
	return object(
		"product_id", str(p.id),
		"shop_id", str(p.shop),
		"brand", str(p.brand),
		"category", str(noun.Department+" > "+noun.Name),
		"title", str(p.title),
		"price", num(p.price),
		"service", texts(p.services),
		"sold_count", sold,
		"short_description", str(short),
		"description", str(description),
		"attributes", attributes,
		"sku_options", skus,
	)
}

const pageSize = 10

// search returns one page, counted from 1, of the generated products of a kind, as the simulated
// shop's search tool. Products that contain the most of words come first, equal ones sorted by id.
// If shop is not empty, only that seller's products are searched.
func (c *catalog) search(
	noun int,
	words []string,
	shop string,
	page int,
) []*product {
	type hit struct {
		p     *product
		score int
	}
	var hits []hit
	for _, p := range c.byNoun[noun] {
		if shop != "" && p.shop != shop {
			continue
		}
		h := hit{p: p}
		for _, w := range words {
			if p.words[w] {
				h.score++
			}
		}
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.p.id, b.p.id))
	})
	var matches []*product
	for _, h := range hits[min(len(hits), (page-1)*pageSize):min(len(hits), page*pageSize)] {
		matches = append(matches, h.p)
	}
	return matches
}
