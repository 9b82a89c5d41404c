package mix

import (
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// decisions returns the decision on each attempt of config sft, by trace ID. If several rows are of
// one attempt, the attempt is kept if one of them is.
func decisions(portions []*portion) map[string]choose.Decision {
	out := map[string]choose.Decision{}
	for _, p := range portions {
		if p.config != sft.config {
			continue
		}
		for _, e := range p.entries {
			d := out[e.session]
			switch {
			case e.Reason == "":
				d = choose.Decision{Split: p.split}
			case d.Split == "":
				d = choose.Decision{Stage: stageMix, Reason: e.Reason}
			default:
				continue
			}
			out[e.session] = d
		}
	}
	return out
}

// ledger writes the tables of the mixture that list every record of the sources, kept or not, with
// the decision on it.
type ledger struct {
	mixer     *mixer
	part      *corpus.Part
	decisions map[string]choose.Decision
}

// writeLedger writes the tables of the mixture to dir: those of the sources, with the mixture's
// decision on each attempt, and a table that names the source of each row. If several sources have
// the same attempt, only the table rows from the first of them are written.
func (w *mixer) writeLedger(dir string, portions []*portion) error {
	part, err := w.NewPart(dir)
	if err != nil {
		return err
	}
	l := &ledger{mixer: w, part: part, decisions: decisions(portions)}
	return finish.FirstError(
		func() error { return copyTable(l, finish.TableAttempts, l.updateAttempt) },
		func() error {
			return copyTable[rows.Verdict](l, finish.TableVerdicts, nil)
		},
		func() error {
			return copyTable[rows.Outcome](l, finish.TableOutcomes, nil)
		},
		func() error {
			return copyTable[rows.Judgement](l, finish.TableJudgements, nil)
		},
		func() error {
			return copyTable[rows.Leak](l, finish.TableLeaks, nil)
		},
		func() error { return copyOptional[rows.Place](l, finish.TablePlaces) },
		func() error { return copyOptional[rows.Declared](l, finish.TableDeclared) },
		func() error { return l.writeProvenance(portions) },
		part.Close,
	)
}

// copyTable copies the rows of a table from all sources, except rows about an attempt that an
// earlier source has. It calls update, unless that is nil, for each row before it is written.
func copyTable[T any](
	l *ledger,
	name string,
	update func(*source, *T),
) error {
	out := finish.NewTable[T](l.part, name)
	firstSource := map[string]int{}
	for i, s := range l.mixer.sources {
		err := finish.Table(s.Source, name, func(row *T) error {
			id := rows.ID(row)
			if first, ok := firstSource[id]; ok && first != i && id != "" {
				return nil
			}
			firstSource[id] = i
			if update != nil {
				update(s, row)
			}
			return out.Add(row)
		})
		if err != nil {
			return err
		}
	}
	return out.Close()
}

// copyOptional copies a table as copyTable does if a source has it. Without it, nothing is written.
func copyOptional[T any](l *ledger, name string) error {
	for _, s := range l.mixer.sources {
		if s.HasTable(name) {
			return copyTable[T](l, name, nil)
		}
	}
	return nil
}

const (
	stageMix  = "mix"  // the stage of attempts that the mixture leaves out
	stageRead = "read" // the first stage of a build
)

// updateAttempt sets, in the row of an attempt, the cluster (group of similar problems) in the
// mixture and the mixture's decision. Attempts that never had a row in config sft, unreadable
// records and copies keep the decision from the build of their source.
func (l *ledger) updateAttempt(s *source, a *rows.Attempt) {
	a.Cluster, _ = l.mixer.clusterPool(s, a.Cluster, a.Split)
	d, ok := l.decisions[a.TraceID]
	if !ok || a.Stage == stageRead { // an unreadable record or a copy of the attempt
		return
	}
	d.Record(a)
	if !d.IsKept() {
		a.Rank = nil
	}
}

// writeProvenance writes the table provenance, which names for each row of the mixture the source
// corpus that the row is from.
func (l *ledger) writeProvenance(portions []*portion) error {
	out := finish.NewTable[rows.Provenance](l.part, "provenance")
	for _, p := range portions {
		for n, place := range p.order {
			err := out.Add(&rows.Provenance{
				Config:       p.config,
				Split:        p.split,
				Row:          int64(n),
				SourceCorpus: l.mixer.sources[place.source].SHA256,
				SourcePath:   place.path,
				SourceRow:    place.row,
			})
			if err != nil {
				return err
			}
		}
	}
	return out.Close()
}
