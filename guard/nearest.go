package guard

import (
	"context"
	"slices"

	"github.com/trajectory-arena/arena/internal/stats"
)

// nearest is the protected request whose embedding is most similar to that of a text. at is its
// index in EmbeddingTier.vectors, and cosine the cosine of the two embeddings. lead is by how much
// this cosine exceeds the mean cosine of the next similar requests, at most maxNext of them.
type nearest struct {
	at     int
	cosine float64
	lead   float64
}

// maxNext is the maximum number of requests, the most similar ones after the nearest, whose mean
// cosine is subtracted from that of the nearest to get nearest.lead. The mean of ten is steadier
// than one cosine, which may be that of another wording of the nearest request.
const maxNext = 10

// nearestTo returns the protected request whose embedding is most similar to vector, and by how
// much it leads over the next ones. It skips requests for which isLeftOut, called with an index of
// t.vectors, is true. Requests that have an item or a specification in common with the nearest one
// do not count as next ones. The lead is 0 if there are no next ones.
func (t *EmbeddingTier) nearestTo(vector []float32, isLeftOut func(at int) bool) nearest {
	const leftOut = -2 // below every cosine
	cosines := make([]float64, len(t.vectors))
	best := nearest{cosine: leftOut}
	for i, v := range t.vectors {
		cosines[i] = leftOut
		if isLeftOut == nil || !isLeftOut(i) {
			cosines[i] = dot(vector, v)
		}
		if cosines[i] > best.cosine {
			best.at = i
			best.cosine = cosines[i]
		}
	}

	next := make([]float64, 0, maxNext+1) // the highest cosines in ascending order
	for i, cosine := range cosines {
		isLow := len(next) == maxNext && cosine <= next[0]
		if isLow || cosine == leftOut || t.guard.areRelated(t.entries[i], t.entries[best.at]) {
			continue
		}
		at, _ := slices.BinarySearch(next, cosine)
		next = slices.Insert(next, at, cosine)
		if len(next) > maxNext {
			next = slices.Delete(next, 0, 1)
		}
	}
	if len(next) > 0 {
		best.lead = best.cosine - stats.Mean(next)
	}
	return best
}

// limits are the highest cosine and the highest lead that honest texts (of no protected problem)
// reach, without the small share of them that may be dropped by mistake.
type limits struct {
	cosine, lead float64
	// unrelated is the median cosine of requests that have nothing in common but that they are
	// requests. A text whose nearest request has a lower one is of another kind.
	unrelated float64
}

// The maximum shares of honest texts that are above a limit: pairs of unrelated requests of the bank
// by their cosines, and honest requests by their leads. Requests of the bank are above the limit of
// leads by at most Config.MaxFalse. Both shares of leads are upper ends of intervals.
const (
	maxFalsePairs  = 2.0 / 100_000
	maxFalseHonest = 0.01
)

// maxBackground is the maximum number of protected requests that are compared with each other to
// measure the limits of the embedding tier: 2,000 requests have two million pairs.
const maxBackground = 2000

// measureLimits sets the tier's limits, above which a text is dropped, to the highest values that
// honest texts (of no protected problem) should reach. It measures them on the protected requests,
// each compared with those that are unrelated to it, and on the project's own honest requests.
func (t *EmbeddingTier) measureLimits(ctx context.Context) error {
	honest := statementLines("honest")
	vectors, err := embedTexts(ctx, t.embedder, honest)
	if err != nil {
		return err
	}
	var cosines []float64
	for i := range t.background() {
		for j := range i {
			if !t.guard.areRelated(t.entries[i], t.entries[j]) {
				cosines = append(cosines, dot(t.vectors[i], t.vectors[j]))
			}
		}
	}
	t.limits.cosine = limitOf(cosines, maxFalsePairs)
	t.limits.unrelated = limitOf(cosines, 0.5)

	var honestLeads, ownLeads []float64
	for i, v := range vectors {
		honestLeads = append(honestLeads, t.consistentLead(honest[i], t.nearestTo(v, nil)))
	}
	for i := range t.background() {
		n := t.nearestTo(t.vectors[i], func(at int) bool {
			return t.guard.areRelated(t.entries[i], t.entries[at])
		})
		ownLeads = append(ownLeads, t.consistentLead(t.guard.bank[t.entries[i]].Text, n))
	}
	t.limits.lead = max(safeLimitOf(ownLeads, t.guard.config.MaxFalse), safeLimitOf(honestLeads, maxFalseHonest))
	return nil
}

// background returns the number of protected requests whose similarities to each other are measured
// to set the tier's limits, at most maxBackground.
func (t *EmbeddingTier) background() int { return min(len(t.vectors), maxBackground) }

// consistentLead returns n.lead, which is how much more similar the text is to the nearest
// protected request than to the next ones. It returns 0 where the lead proves nothing: if the text
// does not resemble a request at all, or contradicts the nearest request, such as by another
// number, or shares too few words with that request although the guard's lexicon has the words of
// the text.
func (t *EmbeddingTier) consistentLead(text string, n nearest) float64 {
	request := t.entries[n.at]
	words, text := t.guard.index().of(request, text)
	isOther := n.cosine < t.limits.unrelated || !words.SharesWords(request, text)
	if isOther || words.Contradicts(request, text) {
		return 0
	}
	return n.lead
}

// limitOf returns a limit that at most the given share, 0 to 1, of the values exceeds: one of the
// values, the lowest possible. For no values it returns 1, which no cosine exceeds. It sorts values
// in place.
func limitOf(values []float64, share float64) float64 {
	return limitBelow(values, int(share*float64(len(values))))
}

// safeLimitOf returns a limit that at most the given share, 0 to 1, of all texts exceeds, of which
// values are a sample: the lowest of the values for which the upper end of the share's one-sided 95 %
// interval is within it, or else the highest value. For no values it returns 1. It sorts values in
// place.
func safeLimitOf(values []float64, share float64) float64 {
	above := 0
	for above+1 < len(values) && stats.WilsonUpper(above+1, len(values)) <= share {
		above++
	}
	return limitBelow(values, above)
}

// limitBelow returns the one of the values that exactly above others follow in ascending order, or
// 1 if there are no values. It sorts values in place.
func limitBelow(values []float64, above int) float64 {
	if len(values) == 0 {
		return 1
	}
	slices.Sort(values)
	return values[len(values)-1-above]
}
