// Package guard keeps held-out problems out of training corpora: it groups
// problems into clusters, pins the split, and detects protected requests,
// items and answers in any text, reworded or not.
package guard

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/guard/disguise"
	"github.com/trajectory-arena/arena/guard/lexical"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Tier is the kind of evidence behind a finding.
type Tier string

// The tiers, strongest evidence first.
const (
	TierNone       Tier = ""
	TierSpec       Tier = "spec"       // names an item that a protected problem asks for, in the request, the rewarded answer or the model's text
	TierExact      Tier = "exact"      // repeats a protected text
	TierNormalised Tier = "normalised" // repeats a protected text except for case, punctuation and white space
	TierNgram      Tier = "ngram"      // repeats most runs of eight words of a protected text, in one text or over several
	TierLexical    Tier = "lexical"    // is as close to a protected text as rewordings of it are
	TierEmbedding  Tier = "embedding"  // has the meaning of a protected text, by its embedding
)

// RewordingsVersion is the version of the detector of reworded requests, the lexical tier.
const RewordingsVersion = "lexical_v11"

// Candidate is one row that may enter a corpus.
type Candidate struct {
	ID string
	// Text is the request. Context holds the other texts that the model reads
	// and did not write: system prompt, further user messages.
	Text    string
	Context []string
	// ItemIDs are the ids that the row rewards or answers with.
	ItemIDs []string
	// Answers is what the model wrote: thinking, messages and call arguments,
	// never tool results.
	Answers []string
	// Metadata holds the texts outside the dialogue: tool definitions and
	// metadata columns.
	Metadata []string
	// Conversation holds the texts of the dialogue that the model did not write, in their order:
	// they are searched joined, too. Results holds what tools returned.
	Conversation []string
	Results      []string
}

// Finding is the result of checking one candidate.
type Finding struct {
	_ struct{} `cbor:",toarray"`
	// Match and Bank name the nearest protected problem. Both are empty if no
	// protected problem shares a constraint with the text.
	Match string
	Bank  string
	// Drop reports that the row must not be trained on. Same reports that, moreover, every
	// constraint of the row agrees with the protected problem.
	Drop bool
	Same bool
	// Score is 0 to 1: 1/(1+e^-s) of the lexical detector, 1 for every match by
	// specification, exact or normalised text.
	Score float64
	// Tier is the tier that matched, TierNone if nothing was dropped.
	Tier Tier
	// Evidence describes what the row and the protected problem have in common and in what they
	// differ.
	Evidence string
	// Unreadable reports that the lexical tier knows too few words of the text
	// to judge it: another script or language.
	Unreadable bool
}

// Config sets the guard's thresholds. The zero value means the defaults.
type Config struct {
	// Drop is the lexical score, 0 to 1, from which a near miss is dropped. A text that asks for
	// the same as a protected one is dropped at any score. A configured threshold is used as it is;
	// the default is raised with the bank until the estimated share of harmless rows that are
	// dropped is at most MaxFalse.
	Drop, MaxFalse float64
	// MinDrop is a lower limit of the default threshold: the one that an earlier
	// check of the same rows used, as far as a bank may raise it.
	MinDrop float64
	// SameOnly drops, by wording, only texts that ask for the same as a protected request, and
	// turns the embedding tier off.
	SameOnly bool
	// Precomputed is the result of Guard.FalseDrops for the same bank in another
	// process; nil to compute it.
	Precomputed *FalseDrops
}

// Guard holds the protected bank and its index, which is built at the first
// check. It is safe for concurrent use.
type Guard struct {
	bank   []Entry
	config Config
	index  func() *index
	// prompts, conversations and definitions cache the findings of texts that many rows share:
	// context such as system prompts, the joined texts of attempts at one problem, and metadata such
	// as tool definitions.
	prompts, conversations, definitions findingCache
	// results has results of tools that repeat no protected request, answers has texts of the model
	// that repeat no protected problem.
	results, answers textSet
	// falseDrops is the estimate of harmless rows that the lexical tier drops.
	falseDrops FalseDrops
}

type index struct {
	spec    *specIndex
	text    *textIndex
	ngram   *ngramIndex
	lexical *lexical.Index
	// wordings are the detectors for requests with an identity or a lexicon. lexical has all others.
	wordings []*wording
}

