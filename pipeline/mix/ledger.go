package mix

import (
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// fates are what became of the attempts of config sft in the mixture: their
// split, or why they were left out.
type fates map[string]struct{ split, reason string }

func fatesOf(all []*portion) fates {
	out := fates{}
	for _, m := range all {
		if m.config != sft.config {
			continue
		}
		for _, e := range m.entries {
			if e.Reason == "" || out[e.session].split == "" {
				f := out[e.session]
				f.reason = e.Reason
				if e.Reason == "" {
					f.split = m.split
				}
				out[e.session] = f
			}
		}
	}
	return out
}

// ledger writes the tables of the mixture into a part: those of the sources,
// with what became of each attempt, and where each row comes from. What an
// earlier source has of an attempt stands for all.
func (w *mixer) ledger(dir string, all []*portion) error {
	part, err := w.Part(dir)
	if err != nil {
		return err
	}
	l := &ledger{mixer: w, part: part, fates: fatesOf(all)}
	return finish.Close(
		func() error {
			return table(l, finish.TableAttempts, func(a *rows.Attempt) string { return a.TraceID }, l.enter)
		},
		func() error {
			return table(l, finish.TableVerdicts, func(v *rows.Verdict) string { return v.TraceID }, same)
		},
		func() error {
			return table(l, finish.TableOutcomes, func(o *rows.Outcome) string { return o.TraceID }, same)
		},
		func() error {
			return table(l, finish.TableJudgements, func(j *rows.Judgement) string { return j.TraceID }, same)
		},
		func() error { return table(l, finish.TableLeaks, func(x *rows.Leak) string { return x.ID }, same) },
		func() error { return l.provenance(all) },
		part.Close,
	)
}

type ledger struct {
	*mixer
	part  *corpus.Part
	fates fates
}

func same[T any](*source, *T) {}

func table[T any](l *ledger, name string, id func(*T) string, change func(*source, *T)) error {
	out := finish.NewTable[T](l.part, name)
	earlier := map[string]int{}
	for i, s := range l.sources {
		err := finish.Table(s.Source, name, func(row *T) error {
			if from, known := earlier[id(row)]; known && from != i && id(row) != "" {
				return nil
			}
			earlier[id(row)] = i
			change(s, row)
			return out.Add(row)
		})
		if err != nil {
			return err
		}
	}
	return out.Close()
}

// stageMix is where the mixture leaves attempts out, stageRead the first of a
// build.
const (
	stageMix  = "mix"
	stageRead = "read"
)

func (l *ledger) enter(s *source, a *rows.Attempt) {
	a.Cluster, _ = l.of(s, a.Cluster, a.Split)
	f, known := l.fates[a.TraceID]
	if a.Stage == stageRead {
		return // a record that could not be read, or a copy of the attempt
	}
	switch {
	case known && f.split != "":
		a.Fate, a.Stage, a.Reason, a.Split = rows.FateKept, "", "", f.split
	case known:
		a.Fate, a.Stage, a.Reason, a.Split, a.Rank = rows.FateDropped, stageMix, f.reason, "", nil
	}
}

func (l *ledger) provenance(all []*portion) error {
	out := finish.NewTable[rows.Provenance](l.part, "provenance")
	for _, m := range all {
		for n, at := range m.order {
			err := out.Add(&rows.Provenance{Config: m.config, Split: m.split, Row: int64(n),
				SourceCorpus: l.sources[at.source].SHA256, SourcePath: at.path, SourceRow: at.row})
			if err != nil {
				return err
			}
		}
	}
	return out.Close()
}
