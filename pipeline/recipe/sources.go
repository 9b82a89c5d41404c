package recipe

import (
	"context"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/filters/checks"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

func (w *work) open() error {
	if w.input.Rollouts != "" {
		name := sourceRollouts
		if w.recipe.Name == Rewrite {
			name = sourceRewritten
		}
		if err := w.addSource(name, w.input.Rollouts); err != nil {
			return err
		}
	}
	if w.input.Rollouts == "" || w.recipe.CorpusShare > 0 {
		if err := w.addSource(sourceCorpus, w.input.Corpus); err != nil {
			return err
		}
	}
	sources := slicesx.Map(w.sources, func(s *source) *finish.Source {
		return s.Source
	})
	var err error
	if w.protection, err = newProtection(sources, w.input.HeldOut); err != nil {
		return err
	}
	if !w.recipe.Teacher {
		return nil
	}
	return w.readTeachers()
}

func (w *work) addSource(name, dir string) error {
	opened, err := finish.Open(w.FS, dir)
	if err != nil {
		return err
	}
	s := &source{
		Source: opened,
		count:  Count{Source: name, Dropped: map[string]int64{}},
	}
	w.sources = append(w.sources, s)
	if name == sourceRollouts && w.recipe.comparesOutcomes() {
		err = s.readMistakes()
	}
	return err
}

func (s *source) readMistakes() error {
	s.mistakes = map[string]string{}
	s.count.Mistakes = map[string]int64{}
	return finish.Table(s.Source, finish.TableVerdicts, func(row *rows.Verdict) error {
		if i := slices.IndexFunc(row.Reasons, checks.Mistake); i >= 0 {
			s.mistakes[row.TraceID] = row.Reasons[i]
		}
		return nil
	})
}

// source returns the source of this name, such as sourceRollouts. If there is none, it returns a
// source without rows.
func (w *work) source(name string) *source {
	for _, s := range w.sources {
		if s.count.Source == name {
			return s
		}
	}
	return &source{count: Count{
		Source:  name,
		Dropped: map[string]int64{},
	}}
}

func (w *work) readTeachers() error {
	s, err := finish.Open(w.FS, w.input.Teacher)
	if err != nil {
		return err
	}
	w.teachers = map[string][][][]arena.Call{}
	return finish.Rows(s, corpus.ProfileHFJSON, corpus.SplitTrain, func(row *rows.SFT) error {
		if row.Reward < 1 {
			return nil
		}
		calls, err := modelCalls(row)
		w.teachers[row.ProblemID] = append(w.teachers[row.ProblemID], calls)
		return err
	})
}

// modelCalls returns the tool calls of each turn of the model in a row. A turn without calls has an
// empty list.
func modelCalls(row *rows.SFT) ([][]arena.Call, error) {
	messages, err := chat.Decode(row.Messages)
	if err != nil {
		return nil, err
	}
	return slicesx.FilterMap(rows.MessageTurns(messages), func(t arena.Turn) ([]arena.Call, bool) {
		return t.Calls, t.User == ""
	}), nil
}

// writeChosen reads the rows of all sources twice: first to decide which rows are taken, then to
// call write for each copy of a taken row (some are written several times).
func writeChosen[T any](
	ctx context.Context,
	w *work,
	profile string,
	write func(*T) error,
) error {
	for _, s := range w.sources {
		if err := pickRows[T](ctx, w, s, profile); err != nil {
			return err
		}
	}
	w.decide()
	for _, s := range w.sources {
		n := 0
		err := finish.Rows(s.Source, profile, corpus.SplitTrain, func(row *T) error {
			for range s.picks[n].times {
				if err := write(row); err != nil {
					return err
				}
			}
			n++
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func pickRows[T any](
	ctx context.Context,
	w *work,
	s *source,
	profile string,
) error {
	return finish.Rows(s.Source, profile, corpus.SplitTrain, func(row *T) error {
		v, err := newView(row)
		if err != nil {
			return fmt.Errorf("read row %s: %w", v.Candidate.ID, err)
		}
		p := pick{
			Row: choose.Row{
				Key:     choose.Key(v.Candidate.ID),
				Request: v.ProblemID,
				Reason:  w.rejectReason(s, &v),
			},
			task:    v.Figures.Task,
			failure: v.failure,
			wanted:  v.wanted > 0,
		}
		if w.recipe.CorpusShare > 0 && p.Reason == "" {
			p.Completion = v.Completion()
		}
		s.picks = append(s.picks, p)
		return ctx.Err()
	})
}
