package export

import (
	"context"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// rowSink writes the rows that a conversion makes of each row of the corpus.
// Every batch becomes row groups of its own, so that several are made at once;
// they go into the file in the order of the batches.
type rowSink[T any] struct {
	job     *job
	shards  *corpus.Shards[T]
	convert func(*row) ([]T, error)
	// pending are the batches that are not yet in the file.
	pending []chan piece[T]
}

// piece is what became of one batch.
type piece[T any] struct {
	rows  *corpus.Group[T]
	count Count
	err   error
}

func (s *rowSink[T]) take(rows []row) error {
	if len(s.pending) == s.job.feed.ahead() {
		if err := s.commit(); err != nil {
			return err
		}
	}
	done := make(chan piece[T], 1)
	s.pending = append(s.pending, done)
	go func() { done <- s.encode(rows) }()
	return nil
}

func (s *rowSink[T]) encode(rows []row) piece[T] {
	p := piece[T]{rows: s.shards.Group(), count: s.job.newCount(s.job.count.Split)}
	p.err = p.count.each(rows, func(r *row) error {
		made, err := s.convert(r)
		if err != nil {
			return err
		}
		for i := range made {
			if err := p.rows.Add(&made[i]); err != nil {
				return err
			}
		}
		p.count.Rows += int64(len(made))
		return nil
	})
	if p.err == nil {
		p.err = p.rows.Close()
	}
	return p
}

// commit waits for the oldest batch and puts it into the file.
func (s *rowSink[T]) commit() error {
	p := <-s.pending[0]
	s.pending = s.pending[1:]
	if p.err != nil {
		return p.err
	}
	s.job.count.join(&p.count)
	return s.shards.Append(p.rows)
}

func (s *rowSink[T]) close(context.Context) error {
	for len(s.pending) > 0 {
		if err := s.commit(); err != nil {
			return err
		}
	}
	return s.shards.Close()
}

// openRows writes Parquet rows in the encoding that format names.
func openRows[T any](format string, convert func(*row) ([]T, error)) func(*job, string) (sink, error) {
	return func(j *job, split string) (sink, error) {
		stream := corpus.Stream{Config: j.profile.Name, Profile: format, Split: split, Folders: j.profile.folders}
		return &rowSink[T]{job: j, shards: corpus.NewShards[T](j.part, stream), convert: convert}, nil
	}
}

func sameSFT(r *row) ([]rows.SFT, error)   { return []rows.SFT{*r.sft}, nil }
func samePref(r *row) ([]rows.Pref, error) { return []rows.Pref{*r.pref}, nil }
func sameKTO(r *row) ([]rows.KTO, error)   { return []rows.KTO{*r.kto}, nil }
func sameRL(r *row) ([]rows.RL, error)     { return []rows.RL{*r.rl}, nil }

func columns(s *rows.SFT) rows.AttemptColumns {
	return rows.AttemptColumns{SessionID: s.SessionID, Harness: s.Harness, TaskType: s.TaskType, Split: s.Split,
		Reward: s.Reward, NTokens: s.NTokens, TokenCounter: s.TokenCounter}
}

func text(r *row) ([]rows.Text, error) {
	ms := chat.Text(chat.Unescape(r.messages), r.sft.Tools)
	return []rows.Text{{Messages: ms, AttemptColumns: columns(r.sft), Origin: r.sft.Origin}}, nil
}

func verlSFT(r *row) ([]rows.VerlSFT, error) {
	thinking := false
	for _, m := range r.messages {
		thinking = thinking || m.Reasoning != ""
	}
	ms := chat.Text(chat.Unescape(r.messages), r.sft.Tools)
	return []rows.VerlSFT{{Messages: ms, Thinking: thinking, AttemptColumns: columns(r.sft), Origin: r.sft.Origin}}, nil
}

func prompts(r *row) ([]rows.Prompts, error) {
	p := *r.rl
	ms := append([]rows.Msg(nil), p.Prompt...)
	if ms[0].Role != chat.System {
		ms = append([]rows.Msg{{Role: chat.System}}, ms...)
	}
	ms[0].Content = chat.SystemText(ms[0].Content, toolList(p.Tools))
	return []rows.Prompts{{Prompt: ms, Truth: p.RewardModel.Truth, Harness: p.Harness, TaskType: p.TaskType, Split: p.Split,
		Attempts: p.Attempts, Successes: p.Successes, PassRate: p.PassRate, Difficulty: p.Difficulty, Origin: p.Origin}}, nil
}

// turns makes a row of every assistant turn, as chat templates render a
// conversation that stops there: reasoning before it is gone. It ends at a turn
// of which nothing is left without its reasoning. What others said stays as it
// is written, a turn is encoded once for all rows that have it as context: they
// share its text.
func turns(r *row) ([]rows.SFT, error) {
	var out []rows.SFT
	context := make([]string, 0, len(r.messages))
	for i, m := range chat.Unescape(r.messages) {
		if m.Role != chat.Assistant {
			context = append(context, r.sft.Messages[i])
			continue
		}
		last, err := weighted(m, 1)
		if err != nil {
			return nil, err
		}
		made := *r.sft
		made.Messages = slices.Concat(context, []string{last})
		out = append(out, made)
		if m.Reasoning = ""; m.Content == "" && len(m.Calls) == 0 {
			return out, nil
		}
		text, err := weighted(m, 0)
		if err != nil {
			return nil, err
		}
		context = append(context, text)
	}
	return out, nil
}

// weighted encodes a message of the model with its weight.
func weighted(m chat.Message, weight int) (string, error) {
	m.Weight = &weight
	return chat.Marshal(m)
}

func jsonList(items []string) string { return "[" + strings.Join(items, ",") + "]" }
