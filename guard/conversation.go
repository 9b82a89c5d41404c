package guard

import "strings"

// checkConversation checks the texts of a dialogue that the model did not write, joined in their
// order, since a protected request may be split over messages, parts of a message, or fields of a
// row. It returns the strongest finding. For a single text it returns the zero Finding, since that
// is checked by itself.
func (g *Guard) checkConversation(parts []string) Finding {
	if len(parts) < 2 {
		return Finding{}
	}
	best := g.index().ngram.check(strings.Join(parts, " "), g.bank)
	if g.config.SameOnly && !best.Same {
		best = Finding{}
	}
	if best.Drop && best.Same {
		return overMessages(best)
	}
	limit := maxPadding * (g.index().text.maxBytes + 1)
	for _, window := range windows(parts, limit) {
		f := g.conversations.check(strings.Join(window, "\n"), func(text string) Finding {
			return g.checkCovering(text, minJoinedCover)
		})
		best = stronger(best, f.withoutUnreadable())
		if best.Drop && best.Same {
			break
		}
	}
	return overMessages(best)
}

// minJoinedCover is the share, 0 to 1 by weight, of a protected request's words that must be in
// consecutive texts, joined, for them to count as a rewording of the request: the share from which a
// single text counts as asking for the same. Unrelated texts together have a few of the words by
// chance: it drops 9 of 2,000 pairs of harmless requests, and a half would drop 8.
const minJoinedCover = 0.35

func overMessages(f Finding) Finding {
	if f.Drop {
		f.Evidence = "over several messages: " + f.Evidence
	}
	return f
}

// windows returns runs of at least two consecutive texts, since a request may be split over several
// texts. Each run has a total length of at most limit bytes and is as long as possible.
func windows(parts []string, limit int) [][]string {
	var out [][]string
	lastEnd := 0
	for start := range parts {
		size := 0
		end := start
		for end < len(parts) && size+len(parts[end]) <= limit {
			size += len(parts[end]) + 1
			end++
		}
		if end-start > 1 && end > lastEnd {
			out = append(out, parts[start:end])
			lastEnd = end
		}
	}
	return out
}

// checkResult checks what a tool returned. Since every search returns items of other problems,
// it drops the row only if the text repeats a complete protected request, not for ids, titles or
// similar texts.
func (g *Guard) checkResult(text string) Finding {
	if g.results.has(text) {
		return Finding{}
	}
	f := g.index().ngram.check(text, g.bank)
	if !f.Same {
		g.results.add(text)
		return Finding{}
	}
	f.Evidence = "a result of a tool holds " + f.Evidence
	return f
}
