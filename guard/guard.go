// Package guard keeps held-out problems out of training corpora: it groups
// problems into clusters, pins the split, and finds protected requests,
// products and answers in any text, however they are reworded.
package guard

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	arena "github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/guard/disguise"
	"github.com/trajectory-arena/arena/guard/lexical"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Tier names the kind of evidence that a finding rests on.
type Tier string

// The tiers, strongest evidence first.
const (
	TierNone       Tier = ""
	TierSpec       Tier = "spec"       // its request, its answer or what the model wrote names a product that a protected problem asks for
	TierExact      Tier = "exact"      // repeats a protected text
	TierNormalised Tier = "normalised" // repeats a protected text but for case, punctuation and white space
	TierLexical    Tier = "lexical"    // comes as near to a protected text as its rewordings do
	TierEmbedding  Tier = "embedding"  // means the same as a protected text by its embedding
)

// Candidate is one row on its way into a corpus.
type Candidate struct {
	ID string
	// Text is the request. Context holds the row's other texts that are read and
	// not written by the model: system prompt, further user messages.
	Text    string
	Context []string
	// ProductIDs are the ids that the row rewards or recommends.
	ProductIDs []string
	// Answers is what the model wrote: thinking, messages and call arguments,
	// never tool results.
	Answers []string
	// Beside is what stands beside the dialogue: definitions of tools, metadata.
	Beside []string
}

// Finding is what the guard says of one candidate.
type Finding struct {
	_ struct{} `cbor:",toarray"`
	// Match and Bank name the nearest protected problem; empty where no
	// protected problem shares a constraint with the text.
	Match string
	Bank  string
	// Drop is what the guard acts on: the row may not be trained on. Same is the
	// narrower claim that every constraint agrees.
	Drop bool
	Same bool
	// Score is 0 to 1: 1/(1+e^-s) of the lexical detector, 1 for every match by
	// specification, exact or normalised text.
	Score float64
	// Tier found the match; TierNone where nothing was dropped.
	Tier Tier
	// Evidence says in words what agreed and what differed.
	Evidence string
	// Beyond is true where the lexical tier could read too little of the text to
	// judge it: another script or language.
	Beyond bool
}

// Config sets the guard's thresholds. The zero value means the defaults.
type Config struct {
	// Drop is the lexical score, 0 to 1, from which a near miss is dropped; what asks
	// for the same is at any. One that is given stays; the default is raised with the
	// bank until the share of honest rows lost is estimated to be MaxFalse at most.
	Drop, MaxFalse float64
	// Least is what the default starts from at least: the score from which whoever
	// looked at the rows before dropped them, as far as a bank may raise it.
	Least float64
	// SameOnly drops by wording only what asks for the same.
	SameOnly bool
	// Weighed is what New found of the same bank, and raised the default to, in another
	// process; nil to find it out.
	Weighed *FalseDrops
}

// Guard holds the protected bank and its index, which is made when it is asked for
// first. It is safe for concurrent use.
type Guard struct {
	bank   []Entry
	config Config
	index  func() *index
	// prompts and definitions are the findings in what is read beside the request,
	// and in what stands beside the dialogue.
	prompts, definitions repeated
	// falseDrops is what honest rows the lexical tier costs.
	falseDrops FalseDrops
}

type index struct {
	spec    *specIndex
	text    *textIndex
	lexical *lexical.Index
}

// ErrEmptyBank says that there is nothing to protect. A corpus may not be
// built then: a guard without a bank passes everything.
var ErrEmptyBank = errors.New("the protected bank holds no problem")

// New guards bank. Entries without text are protected by specification only.
func New(bank []Entry, cfg Config) (*Guard, error) {
	if len(bank) == 0 {
		return nil, fmt.Errorf("index protected bank: %w", ErrEmptyBank)
	}
	given := cfg.Drop != 0
	cfg.Drop = cmp.Or(cfg.Drop, max(lexical.DefaultDrop, min(cfg.Least, maxDrop)))
	cfg.MaxFalse = cmp.Or(cfg.MaxFalse, DefaultMaxFalse)
	g := &Guard{bank: bank, config: cfg, index: sync.OnceValue(func() *index {
		return &index{newSpecIndex(bank), newTextIndex(bank), lexical.New(requests(bank))}
	})}
	if w := cfg.Weighed; w != nil {
		g.falseDrops = *w
		g.config.Drop = max(cfg.Drop, min(w.Threshold, maxDrop))
	} else {
		g.weighFalseDrops(given)
	}
	return g, nil
}

func requests(bank []Entry) []lexical.Request {
	return slicesx.Map(bank, func(e Entry) lexical.Request {
		return lexical.Request{Text: disguise.Plain(e.Text), Terms: slices.Concat(e.Titles, e.Terms)}
	})
}

// Bank returns the protected problems in the order they were given; none of a nil
// Guard.
func (g *Guard) Bank() []Entry {
	if g == nil {
		return nil
	}
	return g.bank
}

