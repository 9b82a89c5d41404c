package daygen

import (
	"fmt"
	"strings"
)

// problem is one generated task with the requested products (gold).
type problem struct {
	id       string
	query    string
	category string
	gold     []*product
	// face and threshold are the discount and the minimum purchase of a voucher, in pesos.
	face, threshold int
	budget          float64
	document        string
}

// wish is a customer's request for one product, with the JSON reward by which a recommended
// product is checked.
type wish struct {
	text, reward string
}

// newProblems returns n generated problems. Every fourth one requests the products of an earlier
// problem in other words, as test data for the grouping of equal problems.
func newProblems(d *dice, c *catalog, n int) []*problem {
	var problems []*problem
	order := some(d, len(c.products), c.products)
	for i := range n {
		p := &problem{
			id:       d.uuid(),
			category: []string{"Product", "Shop", "Voucher"}[i%3],
		}
		if i >= 3 && i%4 == 3 {
			earlier := problems[i-3]
			p.gold, p.category = earlier.gold, earlier.category
		} else {
			p.choose(d, c, order[i%len(order)])
		}
		p.describe(d)
		problems = append(problems, p)
	}
	return problems
}

// choose sets the products that the task requests, p.gold: first and, for shop tasks, up to two
// others of the same seller or, for voucher tasks, possibly one of another kind.
func (p *problem) choose(d *dice, c *catalog, first *product) {
	p.gold = []*product{first}
	switch p.category {
	case "Shop":
		for _, other := range c.byShop[first.shop] {
			if other != first && len(p.gold) < 3 {
				p.gold = append(p.gold, other)
			}
		}
	case "Voucher":
		if other := pick(d, c.products); other.noun != first.noun {
			p.gold = append(p.gold, other)
		}
	}
}

// describe sets the text of the customer's request and the JSON document of the task.
func (p *problem) describe(d *dice) {
	var wishes, rewards []string
	for i, g := range p.gold {
		w := describe(d, g)
		rewards = append(rewards, w.reward)
		if len(p.gold) > 1 {
			w.text = fmt.Sprintf("(%d) %s", i+1, w.text)
		}
		wishes = append(wishes, w.text)
	}
	reward := list(rewards...)
	if p.category == "Product" {
		reward = rewards[0]
	}
	open := pick(d, []string{"Please find ", "I am looking for ", "Could you get me ", "Show me "})
	if p.category == "Shop" {
		open = pick(d, []string{"One shop should sell me all of this: ", "I want to buy from a single seller: "})
	}
	p.query = open + strings.Join(wishes, "; ") + "."
	pairs := []string{"query", "", "reward", reward, "category", str(p.category)}
	if p.category == "Voucher" {
		pairs = append(pairs, "voucher", p.addVoucher(d))
	}
	pairs[1] = str(p.query)
	pairs = append(
		pairs,
		"problem_id",
		str(p.id),
		"difficulty",
		str(pick(d, []string{"easy", "medium", "hard"})),
	)
	p.document = object(pairs...)
}

// describe returns a customer's request for the product g with random conditions, and the JSON
// reward by which a recommended product is checked.
func describe(d *dice, g *product) wish {
	size := g.skus[0]
	text := fmt.Sprintf("a %s by %s, made of %s", lexicon.Nouns[g.noun].Name, g.brand, g.material)
	pairs := []string{
		"product_id", str(g.id), "title", list(str(g.title)),
		"attributes", list(object("brand", list(str(g.brand))), object("material", list(str(g.material)))),
	}
	if d.chance(0.6) {
		text += ", colour " + size.colour
		pairs = append(pairs, "sku_options", list(object("color_family", str(size.colour))))
	}
	if d.chance(0.6) {
		limit := int(g.price) + d.between(10, 300)
		text += fmt.Sprintf(", for at most %d pesos", limit)
		pairs = append(
			pairs,
			"price",
			list(object("less than", list("null", integer(limit)))),
		)
	}
	if len(g.services) > 0 && d.chance(0.5) {
		text += ", " + lexicon.Spoken[g.services[0]]
		pairs = append(pairs, "service", list(str(g.services[0])))
	}
	return wish{text, object(pairs...)}
}

// addVoucher sets a voucher, and a budget that is sufficient only with the discount. It adds a
// sentence about both to the request and returns the voucher as JSON.
func (p *problem) addVoucher(d *dice) string {
	total := 0.0
	for _, g := range p.gold {
		total += g.price
	}
	p.face = d.between(20, int(total/4)+21)
	p.threshold = int(total * 0.8)
	p.budget = float64(int(total) - p.face + 1)
	p.query += fmt.Sprintf(" I have %s pesos and a voucher that takes %d pesos off any purchase of %d pesos or more.", num(p.budget), p.face, p.threshold)
	return object("voucher_type", str("platform"), "threshold", integer(p.threshold), "discount_type", str("fixed"),
		"face_value", integer(p.face), "discount", "null", "cap", "null", "price_after_voucher", num(p.budget), "budget", num(p.budget))
}
