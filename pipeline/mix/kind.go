package mix

import (
	"encoding/json"
	"fmt"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

type kind[T any] struct {
	config, profile string
	origin          func(*T) *rows.Origin
	// stamp writes into a row where it comes from and its number in its split; nil
	// where rows have no place for it.
	stamp func(row *T, digest string, number int64) error
}

// The kinds that a mixture has.
var (
	sft  = kind[rows.SFT]{"sft", corpus.ProfileHFJSON, func(r *rows.SFT) *rows.Origin { return &r.Origin }, stampSFT}
	rl   = kind[rows.RL]{"rl", corpus.ProfileVerlRL, func(r *rows.RL) *rows.Origin { return &r.Origin }, stampRL}
	pref = kind[rows.Pref]{"pref", corpus.ProfilePref, func(r *rows.Pref) *rows.Origin { return &r.Origin }, nil}
	kto  = kind[rows.KTO]{"kto", corpus.ProfileKTO, func(r *rows.KTO) *rows.Origin { return &r.Origin }, nil}
)

// stampSFT adds the source to the row's metadata, which exports carry along.
func stampSFT(r *rows.SFT, digest string, _ int64) error {
	meta := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(r.Metadata), &meta); err != nil {
		return fmt.Errorf("read metadata of %s: %w", r.SessionID, err)
	}
	meta["source_corpus"] = json.RawMessage(`"` + digest + `"`)
	b, err := json.Marshal(meta)
	r.Metadata = string(b)
	return err
}

func stampRL(r *rows.RL, _ string, number int64) error {
	r.Extra.Index = number
	return nil
}