// FalseDrops is what honest rows the guard costs; empty of a nil Guard.
func (g *Guard) FalseDrops() FalseDrops {
	if g == nil {
		return FalseDrops{}
	}
	return g.falseDrops
}

// leastBeside is the least score at which a text is dropped that is no customer's
// and no prompt: models put requests into their own words, and what they say of
// another product comes near a protected request. It took none of 569
// honest attempts, where the threshold of requests takes 46.
const leastBeside = 0.5

// Check holds one candidate against the whole bank.
func (g *Guard) Check(c Candidate) Finding {
	best := stronger(g.index().spec.rewarded(c.ProductIDs, g.bank), g.checkText(c.Text))
	for _, text := range c.Context {
		best = stronger(best, g.prompts.check(text, g.checkText).beside())
	}
	for i, text := range slices.Concat(c.Answers, c.Beside) {
		if best.Drop {
			break
		}
		var f Finding
		if i < len(c.Answers) {
			f = g.checkSaid("what the model wrote", text)
		} else {
			f = g.definitions.check(text, func(s string) Finding { return g.checkSaid("what stands beside the dialogue", s) })
		}
		if f.Score >= leastBeside {
			best = stronger(best, f.beside())
		}
	}
	return best
}

// beside is a finding in a text beside the request: only of this is it said how
// far it could be read.
func (f Finding) beside() Finding {
	f.Beyond = false
	return f
}

// checkSaid reads what is neither a customer's text nor a prompt as it stands:
// disguises are undone to find ids and titles alone.
func (g *Guard) checkSaid(whose, text string) Finding {
	if f := g.index().spec.check(whose, text, g.bank); f.Drop || len(text) < leastRequest {
		return f
	}
	return g.checkPlain(disguise.Plain(text))
}

// leastRequest is the least length in bytes of a text that can hold a request: a
// thing and one constraint on it.
const leastRequest = 16

// checkText reads text as it stands and as it says beneath a disguise.
func (g *Guard) checkText(text string) Finding {
	if f := g.index().spec.check("the text", text, g.bank); f.Drop {
		return f
	}
	if f := g.index().text.check(text, g.bank); f.Drop {
		return f
	}
	text = disguise.Plain(text)
	best := g.checkPlain(text)
	for _, r := range disguise.Readings(text, g.index().lexical.Knows) {
		f := g.checkPlain(r.Text)
		if f.Drop {
			f.Evidence = "beneath a disguise (" + r.How + "): " + f.Evidence
		}
		best = stronger(best, f)
	}
	return best
}

func (g *Guard) checkPlain(text string) Finding {
	if f := g.index().text.check(text, g.bank); f.Drop {
		return f
	}
	return g.checkLexical(text)
}

func (g *Guard) checkLexical(text string) Finding {
	l := g.index().lexical.Check(text, g.config.Drop)
	l.Drop = l.Drop && (l.Same || !g.config.SameOnly)
	f := Finding{Score: l.Score, Drop: l.Drop, Same: l.Same, Evidence: l.Evidence, Beyond: l.Beyond}
	if l.Request >= 0 {
		f.Match, f.Bank = g.bank[l.Request].ID, g.bank[l.Request].Bank
	}
	if f.Drop {
		f.Tier = TierLexical
	}
	return f
}

// stronger prefers a drop over a pass, then the stronger tier, then the higher
// score. What only one of the two could see stays true.
func stronger(a, b Finding) Finding {
	if b.Drop && !a.Drop || b.Drop == a.Drop && b.Score > a.Score {
		a, b = b, a
	}
	a.Same = a.Same || b.Same && b.Match == a.Match
	a.Beyond = a.Beyond || b.Beyond
	return a
}

// Canary plants the first request and the first product of the bank and fails if
// the guard lets one pass. A nil Guard has none.
func (g *Guard) Canary() error {
	if g == nil {
		return nil
	}
	text := slices.IndexFunc(g.bank, func(e Entry) bool { return normalised(e.Text) != "" })
	product := slices.IndexFunc(g.bank, func(e Entry) bool { return len(e.ProductIDs) > 0 })
	if text >= 0 && !g.Check(Candidate{Text: "  " + g.bank[text].Text + "\n"}).Drop {
		return fmt.Errorf("check canary %q: a protected request was not caught", g.bank[text].ID)
	}
	if product >= 0 && !g.Check(Candidate{ProductIDs: g.bank[product].ProductIDs[:1]}).Drop {
		return fmt.Errorf("check canary %q: a protected product was not caught", g.bank[product].ID)
	}
	return nil
}

// EntryOf makes the protected entry of one problem of the named bank.
func EntryOf(bank string, p arena.Problem, id string) Entry {
	e := Entry{ID: id, Bank: bank, Text: p.Query, Spec: SpecHash(p)}
	for _, r := range p.Rewards {
		e.ProductIDs = append(e.ProductIDs, r.ProductID)
		e.Titles = append(e.Titles, r.Titles...)
		for _, o := range append(append([]arena.Option{}, r.Attributes...), r.SKUOptions...) {
			e.Terms = append(e.Terms, o.Value)
		}
	}
	return e
}
