package choose

import (
	"crypto/sha256"
	"slices"

	"github.com/trajectory-arena/arena/guard/minhash"
)

// Row has the properties of a row that decide whether it is chosen.
type Row struct {
	// Key is equal for copies of a row. Request is equal for rows with the same request.
	Key     string
	Request string
	// ID is the name of the row in reports. It may be empty.
	ID string
	// Source is the index of the row's source.
	Source int
	Agents []string
	// Tokens is the row's weight, more than 0.
	Tokens int64
	// Score is the order in which rows are preferred. Higher is better.
	Score float64
	// Completion is the MinHash signature of the texts that the model wrote, nil for a row
	// without such texts.
	Completion *minhash.Packed
	// Reason is the reason why the row is dropped, "" if it is kept.
	Reason string
	// Better is the ID of a kept row that this one nearly repeats. Similarity is the estimated
	// Jaccard similarity of the two. They are "" and 0 if there is no such row.
	Better     string
	Similarity float64
}

// Key returns a 16-byte hash of text. The order of hashes is unrelated to that of the texts.
func Key(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:16])
}

// The reasons with which a Thinner drops rows, in addition to its FullReason.
const (
	ReasonCopy  = "copied_row"     // a better row has the same text
	ReasonNear  = "near_duplicate" // a better row of the same request has nearly the same text
	ReasonAgent = "agent_cap"      // the agent already has the maximum number of rows
)

// Thinner decides which rows to keep. Rows must be offered best first. It keeps the first of
// several copies and near-duplicates, and limits the number of rows of each request and agent.
type Thinner struct {
	// Near is the estimated Jaccard similarity from which two rows with the same request count
	// as duplicates. At 0.8, the standard error of the estimate is 0.035.
	Near float64
	// PerRequest and PerAgent are the maximum numbers of rows for one request and for one agent.
	// 0 means no limit.
	PerRequest int
	PerAgent   int
	// FullReason is the reason for dropping a row beyond PerRequest.
	FullReason string

	seen      map[string]bool
	byRequest map[string][]keptRow
	perAgent  map[string]int
}

type keptRow struct {
	id         string
	completion *minhash.Packed
}

// Offer decides on r and returns the reason for dropping it, "" if r is kept. Rows without a key
// are never copies of each other.
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

// Keep records r as a kept row. Later rows are compared with it.
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

// MarkNearDuplicate sets r.Better and r.Similarity for the first kept row that has the request
// of r and nearly the same completion. It reports whether there is one.
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

// set stores a value in the map *m. It creates the map if it is nil.
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

// TrimToWeights sets the reason of the rows beyond each source's share of the tokens. The shares
// are proportional to the weights, to within one row, and as large as possible: the source with
// the fewest tokens for its weight keeps all its rows. A source of weight 0 keeps none and does
// not limit the others. Earlier rows are kept before later ones.
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
		// The division loses up to one part in 10^9.
		limit := scale * weights[r.Source] * (1 - 1e-9)
		if used[r.Source] >= limit {
			r.Reason = reason
			continue
		}
		used[r.Source] += float64(r.Tokens)
	}
}
