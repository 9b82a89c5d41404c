package guard

import (
	"github.com/trajectory-arena/arena/guard/disguise"
)

// Check checks one candidate against the whole bank.
func (g *Guard) Check(c Candidate) Finding {
	rewarded := g.index().spec.checkRewarded(c.ItemIDs, g.bank)
	best := stronger(rewarded, g.checkText(c.Text))
	for _, text := range c.Context {
		f := g.prompts.check(text, g.checkText)
		best = stronger(best, f.withoutUnreadable())
	}
	if !best.Drop || !best.Same {
		best = stronger(best, g.checkConversation(c.Conversation))
	}

	for _, text := range c.Results {
		if best.Drop {
			return best
		}
		best = stronger(best, g.checkResult(text))
	}
	for _, text := range c.Answers {
		if best.Drop {
			return best
		}
		best = strongerOutside(best, g.checkAnswer(text))
	}
	for _, text := range c.Metadata {
		if best.Drop {
			return best
		}
		best = strongerOutside(best, g.definitions.check(text, g.checkMetadata))
	}
	return best
}

// checkAnswer checks what the model wrote. Attempts share calls and short remarks.
func (g *Guard) checkAnswer(text string) Finding {
	if g.answers.has(text) {
		return Finding{}
	}
	f := g.checkModelText("what the model wrote", text)
	if f.Score < minScoreOutside {
		g.answers.add(text)
	}
	return f
}

func (g *Guard) checkMetadata(text string) Finding {
	return g.checkModelText("what stands beside the dialogue", text)
}

// strongerOutside returns the stronger of two findings (results of checking a row for protected
// requests). f is about a text other than the row's request, and counts only if its score reaches
// minScoreOutside.
func strongerOutside(best, f Finding) Finding {
	if f.Score < minScoreOutside {
		return best
	}
	return stronger(best, f.withoutUnreadable())
}

// withoutUnreadable returns a copy of f with Unreadable set to false. The report counts only
// requests that the guard cannot read, and f is about another text of the row.
func (f Finding) withoutUnreadable() Finding {
	f.Unreadable = false
	return f
}

// checkModelText checks whether a text of the model or of metadata repeats a protected problem.
// Encodings such as base64 are undone only to search for item ids and titles; the other comparisons
// read the text in plain letters. label describes the text in the evidence.
func (g *Guard) checkModelText(label, text string) Finding {
	f := g.index().spec.check(label, text, g.bank)
	if f.Drop || len(text) < minRequestBytes {
		return f
	}
	return g.checkPlain(disguise.Plain(text), 0)
}

// minScoreOutside is the minimum score, 0 to 1, at which a text other than the request, such as an
// answer, is dropped. Models rephrase requests, and what they write about other items is similar
// to a protected request. This minimum drops none of 569 harmless attempts; the threshold of
// requests would drop 46.
const minScoreOutside = 0.5

// minRequestBytes is the minimum length in bytes of a text that is compared with requests. A
// request has at least an item and one constraint.
const minRequestBytes = 16

// checkText checks a text of the dialogue that the model did not write for protected problems: as
// written, in plain letters, and with each disguise, such as base64, undone. It returns the first
// protected id or title, else an equal request, else the strongest finding.
func (g *Guard) checkText(text string) Finding { return g.checkCovering(text, 0) }

// checkCovering checks a text as checkText does, but the detector of reworded requests (lexical
// tier) drops it only if it has at least the share minCover, 0 to 1 by weight, of a protected
// request's words.
func (g *Guard) checkCovering(text string, minCover float64) Finding {
	if f := g.index().spec.check("the text", text, g.bank); f.Drop {
		return f
	}
	if f := g.index().text.check(text, g.bank); f.Drop {
		return f
	}
	best := Finding{}
	if hidden := disguise.Hidden(text); hidden != "" {
		best = g.checkCovering(hidden, minCover)
		if best.Drop {
			best.Evidence = "beneath a disguise (invisible characters): " + best.Evidence
		}
	}
	text = disguise.Plain(text)
	best = stronger(best, g.checkPlain(text, minCover))
	for _, r := range disguise.Readings(text, g.index().knows) {
		f := g.checkPlain(r.Text, minCover)
		if f.Drop {
			f.Evidence = "beneath a disguise (" + r.How + "): " + f.Evidence
		}
		best = stronger(best, f)
	}
	return best
}

func (g *Guard) checkPlain(text string, minCover float64) Finding {
	if f := g.index().text.check(text, g.bank); f.Drop {
		return f
	}
	f := g.index().ngram.check(text, g.bank)
	if g.config.SameOnly && !f.Same {
		f = Finding{}
	}
	return stronger(g.checkLexical(text, minCover), f)
}

func (g *Guard) checkLexical(text string, minCover float64) Finding {
	l := g.index().checkLexical(text, g.config.Drop)
	covers := l.Cover >= minCover
	l.Same = l.Same && covers
	l.Drop = l.Drop && covers && (l.Same || !g.config.SameOnly)
	f := Finding{
		Score:      l.Score,
		Drop:       l.Drop,
		Same:       l.Same,
		Evidence:   l.Evidence,
		Unreadable: l.Unreadable,
	}
	if l.Request >= 0 {
		f.Match = g.bank[l.Request].ID
		f.Bank = g.bank[l.Request].Bank
	}
	if f.Drop {
		f.Tier = TierLexical
	}
	return f
}

// stronger returns the stronger of two findings (results of checking a row): a drop before none,
// then the higher score, then the one that is Same, which means that every constraint of the row
// agrees with the protected problem. In the result, Unreadable is set if either finding has it, and
// Same if either has it about the same problem.
func stronger(a, b Finding) Finding {
	swap := b.Score > a.Score || b.Score == a.Score && b.Same && !a.Same
	if a.Drop != b.Drop {
		swap = b.Drop
	}
	if swap {
		a, b = b, a
	}
	a.Same = a.Same || b.Same && b.Match == a.Match
	a.Unreadable = a.Unreadable || b.Unreadable
	return a
}
