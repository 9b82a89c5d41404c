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
		"Tarvola hiking boots in us 7, tarvola hiking boots in us 9, a single bottle of leather wax. I have 4200, and a voucher for the same shop: 250 off above 3100.":     true,
		"Tarvola hiking boots in us 7, tarvola hiking boots in us 8, a single bottle of leather wax. I have 4200, and a voucher for the same shop: 250 off above 3100.":     false,
		"Tarvola hiking boots in us 7, tarvola hiking boots in us 9, two bottles of leather wax. I have 4200, and a voucher for the same shop: 250 off above 3100.":         false,
		"Tarvola hiking boots in us 7, tarvola hiking boots in us 9, a single bottle of leather wax. I have 4200, and a voucher for whichever shop: 250 off above 3100.":    false,
		"Tarvola hiking boots in us 7, tarvola hiking boots in us 9, a single bottle of leather wax. I have 4200, and a voucher, no matter which shop: 250 off above 3100.": false,
		// A story with the item replaced and its name mentioned elsewhere.
		"My old stool went overboard when we moved the boat, so now only a folding camp hammock will do, LazMall perks such as guaranteed authenticity please": false,
	} {
		if f := g.Check(Candidate{Text: text}); f.Same != isSame {
			t.Errorf("%q: same is %v: %s", text, f.Same, f.Evidence)
		}
	}
}

// TestSameIsOnlyWhatWasRead holds that a text which adds a wish to a rewording is not the same, wherever
// the wish stands and however much of the text is in words that no list has.
func TestSameIsOnlyWhatWasRead(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, []Entry{
		{ID: "saddle", Text: "Looking for a touring bicycle saddle by velmora with a gel core, for seatposts of 27 mm, priced from 310 to 640 PHP."},
		{ID: "lamp", Text: "Looking for a table lamp, elegant design, by karuto in bronze, over 300 pesos."},
	})
	const (
		saddle = "A velmora touring bicycle saddle, gel core, 27 mm seatpost, 310 to 640 PHP"
		noise  = ", brimtak dundre zolvar kestrun ormvik talgun prend vastrik olmund trinvar gandrel"
	)
	for text, isSame := range map[string]bool{
		saddle: true,
		"My kid keeps falling in winter. " + saddle:        true,
		saddle + ". It was a hard winter for us.":          true,
		saddle + ", blue" + noise:                          false,
		saddle + " in foldable waterproof leather" + noise: false,
		"Waterproof Japanese " + saddle + ", para mi hijo que monta en bici cada dia muchas gracias saludos": false,
		saddle + ". Plus a helmet.":                                        false,
		saddle + "? Oh, and a pair of gloves!":                             false,
		saddle + ". Foldable.":                                             false,
		saddle + ". In blue.":                                              false,
		saddle + ". Other requirements: foldable, waterproof, leather.":    false,
		saddle + "\n- foldable\n- waterproof\n- helmet":                    false,
		saddle + ", size XL":                                               false,
		"A karuto table lamp, elegant design, bronze, over 300 pesos":      true,
		"A karuto table lamp, elegant design, led, bronze, over 300 pesos": false,
	} {
		if f := g.Check(Candidate{Text: text}); f.Same != isSame {
			t.Errorf("%q: same is %v: %s", text, f.Same, f.Evidence)
		}
	}
}

