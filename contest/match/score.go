package match

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/contest/evolai"
	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/internal/stats"
)

// score runs a round of subnet 47. It writes the students' revisions to a lock file, so that they
// cannot change after the prompts are known, samples the two sets of prompts, and measures and
// scores the models.
func (r *Result) score(ctx context.Context, dir string) error {
	c := &r.Config
	if err := c.lock(dir); err != nil {
		return err
	}
	current, err := draw(c.Prompts, c.Seed, c.Draw)
	if err != nil {
		return err
	}
	next, err := draw(c.Prompts, c.NextSeed, c.Draw)
	if err != nil {
		return err
	}
	history, err := readHistory(c.History)
	if err != nil {
		return err
	}
	a, err := newAsker(c, dir)
	if err != nil {
		return err
	}
	measured, err := r.measureMiners(ctx, a, current, next)
	r.Asked = a.asked.Load()
	if err == nil {
		r.Scores = evolai.Score(measured, history)
	}
	return errors.Join(err, a.close())
}

// lock writes the revisions of all students, by uid, to a lock file in dir before the prompts of
// the round are sampled, so that no student can be trained on them. If the file exists, lock
// returns an error unless the file has the same revisions.
func (c *Config) lock(dir string) error {
	revisions := map[int]string{}
	for i := range c.Students {
		revisions[c.Students[i].UID] = c.Students[i].Revision
	}
	path := filepath.Join(dir, LockFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		text, err = json.Marshal(revisions)
		if err == nil {
			err = atomicfile.WriteFile(path, text)
		}
		return err
	}
	locked := map[int]string{}
	if err == nil {
		err = json.Unmarshal(text, &locked)
	}
	if err == nil && !maps.Equal(locked, revisions) {
		err = fmt.Errorf("%s: the round has locked other revisions: start another round in a new folder", path)
	}
	return err
}

func readHistory(paths []string) ([][]evolai.Scored, error) {
	var history [][]evolai.Scored
	for _, path := range paths {
		r, err := readResult(path)
		if err != nil {
			return nil, err
		}
		history = append(history, r.Scores)
	}
	return history, nil
}

// measureMiners computes the KL of each miner's model on the continuations of two sets of prompts,
// current and next. It also sets r.Students, the measurements on the current set.
func (r *Result) measureMiners(ctx context.Context, a *asker, current, next []string) ([]evolai.Measured, error) {
	c := a.config
	rows, empty, err := a.continueAll(ctx, current)
	if err != nil {
		return nil, err
	}
	r.Empty = empty
	r.Prompts = len(rows)
	nextRows, _, err := a.continueAll(ctx, next)
	if err != nil {
		return nil, err
	}
	if r.Students, err = a.measureAll(ctx, c.students(), rows); err != nil {
		return nil, err
	}
	onNext, err := a.measureAll(ctx, c.students(), nextRows)
	if err != nil {
		return nil, err
	}
	measured := make([]evolai.Measured, len(c.Students))
	for i := range c.Students {
		s := &c.Students[i]
		m := &measured[i]
		m.Miner = s.Miner
		m.KLCurrent = float64(r.Students[i].KL.Value)
		m.KLNext = float64(onNext[i].KL.Value)
		if err = a.measurePrevious(ctx, s, rows, m); err != nil {
			return nil, err
		}
		if m.Thinking, m.Base, err = a.thinking(ctx, s, rows); err != nil {
			return nil, err
		}
		if m.Solved, err = a.solve(ctx, s); err != nil {
			return nil, err
		}
	}
	return measured, nil
}

// measurePrevious computes on rows the KL of the student's revision of the previous round, and
// stores it in m. It does nothing if the student has no such revision.
func (a *asker) measurePrevious(ctx context.Context, s *Model, rows []row, m *evolai.Measured) error {
	if s.Previous == nil {
		return nil
	}
	before, err := a.measureAll(ctx, []*Model{s.Previous}, rows)
	if err != nil {
		return err
	}
	m.PreviousKL = new(float64(before[0].KL.Value))
	m.PreviousRevision = s.Previous.Revision
	return nil
}

// The texts before and after a model's thinking, as in Qwen3's chat template.
const (
	thinkOpen  = "<think>\n"
	thinkClose = "\n</think>\n\n"
)

// thinking computes how much a model's own thinking helps it to predict the reference's
// continuations of prompts. Both results are mean log-probabilities of the tokens of the
// continuations: with after the model's thinking about the prompt, without after an empty thinking.
func (a *asker) thinking(ctx context.Context, m *Model, rows []row) (with, without float64, err error) {
	thought := make([]float64, len(rows))
	empty := make([]float64, len(rows))
	err = inorder.Each(ctx, a.config.Concurrency, len(rows), func(ctx context.Context, i int) error {
		got, rowErr := a.ask(ctx, m, completion{
			Prompt:    rows[i].text + thinkOpen,
			MaxTokens: a.config.ThinkTokens,
			Stop:      []string{"</think>"},
			IDs:       true,
		})
		if rowErr != nil {
			return rowErr
		}
		if thought[i], rowErr = a.likelihood(ctx, m, &rows[i], thinkOpen+got.Text+thinkClose); rowErr != nil {
			return rowErr
		}
		empty[i], rowErr = a.likelihood(ctx, m, &rows[i], thinkOpen+thinkClose)
		return rowErr
	})
	return stats.Mean(thought), stats.Mean(empty), err
}

// likelihood returns the mean log-probability that a model gives to the tokens of the reference's
// continuation of a prompt. between is a text that is inserted between the prompt and the
// continuation, such as a thinking.
func (a *asker) likelihood(ctx context.Context, m *Model, r *row, between string) (float64, error) {
	prefix, err := a.ask(ctx, m, completion{
		Prompt:    r.text + between,
		MaxTokens: 1,
		IDs:       true,
	})
	if err != nil {
		return 0, err
	}
	got, err := a.ask(ctx, m, completion{
		Prompt:    slices.Concat(prefix.Prompt, r.continued),
		MaxTokens: 1,
		Top:       1,
		IDs:       true,
		Start:     len(prefix.Prompt),
	})
	if err != nil {
		return 0, err
	}
	return stats.Mean(got.Own), nil
}

// The side quests of a round: the number of samples, the number of quests in a sample, and the
// maximum number of tokens of an answer.
const (
	questSamples = 10
	questsEach   = 2
	questTokens  = 64
)

// solve returns the share of the round's side quests (short calculations) that a model solves. All
// models get the same quests.
func (a *asker) solve(ctx context.Context, m *Model) (float64, error) {
	var quests []evolai.Quest
	for sample := range questSamples {
		quests = append(quests, evolai.Quests(a.config.BlockHash, sample, questsEach)...)
	}
	solved := make([]float64, len(quests))
	err := inorder.Each(ctx, a.config.Concurrency, len(quests), func(ctx context.Context, i int) error {
		got, err := a.ask(ctx, m, completion{
			Prompt:    "What is " + quests[i].Expression + "? Answer with the whole number only.\nAnswer:",
			MaxTokens: questTokens,
			IDs:       true,
		})
		if err == nil && evolai.Answered(got.Text, quests[i]) {
			solved[i] = 1
		}
		return err
	})
	return stats.Mean(solved), err
}
