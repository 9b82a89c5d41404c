package export

import (
	"context"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/calls"
)

// rowSink writes Parquet rows of type T, into which convert turns each row of the corpus. Batches
// are encoded in parallel, each as row groups of its own, and written in order.
type rowSink[T any] struct {
	job     *job
	shards  *corpus.Shards[T]
	convert func(*row) ([]T, error)
	// pending has a channel for each batch that is not yet written, the oldest first. The channel
	// receives the encoded batch.
	pending []chan encoded[T]
}

// encoded is a batch encoded as Parquet, or the error of its encoding.
type encoded[T any] struct {
	rows  *corpus.Group[T]
	count Count
	err   error
}

func (s *rowSink[T]) write(batch []row) error {
	if len(s.pending) == s.job.feed.maxPending() {
		if err := s.writeOldest(); err != nil {
			return err
		}
	}
	done := make(chan encoded[T], 1)
	s.pending = append(s.pending, done)
	go func() { done <- s.encode(batch) }()
	return nil
}

func (s *rowSink[T]) encode(batch []row) encoded[T] {
	e := encoded[T]{
		rows:  s.shards.Group(),
		count: s.job.newCount(s.job.count.Split),
	}
	e.err = e.count.addRows(batch, func(r *row) error {
		converted, err := s.convert(r)
		if err != nil {
			return err
		}
		for i := range converted {
			if err := e.rows.Add(&converted[i]); err != nil {
				return err
			}
		}
		e.count.Rows += int64(len(converted))
		return nil
	})
	if e.err == nil {
		e.err = e.rows.Close()
	}
	return e
}

// writeOldest waits until the oldest pending batch is encoded, and writes it.
func (s *rowSink[T]) writeOldest() error {
	e := <-s.pending[0]
	s.pending = s.pending[1:]
	if e.err != nil {
		return e.err
	}
	s.job.count.merge(&e.count)
	return s.shards.Append(e.rows)
}

func (s *rowSink[T]) close(context.Context) error {
	for len(s.pending) > 0 {
		if err := s.writeOldest(); err != nil {
			return err
		}
	}
	return s.shards.Close()
}

// openRows returns a function that opens writers of Parquet rows. convert turns a row of the corpus
// into any number of output rows. format is the name of the row format that the manifest records
// for the files.
func openRows[T any](format string, convert func(*row) ([]T, error)) openFunc {
	return func(j *job, split string) (sink, error) {
		stream := corpus.Stream{
			Config:  j.profile.Name,
			Profile: format,
			Split:   split,
			Folders: j.profile.splitFolders,
		}
		return &rowSink[T]{
			job:     j,
			shards:  corpus.NewShards[T](j.part, stream),
			convert: convert,
		}, nil
	}
}

func copySFT(r *row) ([]rows.SFT, error)   { return []rows.SFT{*r.sft}, nil }
func copyPref(r *row) ([]rows.Pref, error) { return []rows.Pref{*r.pref}, nil }
func copyKTO(r *row) ([]rows.KTO, error)   { return []rows.KTO{*r.kto}, nil }
func copyRL(r *row) ([]rows.RL, error)     { return []rows.RL{*r.rl}, nil }

func attemptColumns(s *rows.SFT) rows.AttemptColumns {
	return rows.AttemptColumns{
		SessionID:    s.SessionID,
		Harness:      s.Harness,
		TaskType:     s.TaskType,
		Split:        s.Split,
		Reward:       s.Reward,
		NTokens:      s.NTokens,
		TokenCounter: s.TokenCounter,
	}
}

// checkMask returns a *chat.Unfit if a turn of the model is masked (not to be trained on). It is
// for export formats in which a mask cannot be written.
func (r *row) checkMask() error {
	if chat.HasMask(r.messages) {
		return &chat.Unfit{Reason: reasonMaskLost}
	}
	return nil
}

const reasonMaskLost = "mask_lost" // the format has no place for a turn that is taken out of training

func convertText(r *row) ([]rows.Text, error) {
	if err := r.checkMask(); err != nil {
		return nil, err
	}
	ms := chat.Text(chat.Unescape(r.messages), r.sft.Tools)
	return []rows.Text{{
		Messages:       ms,
		AttemptColumns: attemptColumns(r.sft),
		Origin:         r.sft.Origin,
	}}, nil
}

func convertVerlSFT(r *row) ([]rows.VerlSFT, error) {
	if err := r.checkMask(); err != nil {
		return nil, err
	}
	hasReasoning := slices.ContainsFunc(r.messages, func(m chat.Message) bool {
		return m.Reasoning != ""
	})
	return []rows.VerlSFT{{
		Messages:       chat.Text(chat.Unescape(r.messages), r.sft.Tools),
		Thinking:       hasReasoning,
		AttemptColumns: attemptColumns(r.sft),
		Origin:         r.sft.Origin,
	}}, nil
}

// convertPrompts converts a problem to the row of profile prompts, whose system message contains
// the tools as text.
func convertPrompts(r *row) ([]rows.Prompts, error) {
	p := r.rl
	prompt := slices.Clone(p.Prompt)
	if prompt[0].Role != chat.System {
		prompt = slices.Insert(prompt, 0, rows.Msg{Role: chat.System})
	}
	prompt[0].Content = calls.AppendTools(prompt[0].Content, splitTools(p.Tools))
	return []rows.Prompts{{
		Prompt:     prompt,
		Truth:      p.RewardModel.Truth,
		Harness:    p.Harness,
		TaskType:   p.TaskType,
		Split:      p.Split,
		Attempts:   p.Attempts,
		Successes:  p.Successes,
		PassRate:   p.PassRate,
		Difficulty: p.Difficulty,
		Origin:     p.Origin,
	}}, nil
}

// splitTurns converts an attempt to a row for each assistant turn that is not masked. That turn
// is the row's last message and alone has weight 1. As in a chat template, earlier turns have
// no reasoning. An earlier turn of reasoning alone would be empty, so there are no rows after
// it. Rows share the texts of their common messages to save memory.
func splitTurns(r *row) ([]rows.SFT, error) {
	var out []rows.SFT
	history := make([]string, 0, len(r.messages))
	for i, m := range chat.Unescape(r.messages) {
		if m.Role != chat.Assistant {
			history = append(history, r.sft.Messages[i])
			continue
		}
		if !m.IsMasked() {
			last, err := encodeWeighted(m, 1)
			if err != nil {
				return nil, err
			}
			turn := *r.sft
			turn.Messages = slices.Concat(history, []string{last})
			out = append(out, turn)
		}
		m.Reasoning = ""
		if m.Content == "" && len(m.Calls) == 0 {
			return out, nil
		}
		text, err := encodeWeighted(m, 0)
		if err != nil {
			return nil, err
		}
		history = append(history, text)
	}
	return out, nil
}

// encodeWeighted returns an assistant message as JSON with its weight in the loss: 1 to train on
// it, 0 for context.
func encodeWeighted(m chat.Message, weight int) (string, error) {
	m.Weight = &weight
	return chat.Marshal(m)
}

// jsonList returns a JSON list of items that are already JSON.
func jsonList(items []string) string { return "[" + strings.Join(items, ",") + "]" }