// TestSameReadsWordsWhereTheyStand holds kinds of wording in which a word means something else than
// elsewhere, in rewordings and in requests with one constraint changed.
func TestSameReadsWordsWhereTheyStand(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, []Entry{
		{ID: "apron", Text: "Looking for a women's linen apron by ostrava in XL, and a men's suit vest in black, above 75 pesos."},
		{ID: "tent", Text: "Looking for a green camping tent by norvale with pegs included, made of soft canvas, for 4 persons, above 1900 pesos."},
		{ID: "juice", Text: "Find a shop offering a mango stick flavor ice cream by pelleti, a multi-pack toothpaste for sensitive gums, and a marble toast tray, above 82 pesos."},
		{ID: "clip", Text: "Looking for a teal ribbon folder clip that costs over 1 peso."},
		{ID: "spare", Text: "Looking for a left side mirror by karuto for trucks, 30 ml glue bottle, 8/16 GB card, above 640 pesos.\n\nMy budget is only `4200`, but I have a voucher with the following rules:\n1. The voucher applies to all products.\n2. It is valid only when the total price of the products exceeds `3100`.\n3. It provides a fixed discount of `250`."},
	})
	for text, isSame := range map[string]bool{
		// A value in front of the noun, also where another thing has it too.
		"One women's apron in XL, of linen, from ostrava, and a black suit vest for men, over 75 pesos.":     true,
		"One girls' linen apron in XL from ostrava, and a black men's suit vest, over 75 pesos.":             false,
		"One women's linen apron in XL from ostrava, and a black women's suit vest, over 75 pesos.":          false,
		"Looking for a women's linen apron by ostrava in M, and a men's suit vest in black, above 75 pesos.": false,
		// Negations that deny no thing, and one that stands after it.
		"I can't find a green camping tent by norvale with pegs included, of soft canvas for 4 persons, above 1900 pesos.":          true,
		"Could you instead show me a green norvale camping tent, soft canvas, for 4 persons, pegs included, above 1900 pesos?":      true,
		"Couldn't you find me a green norvale camping tent, pegs included, made of soft canvas, for 4 persons, above 1900 pesos?":   true,
		"Couldn't you find me a green norvale camping tent, pegs included, made of canvas, for 4 persons, above 1900 pesos?":        false,
		"Looking for a green camping tent by norvale with pegs not included, made of soft canvas, for 4 persons, above 1900 pesos.": false,
		"A green norvale camping tent for 4 persons, made of soft nylon, pegs included, above 1900 pesos.":                          false,
		"A green norvale camping tent for 4 persons, in canvas, pegs included, above 1900 pesos.":                                   true,
		// A flavour before the noun, a pack against a single piece, and the thing itself.
		"One shop: pelleti ice cream with mango stick flavor, a multi-pack of toothpaste for sensitive gums, and a marble toast tray, above 82 pesos.":                 true,
		"One shop: pelleti ice cream with lychee stick flavor, a multi-pack of toothpaste for sensitive gums, and a marble toast tray, above 82 pesos.":                false,
		"One shop: pelleti ice cream, mango stick flavor, a single tube of toothpaste for sensitive gums, and a marble toast tray, above 82 pesos.":                    false,
		"Things to get in one shop: pelleti ice cream, mango stick flavor, a multi-pack of toothpaste for sensitive gums, and a marble candle holder, above 82 pesos.": false,
		// A price is no count.
		"Folder clips with a ribbon: the teal one, as long as it costs over 1 peso.":    true,
		"Folder clips with a ribbon: the teal one, as long as it costs over 100 pesos.": false,
		// Whatever shop a voucher is for, a measure is no count, and a pair of sizes is no fraction.
		"A left side mirror for trucks by karuto, a 30 ml glue bottle, an 8/16 GB card, above 640 pesos, right away. I have 4200 and a voucher that takes 250 off above 3100, no matter which shop.": true,
		"A left side mirror for trucks by karuto, 1 bottle of 30 ml glue, an 8/16 GB card, above 640 pesos. I have 4200 and a voucher for all products that takes 250 off above 3100.":               true,
		"A left side mirror for trucks by karuto, a 30 ml glue bottle, a 4/8 GB card, above 640 pesos. I have 4200 and a voucher for all products that takes 250 off above 3100.":                    false,
		"A left side mirror for trucks by karuto, a 30 ml glue bottle, an 8/16 GB card, above 640 pesos. I have 4200 and a voucher for one shop that takes 250 off above 3100.":                      false,
	} {
		if f := g.Check(Candidate{Text: text}); f.Same != isSame {
			t.Errorf("%q: same is %v: %s", text, f.Same, f.Evidence)
		}
	}
}

