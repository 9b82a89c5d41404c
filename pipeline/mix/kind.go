package mix

import (
	"encoding/json"
	"fmt"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// kind is one config of a corpus.
type kind[T any] struct {
	config, profile string
	// learn takes a row apart.
	learn func(*T) (facts, error)
	// origin is where a row says which problem it belongs to.
	origin  func(*T) *rows.Origin
	figures func(*T) figures.Row
	// stamp writes into a row where it comes from and its number in its split.
	stamp func(row *T, digest string, number int64) error
}

// facts are what the choice hangs on.
type facts struct {
	// key is the same for copies of a row.
	key string
	// sessions are the attempts that it was made of; none for a problem.
	sessions []string
	// tokens weigh it. A problem weighs one.
	tokens int64
	// score orders rows with one request, higher is better.
	score     float64
	candidate guard.Candidate
}

// The kinds that a mixture has.
var (
	sft = kind[rows.SFT]{
		config: "sft", profile: corpus.ProfileHFJSON,
		learn: func(r *rows.SFT) (facts, error) {
			candidate, err := finish.CandidateOfSFT(r)
			return facts{key: r.SessionID, sessions: []string{r.SessionID}, tokens: r.NTokens, score: r.Reward, candidate: candidate}, err
		},
		origin:  func(r *rows.SFT) *rows.Origin { return &r.Origin },
		figures: figures.OfSFT,
		stamp:   stampSFT,
	}
	rl = kind[rows.RL]{
		config: "rl", profile: corpus.ProfileVerlRL,
		learn: func(r *rows.RL) (facts, error) {
			candidate := finish.CandidateOfRL(r)
			return facts{key: candidate.Text + "\n" + r.RewardModel.Truth, tokens: 1, candidate: candidate}, nil
		},
		origin:  func(r *rows.RL) *rows.Origin { return &r.Origin },
		figures: figures.OfRL,
		stamp: func(r *rows.RL, _ string, number int64) error {
			r.Extra.Index = number
			return nil
		},
	}
	pref = kind[rows.Pref]{
		config: "pref", profile: corpus.ProfilePref,
		learn: func(r *rows.Pref) (facts, error) {
			candidate := finish.CandidateOfPref(r)
			return facts{key: r.ChosenSession + "\n" + r.RejectedSession, sessions: []string{r.ChosenSession, r.RejectedSession},
				tokens: r.ChosenTokens + r.RejectedTokens, score: r.Margin, candidate: candidate}, nil
		},
		origin:  func(r *rows.Pref) *rows.Origin { return &r.Origin },
		figures: figures.OfPref,
		stamp:   func(*rows.Pref, string, int64) error { return nil },
	}
	kto = kind[rows.KTO]{
		config: "kto", profile: corpus.ProfileKTO,
		learn: func(r *rows.KTO) (facts, error) {
			candidate := finish.CandidateOfKTO(r)
			return facts{key: r.SessionID, sessions: []string{r.SessionID}, tokens: r.NTokens, score: r.Score, candidate: candidate}, nil
		},
		origin:  func(r *rows.KTO) *rows.Origin { return &r.Origin },
		figures: figures.OfKTO,
		stamp:   func(*rows.KTO, string, int64) error { return nil },
	}
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
