package corpus

import (
	"slices"

	"github.com/trajectory-arena/arena/corpus/redact"
)

// Cleaned is a row that passed a redactor before it is added to a part, so that
// several rows do so at once. Nothing outside this package changes it.
type Cleaned[T any] struct {
	row    T
	by     *redact.Redactor
	counts redact.Counts
}

// CleanSFT gives a row whose every text has passed r; nil leaves texts as they
// are. Where that changes messages, their tokens are counted again by c, for
// row too, which otherwise stays as it is.
func CleanSFT(row *SFT, r *redact.Redactor, c Counter) (*Cleaned[SFT], error) {
	out := &Cleaned[SFT]{row: *row, by: r, counts: redact.Counts{}}
	if r == nil {
		return out, nil
	}
	made := &out.row
	made.Messages, made.Tools = slices.Clone(row.Messages), slices.Clone(row.Tools)
	CleanRow(made, func(text string) string { return r.Text(text, out.counts) })
	if slices.Equal(made.Messages, row.Messages) {
		return out, nil
	}
	n, err := recount(c, made.Messages, row.Tools)
	made.NTokens, row.NTokens = int64(n), int64(n)
	return out, err
}