// TestReplacedWishes holds that a text in another person's words that replaces or adds a wish asks for
// something else, and that talk and sentences that wish nothing do not.
func TestReplacedWishes(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, []Entry{
		{ID: "calendar", Text: "Show me retro wooden calendars with a seasonal vibe, priced above 120 PHP."},
		{ID: "snacks", Text: "Looking for mushroom snacks with chili garlic taste, in a pack, and a 1 kilo pack of mushroom chicharon with sour cream flavor."},
		{ID: "ropes", Text: "Find a shop offering a hair rope made of cloth, above 34 PHP, a cloth hair band with a floral pattern, and a set of three combs."},
		{ID: "fan", Text: "Looking for a desk fan by karuto with LazMall service and free shipping, and a voucher with a cap of `680`."},
	})
	for text, isSame := range map[string]bool{
		"Wooden calendars please, the retro kind, seasonal in mood, for more than 120 PHP.":                                    true,
		"Wooden calendars please, the minimalist kind, seasonal in mood, for more than 120 PHP.":                               false,
		"My aunt adores the seasons! She needs a retro calendar of wood with a vibe like that. I would pay 120 and up.":        true,
		"My aunt adores the seasons! Her office needs a retro calendar of wood with a vibe like that. I would pay 120 and up.": false,
		"A pack of mushroom snacks that taste of chili and garlic, also 1 kilo of mushroom chicharon, sour cream.":             true,
		"A pack of mushroom snacks that taste of honey butter, also 1 kilo of mushroom chicharon, sour cream.":                 false,
		// A wish of two goods is replaced in one of them.
		"One shop: hair rope in cloth above 34 PHP, hair band in cloth, floral, and three combs as a set.":    true,
		"One shop: hair rope in silicone above 34 PHP, hair band in cloth, floral, and three combs as a set.": false,
		"One shop: hair rope in cloth above 34 PHP, hair band in cloth, floral, and four combs as a set.":     false,
		"A karuto desk fan from LazMall, no charge for the delivery. The voucher takes off 680 at most.":      true,
		"A karuto desk fan from LazMall, no charge for the delivery. The voucher takes off 680 at least.":     false,
		"A karuto desk fan, no charge for the delivery. The voucher takes off 680 at most.":                   false,
	} {
		if f := g.Check(Candidate{Text: text}); f.Same != isSame {
			t.Errorf("%q: same is %v: %s", text, f.Same, f.Evidence)
		}
	}
}

