package recipe

import (
	"context"
	"path/filepath"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/export"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/judges/steps"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Input is what the data of a recipe is made from: folders of corpora.
type Input struct {
	// Corpus names the training problems and pins the split.
	Corpus string
	// Rollouts and Teacher were built of rollouts at those problems with the
	// corpus's bank; empty where the recipe takes none.
	Rollouts string
	Teacher  string
	// HeldOut are files of problems that are protected beside the banks' own.
	HeldOut []string
	// About and Reports say how the rollouts came to be, where that is known.
	About   string
	Reports map[string]any
}

// Report says what the data of a recipe was made of, with the guard's proof
// that nothing protected is in it.
type Report struct {
	Recipe string  `json:"recipe"`
	Counts []Count `json:"sources"`
	Proof  Proof   `json:"guard"`
	// Exports are the rows in each profile.
	Exports []export.Count `json:"exports"`
}

type work struct {
	finish.Target
	recipe     Recipe
	in         Input
	dir        string
	sources    []*source
	teachers   map[string][][][]arena.Call
	protection *protection
	report     Report
}

// Write writes the data of a recipe: the train split alone, in every profile that
// its rows go into. scratch is a folder for what is only needed on the way.
func (r Recipe) Write(ctx context.Context, to finish.Target, in Input, scratch string) (*Report, error) {
	w := &work{Target: to, recipe: r, in: in, dir: scratch, report: Report{Recipe: r.Name}}
	if err := corpus.Replaceable(to.FS, to.Out); err != nil {
		return nil, err
	}
	if err := w.open(); err != nil {
		return nil, err
	}
	rows := filepath.Join(scratch, "rows")
	if err := w.choose(ctx, rows); err != nil {
		return &w.report, err
	}
	parts, err := w.export(ctx, rows)
	if err != nil {
		return nil, err
	}
	return &w.report, w.assemble(ctx, parts)
}

func (w *work) choose(ctx context.Context, dir string) error {
	part, err := w.Part(dir)
	if err != nil {
		return err
	}
	switch w.recipe.Profile {
	case corpus.ProfileKTO:
		err = same[rows.KTO](ctx, w, part)
	case corpus.ProfilePref:
		err = same[rows.Pref](ctx, w, part)
	case corpus.ProfileStepwise:
		err = w.labelled(ctx, part)
	default:
		err = same[rows.SFT](ctx, w, part)
	}
	if err != nil {
		return err
	}
	rows := int64(0)
	for _, s := range w.sources {
		w.report.Counts = append(w.report.Counts, s.count)
		rows += s.count.Rows
	}
	w.report.Proof = w.protection.proof
	if rows == 0 {
		return choose.ErrEmpty
	}
	return part.Close()
}

func (w *work) stream() corpus.Stream {
	return corpus.Stream{Config: w.recipe.Profile, Profile: w.recipe.Profile, Split: corpus.SplitTrain}
}

func same[T any](ctx context.Context, w *work, part *corpus.Part) error {
	out := corpus.NewShards[T](part, w.stream())
	if err := take(ctx, w, w.recipe.Profile, out.Add); err != nil {
		return err
	}
	return out.Close()
}

func (w *work) labelled(ctx context.Context, part *corpus.Part) error {
	out := corpus.NewShards[rows.Steps](part, w.stream())
	err := take(ctx, w, corpus.ProfileHFJSON, func(row *rows.SFT) error {
		ms, err := chat.Decode(row.Messages)
		if err != nil {
			return err
		}
		calls, err := callsOf(row)
		if err != nil {
			return err
		}
		labels := steps.Matched(calls, w.teachers[row.ProblemID])
		made, err := rows.NewSteps(row, ms, labels, &rows.Facts{Split: corpus.SplitTrain, Origin: row.Origin})
		if err != nil {
			return err
		}
		made.Rule = steps.TeacherName
		return out.Add(&made)
	})
	if err != nil {
		return err
	}
	return out.Close()
}
