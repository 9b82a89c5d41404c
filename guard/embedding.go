package guard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/guard/disguise"
	"github.com/trajectory-arena/arena/internal/model"
)

// falsePairs is the share of unrelated pairs that may reach the threshold.
const falsePairs = 2.0 / 100_000

// maxEmbedded is the longest text in bytes whose meaning is asked for: models
// read some hundred words, and a prompt means no one request.
const maxEmbedded = 4000

// EmbeddingTier adds drops by meaning to findings: it never clears a row, since
// a cosine is blind to numbers and brands.
type EmbeddingTier struct {
	guard    *Guard
	embedder *model.Embedder
	// threshold is the cosine from which a text is dropped. Cosines of different
	// models do not compare.
	threshold float64
	// entries are the positions of the bank's entries that have a text, vectors
	// theirs.
	entries []int
	vectors [][]float32
	// Required makes Check fail where the endpoint does.
	Required bool
	// down is why the endpoint could not answer; the other tiers decide then.
	down error
}

// NewEmbeddingTier embeds g's bank and sets the threshold on pairs of the bank
// that share no product.
func NewEmbeddingTier(ctx context.Context, g *Guard, e *model.Embedder) (*EmbeddingTier, error) {
	t := &EmbeddingTier{guard: g, embedder: e}
	var texts []string
	for i, e := range g.bank {
		if e.Text != "" {
			t.entries, texts = append(t.entries, i), append(texts, e.Text)
		}
	}
	if len(texts) == 0 {
		return nil, errors.New("embed the bank: no protected problem has a text")
	}
	var err error
	if t.vectors, err = embed(ctx, e, texts); err != nil {
		return nil, fmt.Errorf("embed the bank: %w", err)
	}
	t.threshold = t.background()
	return t, nil
}

// maxBackground bounds the bank's requests that background pairs are made of:
// 2,000 give two million pairs.
const maxBackground = 2000

// background sets the threshold just above all but falsePairs of the unrelated
// pairs in the bank.
func (t *EmbeddingTier) background() float64 {
	var cosines []float64
	n := min(len(t.vectors), maxBackground)
	for i := range n {
		for j := range i {
			if !t.guard.kindred(t.entries[i], t.entries[j]) {
				cosines = append(cosines, dot(t.vectors[i], t.vectors[j]))
			}
		}
	}
	slices.Sort(cosines)
	if len(cosines) == 0 {
		return 1
	}
	above := int(falsePairs * float64(len(cosines)))
	return min(1, cosines[len(cosines)-1-above]+1e-6)
}

// Down says why the tier stopped working, nil while it works.
func (t *EmbeddingTier) Down() error { return t.down }

// Check drops candidates that mean the same as a protected request, where no
// other tier has. An endpoint that fails leaves findings as they are and is
// remembered; the error returned is that of ctx, and of the endpoint only where
// the tier is required.
func (t *EmbeddingTier) Check(ctx context.Context, candidates []Candidate, findings []Finding) error {
	var texts []string
	var at []int
	for i, c := range candidates {
		if !findings[i].Drop {
			for _, text := range t.meant(c) {
				texts, at = append(texts, text), append(at, i)
			}
		}
	}
	if len(texts) == 0 || t.down != nil || t.guard.config.SameOnly {
		return ctx.Err()
	}
	vectors, err := embed(ctx, t.embedder, texts)
	if err != nil {
		t.down = err
		if t.Required && ctx.Err() == nil {
			return fmt.Errorf("ask the required embedding tier: %w", err)
		}
		return ctx.Err()
	}
	for i, v := range vectors {
		if f := &findings[at[i]]; !f.Drop {
			t.judge(texts[i], v, f)
		}
	}
	return nil
}

// meant are the texts of a candidate whose meaning counts: its request and what
// else was said to the model, beneath a disguise where there is one.
func (t *EmbeddingTier) meant(c Candidate) []string {
	var out []string
	for _, text := range append([]string{c.Text}, c.Context...) {
		if text == "" || len(text) > maxEmbedded {
			continue
		}
		text = disguise.Plain(text)
		out = append(out, text)
		for _, r := range disguise.Readings(text, t.guard.index().lexical.Knows) {
			out = append(out, r.Text)
		}
	}
	return out
}

// judge drops a text whose cosine reaches the threshold unless one of its numbers
// contradicts, and one in words beyond the lexical tier that has numbers of the request
// it is nearest to: from one language to another cosines are lower, but their order holds.
func (t *EmbeddingTier) judge(text string, v []float32, f *Finding) {
	best, cosine, nearest, most := -1, t.threshold, 0, -1.0
	for i, b := range t.vectors {
		cos := dot(v, b)
		if cos >= cosine && !t.guard.index().lexical.Contradicts(t.entries[i], text) {
			best, cosine = i, cos
		}
		if cos > most {
			nearest, most = i, cos
		}
	}
	evidence := fmt.Sprintf("cosine %.4f reaches %.4f; no number contradicts", cosine, t.threshold)
	if best < 0 && f.Beyond && t.guard.index().lexical.Numbered(t.entries[nearest], text) {
		best, evidence = nearest, fmt.Sprintf("nearest of all by meaning, cosine %.4f; numbers agree", most)
	}
	if best >= 0 {
		e := t.guard.bank[t.entries[best]]
		f.Match, f.Bank, f.Drop, f.Tier, f.Evidence = e.ID, e.Bank, true, TierEmbedding, evidence
	}
}

// embed returns one vector of unit length for each text, in order.
func embed(ctx context.Context, e *model.Embedder, texts []string) ([][]float32, error) {
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
