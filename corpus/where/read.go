package where

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// Line is all that the ledger holds of one attempt; parts that it lacks are
// nil.
type Line struct {
	Attempt   *rows.Attempt
	Verdict   *rows.Verdict
	Outcome   *rows.Outcome
	Judgement *rows.Judgement
	Leak      *rows.Leak
	Place     *rows.Place
}

// key tells attempts apart: copies of one share it.
type key struct{ id, record string }

// Read reads the ledger of a corpus, a line for each row of attempts in its order.
func Read(fsys corpus.FS, dir string) ([]*Line, error) {
	var all []*Line
	byKey, byID := map[key][]*Line{}, map[key][]*Line{}
	table := func(name string) string { return filepath.Join(dir, "tables", name+".parquet") }
	err := corpus.Rows(fsys, table("attempts"), func(a *rows.Attempt) error {
		l := &Line{Attempt: a}
		all = append(all, l)
		if a.TraceID != "" {
			both, id := key{a.TraceID, a.RecordSHA256}, key{id: a.TraceID}
			byKey[both], byID[id] = append(byKey[both], l), append(byID[id], l)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, errors.Join(
		join(fsys, table("verdicts"), byKey, func(v *rows.Verdict) key { return key{v.TraceID, v.RecordSHA256} }, func(l *Line) **rows.Verdict { return &l.Verdict }),
		join(fsys, table("outcomes"), byKey, func(o *rows.Outcome) key { return key{o.TraceID, o.RecordSHA256} }, func(l *Line) **rows.Outcome { return &l.Outcome }),
		join(fsys, table("judgements"), byKey, func(j *rows.Judgement) key { return key{j.TraceID, j.RecordSHA256} }, func(l *Line) **rows.Judgement { return &l.Judgement }),
		optional(join(fsys, table("leaks"), byID, func(x *rows.Leak) key { return key{id: x.ID} }, func(l *Line) **rows.Leak { return &l.Leak })),
		optional(join(fsys, table("places"), byKey, func(p *rows.Place) key { return key{p.TraceID, p.RecordSHA256} }, func(l *Line) **rows.Place { return &l.Place })),
	)
}

// optional forgives that a table is not there, as in corpora that no build made.
func optional(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// join adds the rows of one table to the lines of their attempts; the first
// row of an attempt stays.
func join[T any](fsys corpus.FS, path string, lines map[key][]*Line, of func(*T) key, part func(*Line) **T) error {
	return corpus.Rows(fsys, path, func(row *T) error {
		for _, l := range lines[of(row)] {
			if at := part(l); *at == nil {
				*at = row
			}
		}
		return nil
	})
}
