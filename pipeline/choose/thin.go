package choose

import (
	"crypto/sha256"
	"slices"

	"github.com/trajectory-arena/arena/guard/minhash"
)

// Row is what a row is chosen by.
type Row struct {
	// Key is the same for copies of a row, Request for rows that make one request.
	Key, Request string
	// ID names the row to people; may be empty.
	ID string
	// Source is the position of its source.
	Source int
	Agents []string
	// Tokens weigh it, more than 0; Score orders rows, higher is better.
	Tokens int64
	Score  float64
	// Completion is the signature of what the model did and said; nil for a row
	// without a model.
	Completion *minhash.Packed
	// Reason says why the row is left out; empty where it stays.
	Reason string
	// Better is the ID of the row that stays and that this one nearly repeats, Alike
	// their estimated Jaccard similarity; empty and 0 where there is none.
	Better string
	Alike  float64
}

// Key is a key for what tells rows apart: a hash of it, 16 bytes long, whose
// order has nothing to do with the text's.
func Key(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:16])
}

// The reasons of a Thinner, beside that of a full request.
const (
	ReasonCopy  = "copied_row"     // a better row has the same text
	ReasonNear  = "near_duplicate" // a better row of the same request has nearly the same text
	ReasonAgent = "agent_cap"      // the agent has its full number of rows
)

// Thinner leaves, of rows that come best first, the first of copies and of
// near-duplicates, and so many of each request and agent.
type Thinner struct {
	// Near is the estimated Jaccard similarity from which two rows with one
	// request count as the same. Its standard error at 0.8 is 0.035.
	Near float64
	// PerRequest and PerAgent bound rows; 0 is no bound. Full is the reason of a
	// row whose request has all it may have.
	PerRequest, PerAgent int
	Full                 string

	seen   map[string]bool
	stays  map[string][]stay
	agents map[string]int
}

type stay struct {
	id         string
	completion *minhash.Packed
}

// Offer gives the reason for which a row is left out; empty where it stays. Rows
// without a key are no copies of one another.
func (t *Thinner) Offer(r *Row) string {
	same := t.stays[r.Request]
	reason := ""
	switch {
	case t.seen[r.Key]:
		reason = ReasonCopy
	case t.Repeats(r):
		reason = ReasonNear
	case t.PerRequest > 0 && len(same) == t.PerRequest:
		reason = t.Full
	case t.PerAgent > 0 && slices.ContainsFunc(r.Agents, func(a string) bool { return t.agents[a] == t.PerAgent }):
		reason = ReasonAgent
	default:
		t.Keep(r)
	}
	if r.Key != "" {
		put(&t.seen, r.Key, true)
	}
	return reason
}

// Keep has a row stay that others are held against.
func (t *Thinner) Keep(r *Row) {
	put(&t.stays, r.Request, append(t.stays[r.Request], stay{r.ID, r.Completion}))
	for _, a := range r.Agents {
		put(&t.agents, a, t.agents[a]+1)
	}
}

// Repeats reports whether the model did nearly the same in a row that stays, and
// notes in r which is the first.
func (t *Thinner) Repeats(r *Row) bool {
	for _, o := range t.stays[r.Request] {
		if r.Completion == nil || o.completion == nil {
			continue
		}
		if alike := o.completion.Similarity(r.Completion); alike >= t.Near {
			r.Better, r.Alike = o.id, alike
			return true
		}
	}
	return false
}

func put[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
}

// Weigh leaves of each source as many tokens as its weight gives it, to within
// one row, and the others with the reason. The source that has least for its
// weight gives all it has; one of weight 0 gives nothing and bounds no other.
// Rows are taken in the order they come in.
func Weigh(rows []*Row, weights []float64, reason string) {
	has := make([]float64, len(weights))
	for _, r := range rows {
		has[r.Source] += float64(r.Tokens)
	}
	scale := -1.0
	for s, w := range weights {
		if w > 0 && (scale < 0 || has[s]/w < scale) {
			scale = has[s] / w
		}
	}
	taken := make([]float64, len(weights))
	for _, r := range rows {
		// a part in 10^9 is lost in the division
		if taken[r.Source] >= scale*weights[r.Source]*(1-1e-9) {
			r.Reason = reason
			continue
		}
		taken[r.Source] += float64(r.Tokens)
	}
}