// TestSameComparesWordsAndCounts holds kinds of near misses that rules by stem, by the start of a word or by
// kinds of numbers overlook.
func TestSameComparesWordsAndCounts(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, []Entry{
		{ID: "calendar", Text: "Looking for a retro wooden calendar with a seasonal vibe, priced above 120 PHP."},
		{ID: "tag", Text: "Looking for a red treasury tag clip with a price above 11 PHP."},
		{ID: "paste", Text: "Looking for a toothpaste by nimbor for sensitive gums, 90 g, above 45 PHP."},
		{ID: "snacks", Text: "Looking for snacks with a rum flavor that can be stored in the cupboard, from the brand oishi, above 31 PHP."},
		{ID: "shoes", Text: "Looking for a pair of On Cloud X running sneakers in size 39, sea blue color, above 640 PHP."},
		{ID: "fan", Text: "Looking for a plastic desk fan by karuto with 6 blades, 10W power, free delivery, above 274 PHP."},
		{ID: "bangles", Text: "Looking for a smooth gold bangle with no gemstones, made of mineral stone, and a curved bangle, also with no stones, above 203 PHP."},
		{ID: "scents", Text: "Looking for Ocean Blue scent by varil, 50 ml, and Girl over Flower scent, 50 ml, model combi c, above 466 PHP."},
		{ID: "sensors", Text: "Looking for digital sensors from LazMall that cost more than 78 PHP."},
	})
	for text, isSame := range map[string]bool{
		"A wooden calendar, retro, with a seasonal vibe, more than 120 PHP.":                                                               true,
		"A wooden train, retro, with a seasonal vibe, more than 120 PHP.":                                                                  false,
		"A red treasury tag clip, above 11 PHP please.":                                                                                    true,
		"A red treasury tag cutter, above 11 PHP please.":                                                                                  false,
		"A nimbor tomato paste, 90 g, for sensitive gums, above 45 PHP.":                                                                   false,
		"Looking for snacks with a rum raisin flavor that can be stored in the cupboard, from the brand oishi, above 31 PHP.":              false,
		"Looking for a pair of On Cloudflow running sneakers in size 39, sea blue color, above 640 PHP.":                                   false,
		"Desk fans of plastic by karuto, 6 blades, 10W, delivered free of charge, above 274 PHP. We are a family of 4.":                    true,
		"A couple of plastic desk fans by karuto, 6 blades, 10W power, delivered for free, above 274 PHP.":                                 false,
		"Plastic desk fan by karuto, 6 blades, 10W power, paid in cash at the door, above 274 PHP.":                                        false,
		"Looking for a smooth gold bangle with no gemstones, made of mineral stone, and a curved bangle, also with stones, above 203 PHP.": false,
		"Ocean Blue scent by varil, 50 ml, and the Girl over Flower scent of 100 ml, model combi c, above 466 PHP.":                        false,
		"Ocean Blue scent by varil, 50 ml, and the Girl over Flower scent of 50 ml, model combi d, above 466 PHP.":                         false,
		"Ocean Blue scent by varil, 50 ml, and the Girl over Flower scent of 50 ml, model combi c, above 466 PHP.":                         true,
		"LazMall only: digital sensors, model DS18, above 78 PHP.":                                                                         false,
		"L ooking f or dig ital sens ors fr om Laz Mall th at co st mo re th an 7 8 PH P.":                                                 true,
	} {
		if f := g.Check(Candidate{Text: text}); f.Same != isSame {
			t.Errorf("%q: same is %v: %s", text, f.Same, f.Evidence)
		}
	}
}

// TestSameReadsWhatIsExcluded holds that a wish which the text excludes, in any wording, is none, and that a
// denied exclusion is one.
func TestSameReadsWhatIsExcluded(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, []Entry{
		{ID: "backpack", Text: "Looking for a canvas backpack in black, with a laptop pocket, above 450 pesos."},
		{ID: "skirt", Text: "Looking for a plus size denim skirt in blue, from 300 to 800 pesos, free shipping."},
		{ID: "candle", Text: "Looking for scented candles in glass jars, lavender, below 410 pesos, cash on delivery."},
		{ID: "bra", Text: "Looking for a backless bra, not padded, in nude, size 34B, above 210 pesos."},
	})
	for text, isSame := range map[string]bool{
		"A canvas backpack in any colour but black, with a laptop pocket, above 450 pesos.":              false,
		"Canvas backpack with laptop pocket, over 450 pesos, every colour is fine except black.":         false,
		"Canvas backpack with laptop pocket, over 450 pesos. Anything other than black.":                 false,
		"Canvas backpack, laptop pocket, above 450 pesos, but skip black.":                               false,
		"Canvas backpack, laptop pocket, above 450 pesos, black excluded.":                               false,
		"Canvas backpack in nothing but black, laptop pocket, above 450 pesos.":                          true,
		"Canvas backpack above 450 pesos with a laptop pocket. It can't be anything except black.":       true,
		"Denim skirt in blue, no plus size, 300 to 800 pesos, free shipping.":                            false,
		"I want a blue plus-size denim skirt, 300 to 800 pesos, no shipping at all.":                     false,
		"I want a blue plus-size denim skirt, 300 to 800 pesos; paid shipping is fine.":                  false,
		"I want a blue plus-size denim skirt, 300 to 800 pesos; I won't pay for shipping.":               true,
		"I want a blue plus-size denim skirt, 300 to 800 pesos, no shipping charge.":                     true,
		"Unscented lavender candles in jars of glass, under 410 pesos, paid when they arrive.":           false,
		"Scented candles of lavender in jars of glass, under 410 pesos, prepaid.":                        false,
		"Scented candles of lavender in jars of glass, under 410 pesos, cash when they are handed over.": true,
		"Unpadded backless nude bra, 34B, more than 210 pesos.":                                          true,
		"Padded backless nude bra, 34B, more than 210 pesos.":                                            false,
	} {
		if f := g.Check(Candidate{Text: text}); f.Same != isSame {
			t.Errorf("%q: same is %v: %s", text, f.Same, f.Evidence)
		}
	}
}

