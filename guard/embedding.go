package guard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/guard/disguise"
	"github.com/trajectory-arena/arena/internal/model"
)

// maxEmbeddedBytes is the maximum length in bytes of a text that is embedded. Models read a few
// hundred words only, and a long prompt has no single meaning.
const maxEmbeddedBytes = 4000

// EmbeddingTier drops candidates whose text has the meaning of a protected request. It never
// reverses the drop of another tier, and a low cosine proves nothing, since an embedding ignores
// numbers and brands.
type EmbeddingTier struct {
	guard    *Guard
	embedder *model.Embedder
	// limits are the highest values that honest texts (of no protected problem) reach. They are
	// computed for each model and bank, since cosines of different models are not comparable.
	limits limits
	// entries are the indices of the bank's entries that have a text, vectors their embeddings.
	entries []int
	vectors [][]float32
	// Required makes Check fail if the endpoint fails.
	Required bool
	// down is the error with which the endpoint failed. From then on this tier drops nothing.
	down error
}

// NewEmbeddingTier returns a tier for g's bank. It embeds the bank and honest requests, and computes
// from them what honest texts reach.
func NewEmbeddingTier(
	ctx context.Context,
	g *Guard,
	e *model.Embedder,
) (*EmbeddingTier, error) {
	t := &EmbeddingTier{guard: g, embedder: e}
	var texts []string
	for i, e := range g.bank {
		if e.Text != "" {
			t.entries = append(t.entries, i)
			texts = append(texts, e.Text)
		}
	}
	if len(texts) == 0 {
		return nil, errors.New("embed the bank: no protected problem has a text")
	}
	var err error
	if t.vectors, err = embedTexts(ctx, e, texts); err != nil {
		return nil, fmt.Errorf("embed the bank: %w", err)
	}
	if err = t.measureLimits(ctx); err != nil {
		return nil, fmt.Errorf("embed honest requests: %w", err)
	}
	return t, nil
}

// Down returns the error that stopped the tier, nil if it works.
func (t *EmbeddingTier) Down() error { return t.down }

// Check drops candidates with the meaning of a protected request, unless another
// tier has dropped them. If the endpoint fails, Check leaves the findings as they
// are and disables the tier. It returns the error of ctx, and that of the endpoint
// only if the tier is required.
func (t *EmbeddingTier) Check(
	ctx context.Context,
	candidates []Candidate,
	findings []Finding,
) error {
	var texts []string
	var owners []int
	for i, c := range candidates {
		if findings[i].Drop {
			continue
		}
		for _, text := range t.embeddable(c) {
			texts = append(texts, text)
			owners = append(owners, i)
		}
	}
	if len(texts) == 0 || t.down != nil || t.guard.config.SameOnly {
		return ctx.Err()
	}
	vectors, err := embedTexts(ctx, t.embedder, texts)
	if err != nil {
		t.down = err
		if t.Required && ctx.Err() == nil {
			return fmt.Errorf("ask the required embedding tier: %w", err)
		}
		return ctx.Err()
	}
	for i, v := range vectors {
		if f := &findings[owners[i]]; !f.Drop {
			t.judge(texts[i], v, f)
		}
	}
	return nil
}

// embeddable returns the request, each context and the joined conversation of a candidate in
// plain letters, each followed by the texts that result if its disguises, such as base64, are
// undone. It omits texts longer than maxEmbeddedBytes.
func (t *EmbeddingTier) embeddable(c Candidate) []string {
	texts := append([]string{c.Text}, c.Context...)
	if len(c.Conversation) > 1 {
		texts = append(texts, strings.Join(c.Conversation, "\n"))
	}
	var out []string
	for _, text := range texts {
		if text == "" || len(text) > maxEmbeddedBytes {
			continue
		}
		text = disguise.Plain(text)
		out = append(out, text)
		for _, r := range disguise.Readings(text, t.guard.index().knows) {
			out = append(out, r.Text)
		}
	}
	return out
}

// judge sets f to a drop if a text has the meaning of a protected request, by their embeddings. No
// number in the text may contradict the request, and their cosine must be higher than for honest
// texts.
//
// Across languages all cosines are lower, but their order is the same. A text that the comparison of
// words cannot read, such as one in another language, is therefore also dropped if the cosine exceeds
// the mean of those of the next most similar requests by more than for honest texts, or if its numbers
// agree with those of the most similar request. Of a text that can be read, the words decide.
func (t *EmbeddingTier) judge(text string, vector []float32, f *Finding) {
	if at, cosine := t.consistent(text, vector); at >= 0 {
		t.drop(f, at, "cosine %.4f, of honest texts at most %.4f; no number contradicts", cosine, t.limits.cosine)
		return
	}
	n := t.nearestTo(vector, nil)
	words, plain := t.guard.index().of(t.entries[n.at], text)
	switch {
	case !words.Reads(plain) && t.consistentLead(text, n) > t.limits.lead:
		t.drop(f, n.at, "leads the next by cosine %.4f, of honest texts at most %.4f; no number contradicts", n.lead, t.limits.lead)
	case f.Unreadable && words.SharesNumbers(t.entries[n.at], plain):
		t.drop(f, n.at, "nearest of all by meaning, cosine %.4f; numbers agree", n.cosine)
	}
}

// consistent returns the index in t.vectors of the protected request whose embedding is most
// similar to vector, the embedding of text, and their cosine. Only cosines above t.limits.cosine
// count, and only requests that no number in text contradicts. The index is -1 if there is none.
func (t *EmbeddingTier) consistent(text string, vector []float32) (at int, cosine float64) {
	at = -1
	cosine = t.limits.cosine
	for i, v := range t.vectors {
		c := dot(vector, v)
		if c <= cosine {
			continue
		}
		if words, plain := t.guard.index().of(t.entries[i], text); !words.Contradicts(t.entries[i], plain) {
			at = i
			cosine = c
		}
	}
	return at, cosine
}

// drop sets f to a drop by the embedding tier because of the protected request with index at in
// t.vectors. evidence and numbers are the format and the arguments of fmt.Sprintf for the finding's
// evidence.
func (t *EmbeddingTier) drop(f *Finding, at int, evidence string, numbers ...any) {
	e := &t.guard.bank[t.entries[at]]
	f.Match = e.ID
	f.Bank = e.Bank
	f.Drop = true
	f.Tier = TierEmbedding
	f.Evidence = fmt.Sprintf(evidence, numbers...)
}

// embedTexts returns the embedding of each text, in order, scaled to length 1.
func embedTexts(
	ctx context.Context,
	e *model.Embedder,
	texts []string,
) ([][]float32, error) {
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed texts: %w", err)
	}
	for i, v := range vectors {
		length := float32(math.Sqrt(dot(v, v)))
		vectors[i] = slices.Clone(v)
		for j := range v {
			vectors[i][j] /= length
		}
	}
	return vectors, nil
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(float64(a[i]) * float64(b[i]))
	}
	return sum
}
