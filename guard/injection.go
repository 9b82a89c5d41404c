package guard

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// InjectionReport is the result of planting protected requests in other clothes
// and counting how many the guard finds.
type InjectionReport struct {
	Seed  uint64            `json:"seed"`
	Kinds []InjectionRecall `json:"kinds"`
}

// InjectionRecall is the recall on one kind of planted text.
type InjectionRecall struct {
	Kind    string  `json:"kind"`
	Planted int     `json:"planted"`
	Found   int     `json:"found"`
	Recall  float64 `json:"recall"`
	// Low and High are the Wilson interval at 95 %.
	Low  float64 `json:"wilson95_low"`
	High float64 `json:"wilson95_high"`
	// Floor is the least recall with which a corpus may be built.
	Floor float64 `json:"floor"`
	// Missed names up to three requests that were not found.
	Missed []string `json:"missed,omitempty"`
}

// plant is one way to dress up a request. What it changes nothing of is not planted.
type plant struct {
	kind  string
	dress func(text string) string
	floor float64
}

// The floors: what normalisation alone must find has no excuse; rewordings are
// found by a score, which is measured at 100 % on banks of hundreds, so that one
// in ten missed means a broken tier and not bad luck. What is found of a
// translation depends on its numbers, and is shown alone.
const (
	floorCertain = 1.0
	floorScored  = 0.9
	floorNone    = 0.0
)

const verbatim = "verbatim"

func plants() []plant {
	return []plant{
		{verbatim, func(t string) string { return t }, floorCertain},
		{"white_space", func(t string) string { return "\n " + strings.ReplaceAll(t, " ", "  ") + "\t" }, floorCertain},
		{"reordered", reorder, floorScored},
		{"rewrapped", rewrap, floorScored},
		{"units", changeUnits, floorScored},
		{"synonyms", exchanges.Replace, floorScored},
		{"translated", translate, floorNone},
	}
}

// maxPlanted bounds how many requests are planted for each kind: at 200 the
// interval is 4 points wide at most where recall is above 97 %.
const maxPlanted = 200

// Injection plants requests of the bank, chosen by a seeded hash, and reports
// recall by kind: a planted request is found where the guard drops it.
func (g *Guard) Injection(seed uint64) InjectionReport { return g.inject(seed, plants()) }

func (g *Guard) inject(seed uint64, kinds []plant) InjectionReport {
	r := InjectionReport{Seed: seed}
	sample := g.sample(seed, maxPlanted)
	for _, p := range kinds {
		k := InjectionRecall{Kind: p.kind, Floor: p.floor}
		for _, at := range sample {
			e := g.bank[at]
			if text := p.dress(e.Text); text != e.Text || p.kind == verbatim {
				k.count(e.ID, g.Check(Candidate{Text: text}).Drop)
			}
		}
		if k.Planted > 0 {
			k.Recall = float64(k.Found) / float64(k.Planted)
			w := stats.Wilson(k.Found, k.Planted)
			k.Low, k.High = w.Low, w.High
		}
		r.Kinds = append(r.Kinds, k)
	}
	return r
}

func (k *InjectionRecall) count(id string, found bool) {
	const named = 3
	k.Planted++
	if found {
		k.Found++
	} else if len(k.Missed) < named {
		k.Missed = append(k.Missed, id)
	}
}

// ErrRecall says that the guard finds fewer planted requests than its floor.
var ErrRecall = errors.New("the guard finds too few planted requests")

// Validate returns an error that names every kind below its floor. The bank may
// hold entries without text only; then nothing was planted and nothing is shown.
func (r InjectionReport) Validate() error {
	var bad wrong.List
	for _, k := range r.Kinds {
		bad.Unless(k.Planted == 0 || k.Recall >= k.Floor, "%w: %s: %d of %d, floor %g (missed %s)", ErrRecall, k.Kind, k.Found, k.Planted, k.Floor, strings.Join(k.Missed, ", "))
	}
	return bad.Err()
}

var clauseEnd = regexp.MustCompile(`(?:[,;] |\. |\n+)`)

func reorder(text string) string {
	ends := clauseEnd.FindAllStringIndex(text, -1)
	if len(ends) == 0 {
		return text
	}
	last := ends[len(ends)-1]
	return strings.TrimRight(text[last[1]:], ".") + ", " + text[:last[0]] + "."
}

// rewrap puts a request inside a longer text, as a prompt does.
func rewrap(text string) string {
	const before = "You help people who shop online. Read the request of the customer below, search the catalogue, compare what you find and recommend what fits best. Request of the customer, as it came in: "
	const after = " End of the request. Answer politely, name the product ids that you recommend, and stop once you are done. Do not invent products."
	return before + text + after
}

var amounts = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?) ?(php|pesos?|mm|cm|ml|kg|g)\b`)

// respell writes an amount in another usual way.
var respell = map[string]func(v float64) string{
	"php":   func(v float64) string { return fmt.Sprintf("₱%.9g", v) },
	"peso":  func(v float64) string { return fmt.Sprintf("₱%.9g", v) },
	"pesos": func(v float64) string { return fmt.Sprintf("₱%.9g", v) },
	"mm":    func(v float64) string { return fmt.Sprintf("%g cm", v/10) },
	"cm":    func(v float64) string { return fmt.Sprintf("%g mm", v*10) },
	"ml":    func(v float64) string { return fmt.Sprintf("%g milliliters", v) },
	"kg":    func(v float64) string { return fmt.Sprintf("%g kilograms", v) },
	"g":     func(v float64) string { return fmt.Sprintf("%g grams", v) },
}

func changeUnits(text string) string {
	return amounts.ReplaceAllStringFunc(text, func(m string) string {
		parts := amounts.FindStringSubmatch(m)
		v, err := strconv.ParseFloat(parts[1], 64)
		if err != nil {
			return m
		}
		return respell[strings.ToLower(parts[2])](v)
	})
}

// exchanges are light changes of wording that leave every constraint alone.
var exchanges = strings.NewReplacer(
	"Looking for", "Searching for", "looking for", "searching for", "Show me", "Find me", "Find a shop", "Find a store",
	"priced", "costing", " above ", " over ", " below ", " under ", "made of", "made from", "I want", "I'd like", "I need", "I require",
	"available with", "offering", "that offers", "that sells", "suitable for", "good for", "preferably", "ideally",
	" also ", " in addition ", "products", "items", "costs more than", "is over", "color", "colour",
)

// translate puts letters of a script that no lexicon reads in the place of others: of
// a translation into such a language the numbers stay.
func translate(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return 'ሀ' + unicode.ToLower(r)%256
		}
		return r
	}, text)
}
