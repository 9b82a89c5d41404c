package lexical

import (
	"fmt"
	"strings"
	"testing"
)

func parse(text string) []token { return defaultLexicon().parse(text) }

// spell renders a parsed text: words, and numbers in brackets with unit and direction.
func spell(text string) string {
	var out []string
	for _, t := range parse(text) {
		if !t.isNumber() {
			out = append(out, t.text)
			continue
		}
		sign := [...]string{undirected: "", above: ">", below: "<"}[t.direction]
		out = append(out, strings.TrimSpace(fmt.Sprintf("[%s%.6g %s", sign, t.value, defaultLexicon().unitNames[t.unit]))+"]")
	}
	return strings.Join(out, " ")
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"priced from 1,593 to 3846 PHP":                   "priced [>1593] to [<3846]",
		"₱1.4k–₱2.3k":                                     "[>1400] [<2300]",
		"between 5 and 14 pesos":                          "[>5] and [<14]",
		"P138 and up, or P90 max":                         "[>138] or [<90]",
		"₱27 minimum and ₱81 maximum":                     "[>27] and [<81]",
		"no more than 900":                                "[<900]",
		"not below ₱899":                                  "[>899]",
		"above the price of 168":                          "the price of [>168]",
		"over five hundred pesos":                         "[>500]",
		"a hundred eighty, twenty-six, one thousand two":  "[180] [26] [1002]",
		"5 thousand":                                      "[5000]",
		"two meters and two batteries":                    "[2000 mm] and two batteries",
		"half a dozen":                                    "[6]",
		"12 inch, 30cm, 1.5 L, 10w, 4 g, 44%, 47 percent": "[304.8 mm] [300 mm] [1500 ml] [10 w] [4 g] [44 pct] [47 pct]",
		"12 in stock":                                     "[12] in stock",
		"(1) red; (2) blue 3) green":                      "red blue green",
		"1. The voucher\n2. It is":                        "the voucher it is",
		"no. 2 is #3":                                     "no is",
		"colour no. 3, over 82":                           "colour no [>82]",
		"men's T-shirts, don't":                           "men tshirt dont",
		"cash on delivery, COD":                           "svccod svccod",
		"pay the rider when it comes":                     "svccod when it comes",
		"ships for free from LazMall":                     "svcfree svcmall",
		"Größe 41, über 60":                               "grosse [41] [>60]",
		"más de 1.250 pesos":                              "[>1250]",
		"the plug is x l r, a b":                          "the plug is xlr a b",
		"12345.678, 1.234.567":                            "[12345.7] [1.23457e+06]",
		"12345,678 and 12,345.67":                         "[12345] [678] and [12345.7]",
		"0.125 mm":                                        "[0.125 mm]",
		"红色蓝牙音箱，12厘米":                                     "红色 蓝牙 音箱 [120 mm]",
		"a16, g1/2, eu:30, EU30":                          "a [16] g [1] [2] eu [30] eu [30]",
		"":                                                "",
		"over one forty two, eleven thirty nine to twenty four seventy five": "[>142] [>1139] to [<2475]",
		"sixty four hundred, one oh five, nine ninety nine":                  "[6400] [105] [999]",
		"three thousand two twenty four and one four two":                    "[3224] and [142]",
		"size thirty seven six centimeters":                                  "size [37] [60 mm]",
		"twenty two point five watts, ten point two five":                    "[22.5 w] [10.25]",
		"two to fifty five, above three pesos":                               "two to [55] [>3]",
		"more than one compartment for three of us":                          "one compartment for three of us",
		"two dozen, a dozen and a half dozen":                                "[24] a [12] and a half [12]",
		"not 190 pesos or less, never over 300":                              "[>190] [<300]",
		"neither below 267 nor above 845":                                    "[>267] [<845]",
		"nothing under 60 or over 90":                                        "[>60] [<90]",
		"no more than 900, not beyond 5":                                     "[<900] [<5]",
		"not red leather over 500":                                           "not red leather [>500]",
		"it can't cost 1480 PHP or more":                                     "it cost [<1480]",
		"12345678901234567890 is no amount":                                  "12345678901234567890 is no amount",
		"more than. 5":                                                       "[5]",
		"５００ｍｌ":                                                              "[500 ml]",
		"a whole sentence. Under 300 pesos":                                  "a whole sentence [<300]",
		"below 200, above 100":                                               "[<200] [>100]",
		"from China, size 40":                                                "china size [40]",
		"18-24 months":                                                       "[>18] [<24 mo]",
		"₱2.692k to 14.104k, but 2.692 and 1,519":                            "[>2692] to [<14104] but [2692] and [1519]",
		"size M, medium-sized, complimentary shipping":                       "szmedium szmedium svcfree",
		"100-240 v":             "[>100] [<240 v]",
		"entre 240 y 515":       "[>240] y [<515]",
		"mula 85 hanggang 150":  "[>85] hanggang [<150]",
		"dari 1100 sampai 2300": "dari [>1100] sampai [<2300]",
		"crew-neck, V neck, high-waisted, see-through, 8 pcs": "crewneck vneck highwaist clear [8] pcs",
	} {
		if got := spell(text); got != want {
			t.Errorf("%q\n  read %q\n  want %q", text, got, want)
		}
	}
}

func TestStem(t *testing.T) {
	t.Parallel()
	for _, related := range [][]string{{"batteries", "battery"}, {"organizer", "organizing", "organized"}, {"watches", "watch"}, {"colour", "color"}, {"running", "run"}, {"boxes", "box"}} {
		for _, w := range related {
			if stem(w) != stem(related[0]) {
				t.Errorf("the stem of %q is %q, that of %q is %q", related[0], stem(related[0]), w, stem(w))
			}
		}
	}
	for _, unrelated := range [][2]string{{"glass", "glas"}, {"bus", "bu"}} {
		if stem(unrelated[0]) == stem(unrelated[1]) {
			t.Errorf("%q and %q meet", unrelated[0], unrelated[1])
		}
	}
}

// TestALetterBeforeADigitIsNotAlwaysAPrice checks which texts have an amount in the base currency,
// after which amounts in all others are converted.
func TestALetterBeforeADigitIsNotAlwaysAPrice(t *testing.T) {
	t.Parallel()
	for text, isPrice := range map[string]bool{
		"under P500 please":            true,
		"for p1,250.50, with delivery": true,
		"at most p2k":                  true,
		"php 300":                      true,
		"₱300":                         true,
		"disputes of a P2P payment":    false,
		"a P100D of Tesla":             false,
		"step 2 of 3":                  false,
	} {
		if defaultLexicon().namesBase(text) != isPrice {
			t.Errorf("%q: want %t", text, isPrice)
		}
	}
}

// TestEvidenceIsDeterministic checks that equal texts have equal evidence, which reports contain.
func TestEvidenceIsDeterministic(t *testing.T) {
	t.Parallel()
	x := New([]Request{{Text: "Find me a brass lantern without gemstones, without engraving, without tassels"}})
	const text = "a brass lantern: gemstones, engraving, tassels please"
	first := x.Check(text, DefaultDrop, nil).Evidence
	if !strings.Contains(first, `"gemstones" is negated in one of the two`) {
		t.Errorf("not the first word of the request: %s", first)
	}
	for range 100 {
		if again := x.Check(text, DefaultDrop, nil).Evidence; again != first {
			t.Fatalf("%s, then %s", first, again)
		}
	}
}
