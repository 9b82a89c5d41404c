package guard

import "testing"

// TestSameMeansTheSame holds that two requests are the same if they agree in the item and in its
// constraints. A word outside the lexicon contradicts the request if it replaces another word.
func TestSameMeansTheSame(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, []Entry{
		{ID: "saddle", Text: "Looking for a touring bicycle saddle by velmora with a gel core, for seatposts of 27 mm, priced from 310 to 640 PHP."},
		{ID: "cable", Text: "Looking for a braided usb charging cable with q-lock connector, 2 meters long, above 95 pesos."},
		{ID: "stool", Text: "Looking for a folding camp stool in the stool only option, with LazMall perks like guaranteed authenticity."},
		{ID: "strainer", Text: "Show me unisex toddler aprons that cost over 61 PHP."},
		{ID: "shelf", Text: "Find a shop offering both a wall shelf made of ramie, with a double hook, and a brass lantern tank cap screw for garden lamps with bolt fasteners, above 77 pesos."},
		{ID: "boots", Text: "Looking for hiking boots by tarvola in size us 7, hiking boots by tarvola in size us 9, and a single bottle of leather wax.\n\nMy budget is only `4200`, but I have a voucher with the following rules:\n1. The voucher only applies to the products from the same shop.\n2. It is valid only when the total price of the products exceeds `3100`.\n3. It provides a fixed discount of `250`."},
	})
	for text, isSame := range map[string]bool{
		// The words of the request, with one word or letter replaced.
		"Looking for a touring bicycle saddle by velmora with a gel core, for seatposts of 27 mm, priced from 310 to 640 PHP":  true,
		"Looking for a touring bicycle saddle by kestrun with a gel core, for seatposts of 27 mm, priced from 310 to 640 PHP.": false,
		"Looking for a touring bicycle saddle by velmora with a foam core, for seatposts of 27 mm, priced from 310 to 640.":    false,
		"Looking for a braided usb charging cable with z-lock connector, 2 meters long, above 95 pesos.":                       false,
		"Looking for a folding camp stool in the stool with bag option, with LazMall perks like guaranteed authenticity.":      false,
		// The request in few words of another order.
		"velmora bicycle saddle for touring, gel core, 27 mm seatpost, 310-640":                                         true,
		"kestrun bicycle saddle for touring, gel core, 27 mm seatpost, 310-640":                                         false,
		`{"item":"bicycle saddle","use":"touring","maker":"velmora","core":"gel","seatpost_mm":27,"min":310,"max":640}`: true,
		`{"item":"bicycle saddle","use":"touring","maker":"kestrun","core":"gel","seatpost_mm":27,"min":310,"max":640}`: false,
		"GET /search?q=toddler+apron&gender=unisex&price_gt=61&cur=PHP":                                                 true,
		"GET /search?q=toddler+bibs&gender=unisex&price_gt=61&cur=PHP":                                                  false,
		// Who describes two goods may change one of them.
		"One store with two things: a ramie wall shelf with a double hook, and the brass screw for the tank cap of a lantern, for garden lamps with bolt fasteners, above 77 pesos.": true,
		"One store with two things: a ramie wall shelf with a double hook, and a brass lantern wick, for garden lamps with bolt fasteners, above 77 pesos.":                          false,
		"One store: a wall shelf made of jute with a double hook, and the brass screw for the tank cap of a lantern, for garden lamps with bolt fasteners, above 77 pesos.":          false,
		"One store: a ramie wall shelf with three hooks, and the brass screw for the tank cap of a lantern, for garden lamps with bolt fasteners, above 77 pesos.":                   false,
		"One store: a ramie wall shelf with a double hook, and rather than a brass lantern tank cap screw one for garden lamps with bolt fasteners, above 77 pesos.":                 false,
		// Sizes, quantities, and the shops in which a voucher is valid.
		"Tarvola hiking boots in us 7, tarvola hiking boots in us 9, a single bottle of leather wax. I have 4200, and a voucher for the same shop: 250 off above 3100.":  true,
		"Tarvola hiking boots in us 7, tarvola hiking boots in us 8, a single bottle of leather wax. I have 4200, and a voucher for the same shop: 250 off above 3100.":  false,
		"Tarvola hiking boots in us 7, tarvola hiking boots in us 9, two bottles of leather wax. I have 4200, and a voucher for the same shop: 250 off above 3100.":      false,
		"Tarvola hiking boots in us 7, tarvola hiking boots in us 9, a single bottle of leather wax. I have 4200, and a voucher for whichever shop: 250 off above 3100.": false,
		// A story with the item replaced and its name mentioned elsewhere.
		"My old stool went overboard when we moved the boat, so now only a folding camp hammock will do, LazMall perks such as guaranteed authenticity please": false,
	} {
		if f := g.Check(Candidate{Text: text}); f.Same != isSame {
			t.Errorf("%q: same is %v: %s", text, f.Same, f.Evidence)
		}
	}
}

// TestAmountsOfTheBanksCurrency checks that a bank without pesos holds amounts in its own currency,
// which are compared as written.
func TestAmountsOfTheBanksCurrency(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, []Entry{{ID: "flight", Text: "You are guest 6136. You change a one stop flight to a nonstop flight from OSL to LIS, in economy, and pay a fee of up to $100."}})
	text := "These nonstop flights leave from GVA in economy: one at 07:30 for $149, one at 09:30 for $107."
	if f := g.Check(Candidate{Text: text}); f.Drop {
		t.Errorf("dropped: %s", f.Evidence)
	}
	if f := g.Check(Candidate{Text: "I am guest 6136: a nonstop flight from OSL to LIS instead of one stop, economy, for a fee of at most 100 dollars."}); !f.Drop {
		t.Errorf("not dropped: score %.2f", f.Score)
	}
}
