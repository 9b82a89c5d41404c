package match

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/internal/jsonl"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// line is one JSON line of the file of prompts; the prompt is in the field text, prompt or query.
type line struct {
	Text   string `json:"text"`
	Prompt string `json:"prompt"`
	Query  string `json:"query"`
}

// drawn is a text of the prompt file with the hash by which it is ranked for sampling.
type drawn struct {
	text string
	rank [sha256.Size]byte
}

// draw samples n distinct texts from a file: those with the lowest hash of text and seed, in the
// order of the hashes. The order of the lines does not matter.
func draw(path, seed string, n int) ([]string, error) {
	var all []drawn
	seen := map[string]bool{}
	err := jsonl.Each(path, func(l line) error {
		text := cmp.Or(l.Text, l.Prompt, l.Query)
		if text == "" {
			return fmt.Errorf("a prompt is {text}, {prompt} or {query}")
		}
		if !seen[text] {
			seen[text] = true
			all = append(all, drawn{text, sha256.Sum256([]byte(seed + "\x00" + text))})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(all) < n {
		return nil, fmt.Errorf("%s has %d different prompts, draw is %d", path, len(all), n)
	}
	slicesx.SortFunc(all, func(a, b drawn) int {
		return slices.Compare(a.rank[:], b.rank[:])
	})
	texts := make([]string, n)
	for i := range texts {
		texts[i] = all[i].text
	}
	return texts, nil
}

// row is a prompt with the teacher's continuation, both as token ids.
type row struct {
	name              string
	text              string
	prompt, continued []int
}

// continueAll returns the teacher's continuation of each text. Texts with an empty continuation
// are left out; the second result is their number.
func (a *asker) continueAll(ctx context.Context, texts []string) ([]row, int, error) {
	rows := make([]row, len(texts))
	err := inorder.Each(ctx, a.config.Concurrency, len(texts), func(ctx context.Context, i int) error {
		got, err := a.ask(ctx, &a.config.Teacher, completion{
			Prompt:    texts[i],
			MaxTokens: a.config.MaxTokens,
			IDs:       true,
		})
		if err == nil {
			rows[i] = row{fmt.Sprintf("%.12x", sha256.Sum256([]byte(texts[i]))), texts[i], got.Prompt, got.IDs}
		}
		return err
	})
	kept := slices.DeleteFunc(rows, func(r row) bool {
		return len(r.continued) == 0
	})
	if err == nil && len(kept) == 0 {
		err = fmt.Errorf("the teacher continued none of %d prompts", len(texts))
	}
	return kept, len(texts) - len(kept), err
}

// score returns a model's probabilities of the likeliest next tokens at each position of the
// teacher's continuation of the prompt r.
func (a *asker) score(ctx context.Context, m *Model, r *row) (*answer, error) {
	return a.ask(ctx, m, completion{
		Prompt:    slices.Concat(r.prompt, r.continued),
		MaxTokens: 1,
		Top:       a.config.Top,
		IDs:       true,
		Start:     len(r.prompt),
	})
}

// scoreAll reads the probabilities of the next token from the server of each model, at all positions
// of each row (a prompt with the teacher's continuation), and records the answers in the journal.
func (a *asker) scoreAll(ctx context.Context, models []*Model, rows []row) error {
	return inorder.Each(ctx, a.config.Concurrency, len(models)*len(rows), func(ctx context.Context, i int) error {
		_, err := a.score(ctx, models[i/len(rows)], &rows[i%len(rows)])
		return err
	})
}
