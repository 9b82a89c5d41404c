package recipe

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/export"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/shop/steps"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Input is the input of a recipe: folders of corpora.
type Input struct {
	// Corpus has the training problems and pins the split.
	Corpus string
	// Rollouts and Teacher were built from rollouts at those problems with the bank of the
	// corpus. They are empty if the recipe needs none.
	Rollouts string
	Teacher  string
	// HeldOut are files of problems that are protected in addition to those of the banks.
	HeldOut []string
	// About and Reports describe how the rollouts were played, if known.
	About   string
	Reports map[string]any
}

// Report is the report on the data of a recipe, with the guard's proof that nothing
// protected is in it.
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
	input      Input
	dir        string
	sources    []*source
	teachers   map[string][][][]arena.Call
	protection *protection
	report     Report
}

// Write writes the data of a recipe: the train split in every profile that its rows can be
// exported to. scratch is a folder for temporary files.
func (r Recipe) Write(
	ctx context.Context,
	target finish.Target,
	in Input,
	scratch string,
) (*Report, error) {
	w := &work{
		Target: target,
		recipe: r,
		input:  in,
		dir:    scratch,
		report: Report{Recipe: r.Name},
	}
	if err := corpus.CheckReplaceable(target.FS, target.Out); err != nil {
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
	part, err := w.NewPart(dir)
	if err != nil {
		return err
	}
	switch w.recipe.Profile {
	case corpus.ProfileKTO:
		err = writeSame[rows.KTO](ctx, w, part)
	case corpus.ProfilePref:
		err = writeSame[rows.Pref](ctx, w, part)
	case corpus.ProfileStepwise:
		err = w.writeLabelled(ctx, part)
	default:
		err = writeSame[rows.SFT](ctx, w, part)
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
	return corpus.Stream{
		Config:  w.recipe.Profile,
		Profile: w.recipe.Profile,
		Split:   corpus.SplitTrain,
	}
}

// writeSame writes the rows that the recipe takes to part, unchanged.
func writeSame[T any](
	ctx context.Context,
	w *work,
	part *corpus.Part,
) error {
	out := corpus.NewShards[T](part, w.stream())
	return finish.FirstError(func() error {
		return writeChosen(ctx, w, w.recipe.Profile, out.Add)
	}, out.Close)
}

// writeLabelled writes the student's rollouts that the recipe takes to part, with a label for each
// step: whether a teacher took the same step at the problem.
func (w *work) writeLabelled(ctx context.Context, part *corpus.Part) error {
	out := corpus.NewShards[rows.Steps](part, w.stream())
	label := func(row *rows.SFT) error {
		messages, err := chat.Decode(row.Messages)
		if err != nil {
			return err
		}
		calls, err := modelCalls(row)
		if err != nil {
			return err
		}
		labels := steps.MatchTeachers(calls, w.teachers[row.ProblemID])
		labelled, err := rows.NewSteps(row, messages, labels, &rows.Facts{
			Split:  corpus.SplitTrain,
			Origin: row.Origin,
		})
		if err != nil {
			return err
		}
		labelled.Rule = steps.TeacherName
		return out.Add(&labelled)
	}
	return finish.FirstError(func() error {
		return writeChosen(ctx, w, corpus.ProfileHFJSON, label)
	}, out.Close)
}

// export writes the chosen rows, which are in the folder rows, in every row format (profile) to
// which they can be converted, each into a folder, and returns the folders. Rows with step rewards
// have no other format; for them it returns the folder rows.
func (w *work) export(ctx context.Context, rows string) ([]string, error) {
	if w.recipe.Profile == corpus.ProfileStepwise {
		return []string{rows}, nil
	}
	m, err := w.rowsManifest(rows)
	if err != nil {
		return nil, err
	}
	profiles := slices.DeleteFunc(export.All(), func(p export.Profile) bool {
		return p.Source != w.recipe.Profile
	})
	const sessions = 100 // as in arena export
	counts, parts, err := export.Parts(
		ctx,
		w.FS,
		rows,
		filepath.Join(w.dir, "exports"),
		m,
		profiles,
		&export.Options{Sessions: sessions},
		len(profiles),
	)
	if err != nil {
		return nil, err
	}
	w.report.Exports = slicesx.FilterMap(counts, func(c export.Count) (export.Count, bool) {
		return c, c.Split == corpus.SplitTrain
	})
	return parts, nil
}

func (w *work) rowsManifest(rows string) (*corpus.Manifest, error) {
	files, err := corpus.ReadPart(w.FS, rows)
	if err != nil {
		return nil, err
	}
	return &corpus.Manifest{Pipeline: w.Version, Files: slicesx.Map(files, func(f corpus.PartFile) corpus.FileEntry {
		return corpus.FileEntry{
			Config:  f.Config,
			Profile: f.Profile,
			Split:   f.Split,
			Path:    f.Path,
			Rows:    &f.Rows,
			Bytes:   f.Bytes,
			SHA256:  f.SHA256,
		}
	})}, nil
}

func (w *work) assemble(ctx context.Context, parts []string) error {
	r := w.recipe
	config := asjson.Bytes(map[string]any{"recipe": r.Name, "sampling": r.Sampling, "min_reward": r.MinReward, "corpus_share": r.CorpusShare, "voucher_times": r.VoucherTimes})
	reports := map[string]any{"recipe.json": w.report}
	maps.Copy(reports, w.input.Reports)
	funnel, err := w.funnel()
	if err != nil {
		return err
	}
	m := corpus.Manifest{
		Configuration:       config,
		ConfigurationSHA256: digest.SHA256(config),
		Domains:             corpus.JoinDomains(w.manifests()...),
		Funnel:              funnel,
	}
	m.Inputs = slicesx.Map(w.sources, func(s *source) corpus.Input {
		return s.Input(s.count.Source + " manifest")
	})
	card := corpus.NewCard(corpus.CardDomain(m.Domains))
	card.Title = strings.Replace(card.Title, "agent trajectories", "agents", 1) + ": data of stage " + w.recipe.Name
	card.Default = w.recipe.Profile
	card.Uses = export.Uses()
	card.Sections = []corpus.Section{
		{Heading: "What this is", Body: w.about()},
		{Heading: "Held-out protection", Body: w.report.Proof.text()},
	}
	return w.Assemble(ctx, &finish.Content{
		Assembly:       corpus.Assembly{Parts: parts, Manifest: m, Card: card},
		Bank:           w.protection.bank,
		HeldOutDigests: w.protection.heldOutDigests,
		Reports:        reports,
	})
}

func (w *work) manifests() []*corpus.Manifest {
	return slicesx.Map(w.sources, func(s *source) *corpus.Manifest {
		return s.Manifest
	})
}

func (w *work) about() string {
	r := w.recipe
	text := fmt.Sprintf("Stage %s: %s. There is only a train split.\n\n", r.Name, r.Doc) +
		corpus.Table("source | rows read: | dropped | taken: | rows:", w.report.Counts, func(c Count) string {
			return fmt.Sprintf(
				"%s | %d | %s | %d | %d",
				c.Source,
				c.In,
				corpus.FormatCounts(c.Dropped),
				c.Taken,
				c.Rows,
			)
		})
	if r.VoucherTimes > 1 {
		text += fmt.Sprintf("\nRows of voucher tasks stand here %d times.\n", r.VoucherTimes)
	}
	if w.input.About != "" {
		text += "\n" + w.input.About + "\n"
	}
	if len(w.report.Exports) == 0 {
		return text
	}
	return text + "\nRows that a profile cannot take are left out of it alone.\n\n" +
		corpus.Table("profile | taken: | rows: | dropped", w.report.Exports, func(c export.Count) string {
			return fmt.Sprintf(
				"%s | %d | %d | %s",
				c.Profile,
				c.Out,
				c.Rows,
				corpus.FormatCounts(c.Dropped),
			)
		})
}

func (p *Proof) text() string {
	return fmt.Sprintf(`Rollouts were played at training problems only, and the split is pinned in bank.json (sha256 %s): %d clusters
in train, %d in eval, %d never touched. %d rows belong to clusters outside train and were left out. %d rows were compared
with %d protected problems (%d from held-out files), and %d were dropped. The planted canaries were %s.
`, p.BankSHA256, p.Clusters[guard.PoolTrain], p.Clusters[guard.PoolEval], p.Clusters[guard.PoolNeverTouch],
		len(p.Outside), p.Guard.Rows, p.Guard.Protected(), p.HeldOut, len(p.Guard.Dropped), p.Canary) + "\n" +
		corpus.Table("planted as | planted: | found: | recall:", p.Guard.Injection.Kinds, func(k guard.InjectionRecall) string {
			return fmt.Sprintf("%s | %d | %d | %.3f", k.Kind, k.Planted, k.Found, k.Recall)
		})
}
