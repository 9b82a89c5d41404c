package guard

import "strings"

// checkConversation checks the texts of a dialogue that the model did not write, joined in their
// order: a request may be split over messages, parts of a message, or fields of a row. It returns
// the strongest finding, and the zero Finding for a single text, which is checked by itself.
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

// minJoinedCover is the minimum share, 0 to 1 by weight, of a request's words that joined texts
// must have to be dropped as a rewording of it. A request that was split is complete there, while a
// word of a prompt and one of another request occur together by chance.
const minJoinedCover = 0.5

func overMessages(f Finding) Finding {
	if f.Drop {
		f.Evidence = "over several messages: " + f.Evidence
	}
	return f
}

// windows returns the longest sequences of two consecutive texts and more whose length in bytes is
// at most limit together.
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
	f := g.index().ngram.check(text, g.bank)
	if !f.Same {
		return Finding{}
	}
	f.Evidence = "a result of a tool holds " + f.Evidence
	return f
}
