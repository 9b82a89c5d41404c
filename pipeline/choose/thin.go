package choose

import (
	"crypto/sha256"
	"slices"

	"github.com/trajectory-arena/arena/guard/minhash"
)

// Row holds the properties of a row that decide whether it is chosen.
type Row struct {
	// Key is equal for copies of a row, Request for rows with one request.
	Key     string
	Request string
	// ID is the row's name for people; it may be empty.
	ID string
	// Source is the index of the row's source.
	Source int
	Agents []string
	// Tokens is the row's weight, more than 0.
	Tokens int64
	// Score orders rows; higher is better.
	Score float64
	// Completion is the signature of the model's output, nil for a row without a
	// model.
	Completion *minhash.Packed
	// Reason is why the row is left out, empty if it is kept.
	Reason string
	// Better is the ID of the kept row that this one nearly repeats, and Similarity
	// their estimated Jaccard similarity. They are empty and 0 if there is none.
	Better     string
	Similarity float64
}

// Key returns a 16-byte hash of text. Its order is unrelated to that of the text.
func Key(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:16])
}

// The reasons of a Thinner, besides its FullReason.
const (
	ReasonCopy  = "copied_row"     // a better row has the same text
	ReasonNear  = "near_duplicate" // a better row of the same request has nearly the same text
	ReasonAgent = "agent_cap"      // the agent already has the maximum number of rows
)

// Thinner decides which rows to keep when they are offered best first. It keeps
// the first of several copies and near-duplicates, and limits the rows of each
// request and agent.
type Thinner struct {
	// Near is the estimated Jaccard similarity from which two rows with one
	// request count as duplicates. Its standard error at 0.8 is 0.035.
	Near float64
	// PerRequest and PerAgent limit the number of rows; 0 is no limit.
	PerRequest int
	PerAgent   int
	// FullReason is the reason of a row beyond PerRequest.
	FullReason string

	seen      map[string]bool
	byRequest map[string][]keptRow
	perAgent  map[string]int
}

type keptRow struct {
	id         string
	completion *minhash.Packed
}

// Offer returns the reason for leaving out r. It is empty if r is kept. Rows without a key are
// never copies of each other.
func (t *Thinner) Offer(r *Row) string {
	isFull := func(agent string) bool { return t.perAgent[agent] == t.PerAgent }
	reason := ""
	switch {
	case t.seen[r.Key]:
		reason = ReasonCopy
	case t.MarkNearDuplicate(r):
		reason = ReasonNear
	case t.PerRequest > 0 && len(t.byRequest[r.Request]) == t.PerRequest:
		reason = t.FullReason
	case t.PerAgent > 0 && slices.ContainsFunc(r.Agents, isFull):
		reason = ReasonAgent
	default:
		t.Keep(r)
	}
	if r.Key != "" {
		set(&t.seen, r.Key, true)
	}
	return reason
}

// Keep records r as a kept row, with which later rows are compared.
func (t *Thinner) Keep(r *Row) {
	set(
		&t.byRequest,
		r.Request,
		append(t.byRequest[r.Request], keptRow{r.ID, r.Completion}),
	)
	for _, agent := range r.Agents {
		set(&t.perAgent, agent, t.perAgent[agent]+1)
	}
}

// MarkNearDuplicate sets r.Better and r.Similarity to the first kept row with the
// request of r and nearly the same completion. It reports whether there is one.
func (t *Thinner) MarkNearDuplicate(r *Row) bool {
	for _, kept := range t.byRequest[r.Request] {
		if r.Completion == nil || kept.completion == nil {
			continue
		}
		similarity := kept.completion.Similarity(r.Completion)
		if similarity >= t.Near {
			r.Better = kept.id
			r.Similarity = similarity
			return true
		}
	}
	return false
}

// set stores a value in *m, which may be nil.
func set[V any](
	m *map[string]V,
	key string,
	v V,
) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
}

// TrimToWeights sets the reason of every row beyond its source's share of the
// tokens. The shares are in the ratio of the weights, to within one row, and as
// large as the sources allow: the source with the fewest tokens for its weight
// keeps all its rows. A source of weight 0 keeps none and limits no other. Earlier
// rows are kept before later ones.
func TrimToWeights(rows []*Row, weights []float64, reason string) {
	total := make([]float64, len(weights))
	for _, r := range rows {
		total[r.Source] += float64(r.Tokens)
	}
	scale := -1.0
	for s, w := range weights {
		if w > 0 && (scale < 0 || total[s]/w < scale) {
			scale = total[s] / w
		}
	}

	used := make([]float64, len(weights))
	for _, r := range rows {
		// a part in 10^9 is lost in the division
		limit := scale * weights[r.Source] * (1 - 1e-9)
		if used[r.Source] >= limit {
			r.Reason = reason
			continue
		}
		used[r.Source] += float64(r.Tokens)
	}
}