// ErrEmptyBank is returned for a bank without problems. A corpus must not be
// built then: a guard with an empty bank passes everything.
var ErrEmptyBank = errors.New("the protected bank holds no problem")

// New returns a guard that protects bank. Entries without text are protected by
// specification only.
func New(bank []Entry, cfg Config) (*Guard, error) {
	if len(bank) == 0 {
		return nil, fmt.Errorf("index protected bank: %w", ErrEmptyBank)
	}
	configured := cfg.Drop != 0
	if !configured {
		cfg.Drop = max(lexical.DefaultDrop, min(cfg.MinDrop, maxDrop))
	}
	cfg.MaxFalse = cmp.Or(cfg.MaxFalse, DefaultMaxFalse)

	buildIndex := func() *index {
		wordings := newWordings(bank)
		for _, w := range wordings {
			w.lexical = lexical.NewFor(w.words, w.requests)
		}
		return &index{
			spec:     newSpecIndex(bank),
			text:     newTextIndex(bank),
			ngram:    newNgramIndex(bank),
			lexical:  lexical.New(lexicalRequests(bank)),
			wordings: wordings,
		}
	}
	g := &Guard{
		bank:   bank,
		config: cfg,
		index:  sync.OnceValue(buildIndex),
	}
	if cfg.Precomputed == nil {
		g.estimateFalseDrops(configured)
		return g, nil
	}
	g.falseDrops = *cfg.Precomputed
	g.config.Drop = max(cfg.Drop, min(g.falseDrops.Threshold, maxDrop))
	return g, nil
}

// lexicalRequests returns the requests of a bank (list of protected problems) for the detector of
// reworded requests, in the order of the bank. The request of an entry that is compared word for
// word only (Literal), or with an identity or a lexicon, is empty, so that no text is a rewording of it.
func lexicalRequests(bank []Entry) []lexical.Request {
	return slicesx.Map(bank, func(e Entry) lexical.Request {
		if e.Literal || e.isApart() {
			return lexical.Request{}
		}
		return lexical.Request{
			Text:  disguise.Plain(e.Text),
			Terms: slices.Concat(e.Titles, e.Terms),
		}
	})
}

// Bank returns the protected problems in input order, nil for a nil Guard.
func (g *Guard) Bank() []Entry {
	if g == nil {
		return nil
	}
	return g.bank
}

// FalseDrops returns the estimate of harmless rows that the guard drops, the zero value for a nil
// Guard.
func (g *Guard) FalseDrops() FalseDrops {
	if g == nil {
		return FalseDrops{}
	}
	return g.falseDrops
}

// Canary checks that the guard drops the first request and the first item of
// its own bank, and returns an error if it does not. It returns nil for a nil
// Guard.
func (g *Guard) Canary() error {
	if g == nil {
		return nil
	}
	text := slices.IndexFunc(g.bank, func(e Entry) bool {
		return normalised(e.Text) != ""
	})
	item := slices.IndexFunc(g.bank, func(e Entry) bool {
		return len(e.ItemIDs) > 0
	})
	if text >= 0 && !g.Check(Candidate{Text: "  " + g.bank[text].Text + "\n"}).Drop {
		return fmt.Errorf("check canary %q: a protected request was not caught", g.bank[text].ID)
	}
	if item >= 0 && !g.Check(Candidate{ItemIDs: g.bank[item].ItemIDs[:1]}).Drop {
		return fmt.Errorf("check canary %q: a protected item was not caught", g.bank[item].ID)
	}
	return nil
}

// NewEntry returns problem p as a protected problem with the given id, in the named bank.
func NewEntry(bank string, p arena.Problem, id string) Entry {
	e := Entry{
		ID:   id,
		Bank: bank,
		Text: p.Query,
		Spec: SpecHash(p),

		Literal:  p.Literal,
		Identity: p.Identity,
		Lexicon:  p.Lexicon,
	}
	for _, r := range p.Rewards {
		e.ItemIDs = append(e.ItemIDs, r.ProductID)
		e.Titles = append(e.Titles, r.Titles...)
		for _, o := range r.Attributes {
			e.Terms = append(e.Terms, o.Value)
		}
		for _, o := range r.SKUOptions {
			e.Terms = append(e.Terms, o.Value)
		}
	}
	return e
}
