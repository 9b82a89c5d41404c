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

// maxFalsePairs is the maximum share of pairs of unrelated requests whose cosine may reach the
// threshold of an EmbeddingTier.
const maxFalsePairs = 2.0 / 100_000

// maxEmbeddedBytes is the maximum length in bytes of a text that is embedded. Models read a few
// hundred words only, and a long prompt has no single meaning.
const maxEmbeddedBytes = 4000

// EmbeddingTier drops candidates whose text has the meaning of a protected request. It never
// reverses the drop of another tier, and a low cosine proves nothing, since an embedding ignores
// numbers and brands.
type EmbeddingTier struct {
	guard    *Guard
	embedder *model.Embedder
	// threshold is the minimum cosine at which a text is dropped. It is computed for each model,
	// since cosines of different models are not comparable.
	threshold float64
	// entries are the indices of the bank's entries that have a text, vectors their embeddings.
	entries []int
	vectors [][]float32
	// Required makes Check fail if the endpoint fails.
	Required bool
	// down is the error with which the endpoint failed. From then on this tier drops nothing.
	down error
}

// NewEmbeddingTier returns a tier for g's bank. It embeds the bank and sets the
// threshold from pairs of its requests that share no product.
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
	t.threshold = t.unrelatedThreshold()
	return t, nil
}

// maxBackground is the maximum number of protected requests whose pairs are used to set the
// threshold: 2,000 requests have two million pairs.
const maxBackground = 2000

// unrelatedThreshold computes the threshold of the tier: the lowest cosine that at most the share
// maxFalsePairs of the pairs of unrelated requests in the bank reaches. It is 1 if there are no
// such pairs.
func (t *EmbeddingTier) unrelatedThreshold() float64 {
	var cosines []float64
	n := min(len(t.vectors), maxBackground)
	for i := range n {
		for j := range i {
			if !t.guard.areRelated(t.entries[i], t.entries[j]) {
				cosines = append(cosines, dot(t.vectors[i], t.vectors[j]))
			}
		}
	}
	slices.Sort(cosines)
	if len(cosines) == 0 {
		return 1
	}
	above := int(maxFalsePairs * float64(len(cosines)))
	return min(1, cosines[len(cosines)-1-above]+1e-6)
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

// embeddable returns the texts of a candidate to embed: its request and its context in plain
// letters, and each with a disguise, such as base64, undone. It omits texts longer than
// maxEmbeddedBytes.
func (t *EmbeddingTier) embeddable(c Candidate) []string {
	var out []string
	for _, text := range append([]string{c.Text}, c.Context...) {
		if text == "" || len(text) > maxEmbeddedBytes {
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

// judge sets f to a drop if the text has the meaning of a protected request: its cosine with the
// request reaches the threshold, and no number of the text contradicts the request. A text that the
// lexical tier cannot read is dropped for its nearest request at any cosine if their numbers agree.
// Across languages cosines are lower, but their order is the same.
func (t *EmbeddingTier) judge(text string, vector []float32, f *Finding) {
	best := -1
	bestCosine := t.threshold
	nearest := 0
	nearestCosine := -1.0
	for i, v := range t.vectors {
		cosine := dot(vector, v)
		if cosine >= bestCosine && !t.guard.index().lexical.Contradicts(t.entries[i], text) {
			best = i
			bestCosine = cosine
		}
		if cosine > nearestCosine {
			nearest = i
			nearestCosine = cosine
		}
	}

	evidence := fmt.Sprintf("cosine %.4f reaches %.4f; no number contradicts", bestCosine, t.threshold)
	if best < 0 && f.Unreadable && t.guard.index().lexical.SharesNumbers(t.entries[nearest], text) {
		best = nearest
		evidence = fmt.Sprintf("nearest of all by meaning, cosine %.4f; numbers agree", nearestCosine)
	}
	if best >= 0 {
		e := t.guard.bank[t.entries[best]]
		f.Match = e.ID
		f.Bank = e.Bank
		f.Drop = true
		f.Tier = TierEmbedding
		f.Evidence = evidence
	}
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