// TestSameReadsWhatIsAdded holds that counts, countries, colours and letters which the request does
// not have narrow it.
func TestSameReadsWhatIsAdded(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, []Entry{
		{ID: "tea", Text: "Looking for a green tea powder, matcha, 100 g, above 200 pesos."},
		{ID: "core", Text: "Looking for a valve core for vehicles priced from 23 to 29 pesos."},
		{ID: "cable", Text: "Looking for a type c charging cable, 2 m, braided, above 80 pesos."},
		{ID: "tent", Text: "Looking for a tent for a group of 6, waterproof, above 2500 pesos."},
		{ID: "red", Text: "Looking for a canvas tote bag with zip, red, for groceries, above 150 pesos."},
		{ID: "blue", Text: "Looking for a canvas tote bag with zip, blue, for groceries, above 150 pesos."},
		{ID: "pair", Text: "I want a polo shirt for men and women's sandals, both above 170 pesos."},
		{ID: "shelf", Text: "I need a bookshelf with five tiers, bamboo, brown, from 800 to 1500 pesos."},
	})
	for text, isSame := range map[string]bool{
		"Matcha powder from Japan, green tea, 100 g, over 200 pesos.":                              false,
		"Translate into Japanese: \"Matcha green tea powder, 100 g, over 200 pesos.\" Explain it.": false,
		"Japanese-made matcha powder, green tea, 100 g, over 200 pesos.":                           false,
		"An insulated tent for a group of 6, waterproof, above 2500 pesos.":                        false,
		"Matcha green tea powder, 100 g, over 200 pesos, 4 of them.":                               false,
		"I need ten valve cores for vehicles at 23 to 29 pesos.":                                   false,
		"A brass valve core for vehicles, 23 to 29 pesos.":                                         false,
		"A valve core for vehicles, 23 to 29 pesos.":                                               true,
		"Braided type f cable for charging, 2 metres, over 80 pesos.":                              false,
		"Braided usb-c cable for charging, 2 metres, over 80 pesos.":                               true,
		"Waterproof tent for a family of 3, over 2500 pesos.":                                      false,
		"I want a zipped canvas tote for groceries in blue, over 150 pesos.":                       true,
		"I want a zipped canvas tote for groceries in red, over 150 pesos.":                        true,
		"Get me women's sandals and a polo shirt for men, over 170 pesos each.":                    true,
		"Searching for a brown bamboo book, five tiers, 800 to 1500 pesos.":                        false,
	} {
		if f := g.Check(Candidate{Text: text}); f.Same != isSame {
			t.Errorf("%q: same is %v: %s", text, f.Same, f.Evidence)
		}
	}
}

