package daygen

import (
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// move is one step of a generated attempt: the agent's thinking and calls.
type move struct {
	think, response string
	calls           []call
	// options are the products that the reasoning considers.
	options []*product
}

// call is one tool call with its result and the request that the proxy logged for it.
type call struct {
	name, params, result string
	path, query          string // what the proxy saw; empty where it saw nothing
	ids                  []string
}

// id returns the id that the subnet's sandbox (the program that runs agents) gives to such a call.
// It is a hash of the tool and the arguments, so that equal calls have equal ids.
func (c call) id() string {
	sum := md5.Sum([]byte(c.name + "\n" + c.params))
	return base64.URLEncoding.EncodeToString(sum[:])[:8]
}

// content returns the text of one step as the subnet's sandbox (the program that runs agents)
// stores it: the reasoning, the calls and the response, each in a tag.
func (m *move) content() string {
	var calls []string
	for _, c := range m.calls {
		calls = append(calls, object("name", str(c.name), "parameters", c.params))
	}
	text := "<think>" + m.think + "</think>\n<tool_call>" + list(calls...) + "</tool_call>"
	if m.response != "" {
		text += "\n<response>" + m.response + "</response>"
	}
	return text
}

// shopper generates one attempt of an agent at a problem.
type shopper struct {
	d      *dice
	c      *catalog
	p      *problem
	a      *agent
	moves  []move
	chosen []*product
}

func (s *shopper) play() []move {
	for i := range s.p.gold {
		s.slot(i)
	}
	if s.p.category == "Voucher" && s.a.agentic && s.d.chance(0.7) {
		s.calculate()
	}
	s.finish()
	return s.moves
}

func (s *shopper) do(think string, options []*product, calls ...call) {
	s.moves = append(s.moves, move{think: think, options: options, calls: calls})
}

// slot generates the searches and views for requested product i, and then chooses a product to
// recommend.
func (s *shopper) slot(i int) {
	gold := s.p.gold[i]
	var shown []*product
	for try := range s.d.between(1, s.a.pages) {
		words := s.queryWords(gold, try)
		page := 1
		if try > 1 && s.d.chance(0.5) {
			page = 2
		}
		products := s.c.search(gold.noun, words, "", page)
		s.do(
			s.plan(gold, try, shown),
			shown,
			find(strings.Join(words, " "), page, products),
		)
		if s.a.loops && try == 0 {
			for range s.d.between(4, 9) {
				s.do(
					s.plan(gold, try, shown),
					shown,
					find(strings.Join(words, " "), page, products),
				)
			}
		}
		shown = merge(shown, products)
		s.open(products, gold)
	}
	s.chosen = append(s.chosen, s.settle(shown, gold))
}

// queryWords returns the words of a search: the name of the requested product and random
// properties of it. From the second search on, and in about 30 % of first searches, these may
// include style and feature.
func (s *shopper) queryWords(gold *product, try int) []string {
	traits := []string{gold.brand, gold.material}
	if try > 0 || s.d.chance(0.3) {
		traits = []string{gold.brand, gold.material, gold.style, gold.feature}
	}
	return append(some(
		s.d,
		s.d.between(1, len(traits)),
		traits,
	), strings.Fields(lexicon.Nouns[gold.noun].Name)...)
}

// open adds a step that views some of the found products, usually the first ones. It does
// nothing if there are none.
func (s *shopper) open(products []*product, gold *product) {
	if len(products) == 0 {
		return
	}
	opened := products[:min(len(products), s.a.width)]
	if s.d.chance(0.3) {
		opened = opened[s.d.N(len(opened)):]
	}
	s.do(s.remark(opened, gold), opened, view(opened))
}

// settle returns the product to recommend. If the requested one is among the candidates, it is
// chosen with the agent's skill as the probability. Otherwise a random candidate is chosen, or a
// random product of the shop if there are no candidates.
func (s *shopper) settle(candidates []*product, gold *product) *product {
	if slices.Contains(candidates, gold) && s.d.chance(s.a.skill) {
		return gold
	}
	if len(candidates) == 0 {
		return pick(s.d, s.c.products)
	}
	return pick(s.d, candidates)
}

func merge(products, more []*product) []*product {
	for _, p := range more {
		if !slices.Contains(products, p) {
			products = append(products, p)
		}
	}
	return products
}

// finish adds the steps that recommend the chosen products and end the attempt. In 4 % of the
// attempts it adds only the end.
func (s *shopper) finish() {
	var ids []string
	for _, p := range s.chosen {
		ids = append(ids, p.id)
	}
	end := call{
		name:   "terminate",
		params: object("status", str("success")),
		result: str("The interaction has been completed with status: success"),
	}
	if s.d.chance(0.04) {
		s.do("Nothing here fits, so I stop.", nil, end)
		return
	}
	joined := strings.Join(ids, ",")
	recommend := call{
		name:   "recommend_product",
		params: object("product_ids", str(joined)),
		result: str("Having recommended the products to the user: " + joined + "."),
	}
	if s.d.chance(0.4) {
		s.do(s.verdict(), s.chosen, recommend, end)
	} else {
		s.do(s.verdict(), s.chosen, recommend)
		s.do(
			pick(s.d, []string{"The request is answered.", "All wishes are covered, closing.", "I am done here."}),
			nil,
			end,
		)
	}
	s.moves[len(s.moves)-1].response = "My choice: " + joined + "."
}

// calculate adds a step that calls the voucher tool with the prices of the chosen products.
func (s *shopper) calculate() {
	prices := []string{}
	total := 0.0
	for _, p := range s.chosen {
		prices = append(prices, num(p.price))
		total += p.price
	}
	shown := strings.Join(prices, ",")
	params := object("product_prices", str(shown), "voucher_type", str("fixed"), "discount_value", integer(s.p.face), "threshold", integer(s.p.threshold), "budget", num(s.p.budget))
	off := 0.0
	if total >= float64(s.p.threshold) {
		off = float64(s.p.face)
	}
	after := fmt.Sprintf("%.2f", total-off)
	result := object("prices", list(prices...), "total_before", fmt.Sprintf("%.2f", total), "discount_amount", num(off), "total_after", after,
		"within_budget", fmt.Sprint(total-off <= s.p.budget), "voucher_applied", fmt.Sprint(off > 0), "budget", num(s.p.budget))
	s.do("Together they cost "+shown+" pesos; the voucher decides whether that fits.", s.chosen, call{
		name:   "calculate_voucher",
		params: params,
		result: result,
	})
}

func find(words string, page int, products []*product) call {
	var items, ids []string
	for _, p := range products {
		items, ids = append(items, p.item), append(ids, p.id)
	}
	return call{
		name: "find_product", params: object("q", str(words), "page", integer(page)), result: list(items...), ids: ids,
		path: "/search/find_product", query: object(
			"q",
			str(strings.ReplaceAll(words, " ", "+")),
			"page",
			integer(page),
		),
	}
}

func view(some []*product) call {
	var items, ids []string
	for _, p := range some {
		items, ids = append(items, p.view), append(ids, p.id)
	}
	params := object("product_ids", str(strings.Join(ids, ",")))
	return call{
		name:   "view_product_information",
		params: params,
		result: list(items...),
		path:   "/search/view_product_information",
		query:  params,
	}
}
