package daygen

import (
	"fmt"
	"strings"
)

// What an agent thinks depends on its depth: 0 plans only, 1 remarks on what
// came back, 2 names data from it, 3 weighs two products with a reason.

// plan is the thinking before a search.
func (s *shopper) plan(gold *product, try int, seen []*product) string {
	name := nouns[gold.noun].name
	if !s.a.agentic {
		return fmt.Sprintf("step %d: look up %s", len(s.moves)+1, name)
	}
	if try == 0 || len(seen) == 0 {
		return fmt.Sprintf(pick(s.d, []string{
			"The customer wants a %s. I begin with its most telling words.",
			"First I look for the %s and see what the shop offers.",
			"A search for the %s should show whether the brand is sold here at all.",
			"Let me find every %s that could match before opening any.",
		}), name)
	}
	return s.remark(seen, gold) + fmt.Sprintf(pick(s.d, []string{
		" I try other words for the %s.", " One more search, narrower, for the %s.", " A different page of %s results may hold a better one.",
	}), name)
}

// remark is the thinking on products that came back.
func (s *shopper) remark(found []*product, gold *product) string {
	if !s.a.agentic {
		return fmt.Sprintf("opening %d results", len(found))
	}
	best, other := found[0], found[len(found)-1]
	switch {
	case s.a.depth == 1:
		return fmt.Sprintf(pick(s.d, []string{"%d results came back and the upper ones look close.", "There are %d hits to check in detail.", "I got %d answers, more than I hoped for."}), len(found))
	case s.a.depth == 2 || best == other:
		return fmt.Sprintf(pick(s.d, []string{
			"%s costs %s pesos, which I keep in mind.", "The listing %s is priced at %s pesos.", "I note product %s at %s pesos.",
		}), best.id, num(best.price))
	default:
		return s.compare(best, other, gold)
	}
}

// compare weighs two products by what they really are.
func (s *shopper) compare(a, b, gold *product) string {
	reason := fmt.Sprintf("%s pesos against %s", num(a.price), num(b.price))
	switch {
	case a.brand == gold.brand && b.brand != gold.brand:
		reason = fmt.Sprintf("it is by %s, the brand asked for, and the other is by %s", a.brand, b.brand)
	case a.material == gold.material && b.material != gold.material:
		reason = fmt.Sprintf("it is made of %s as asked, the other of %s", a.material, b.material)
	case b.price < a.price:
		a, b = b, a
		reason = fmt.Sprintf("it costs %s pesos, less than %s", num(a.price), num(b.price))
	}
	return fmt.Sprintf(pick(s.d, []string{
		"Between %s and %s I prefer %s because %s.", "%s and %s both qualify, yet %s is better: %s.", "Comparing %s with %s, I would take %s since %s.",
	}), a.id, b.id, a.id, reason)
}

// verdict is the thinking before the recommendation.
func (s *shopper) verdict() string {
	if !s.a.agentic {
		return "all wishes have a candidate"
	}
	var parts []string
	for _, p := range s.chosen {
		parts = append(parts, fmt.Sprintf("%s by %s at %s pesos", p.id, p.brand, num(p.price)))
	}
	return pick(s.d, []string{"I recommend ", "My pick is ", "The best answer is ", "This settles it: "}) + strings.Join(parts, " and ") + "."
}