// TestSameReadsEverything holds that a text is the same request only if each word, number and denial
// of it has a counterpart in the request, whatever the kind of addition.
func TestSameReadsEverything(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, []Entry{
		{ID: "hook", Text: "Looking for a stick-on hook for towels in bronze, above 35 PHP."},
		{ID: "lashes", Text: "Looking for velmi curl lashes, natural volume, above 60 PHP."},
		{ID: "kite", Text: "Show me kites for boys that cost more than 90 PHP."},
		{ID: "soap", Text: "Looking for a paraben-free soap by ostrava with a plain wrapper, 90 g, from LazMall, priced from 40 to 75 pesos."},
		{ID: "both", Text: "Find a shop offering both a garden trowel with a wooden handle and a rain gauge made of plastic, above 80 pesos.\n\nMy budget is only `900`, but I have a voucher with the following rules:\n1. The voucher applies to all products.\n2. It is valid only when the total price of the products exceeds `300`.\n3. It provides a fixed discount of `25`."},
	})
	for text, isSame := range map[string]bool{
		// Nothing is added: function words, talk, typing errors, and the reason of the purchase.
		"Stick-on hooks in bronze for towels please, anything over 35 PHP.":                 true,
		"Lokoing for a stick-on hook for twels in bronze, abvoe 35 PHP.":                    true,
		"We moved house last week. Now I need a bronze stick-on hook for towels, above 35.": true,
		"Velmi curl lashes of natural volume, dearer than 60 PHP.":                          true,
		"Kites for my son, more than 90 PHP.":                                               true,
		"An ostrava soap without parabens, plain wrapper, 90 g, LazMall, 40 to 75 pesos.":   true,
		"One shop, two things: a wooden-handled garden trowel and a plastic rain gauge, above 80 pesos. I have 900, and my voucher, good for all products, cuts 25 once I pass 300.": true,
		// An unread word, also one with a denying prefix or ending, and one in a sentence that wishes.
		"Stick-on hooks in bronze for towels, Swedish-made, over 35 PHP.":        false,
		"Unlacquered stick-on hooks in bronze for towels, over 35 PHP.":          false,
		"Rustless stick-on hooks in bronze for towels, over 35 PHP.":             false,
		"Stick-on hooks in bronze for towels, over 35 PHP. They must be hinged.": false,
		"Stick-on hooks in bronze for towels and bathrobes, over 35 PHP.":        false,
		"A velmi lash curler, natural volume, above 60 PHP.":                     false,
		"Kites for my daughter, more than 90 PHP.":                               false,
		"Kites for boys and couples, more than 90 PHP.":                          false,
		// A number, in words too.
		"Five stick-on hooks for towels in bronze, above 35 PHP.":         false,
		"Stick-on hooks for towels in bronze, above 35 PHP, two of each.": false,
		"Half a dozen kites for boys, more than 90 PHP.":                  false,
		// A denial or an exclusion, of what the request names or does not.
		"Stick-on hooks in bronze for towels, above 35 PHP, but not a used one.":                            false,
		"Hooks in bronze for towels, above 35 PHP, any except the one you stick on.":                        false,
		"Kites for boys, more than 90 PHP, all but the tailless ones.":                                      false,
		"A paraben-free soap by ostrava, plain wrapper, 90 g, not from LazMall, 40 to 75 pesos.":            false,
		"A paraben-free soap by ostrava, plain wrapper, 90 g, LazMall, not priced between 40 and 75 pesos.": false,
		"A paraben-free soap by ostrava, plain wrapper, no fragrance, 90 g, LazMall, 40 to 75 pesos.":       false,
		"A paraben-free soap by ostrava, plain wrapper, 90 g, LazMall, without a price above 40 pesos.":     false,
		// A number that is left out, and a bound in another language.
		"A paraben-free soap by ostrava with a plain wrapper, LazMall, 40 to 75 pesos.": false,
		"90ペソを超える男の子用の凧 (kites)を見せて。":                                                   true,
		"90ペソ以下の男の子用の凧 (kites)を見せて。":                                                    false,
	} {
		if f := g.Check(Candidate{Text: text}); f.Same != isSame {
			t.Errorf("%q: same is %v, %.2f: %s", text, f.Same, f.Score, f.Evidence)
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
