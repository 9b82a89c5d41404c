package where

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/s2"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// Line is all that the ledger holds of one attempt; parts that it lacks are nil.
type Line struct {
	Attempt *rows.Attempt
	// Verdict is without checks and features in a line that was read: Whole has them.
	Verdict   *rows.Verdict
	Outcome   *rows.Outcome
	Judgement *rows.Judgement
	Leak      *rows.Leak
	Place     *rows.Place
	// packed are its checks and features in a tenth of their memory, by the words of another.
	packed []byte
	words  *s2.Dict
}

var decoding, _ = cbor.DecOptions{UTF8: cbor.UTF8DecodeInvalid}.DecMode() // constants are right

// Whole is the verdict with its checks and features; nil where the line has none.
func (l *Line) Whole() *rows.Verdict {
	if l.words == nil {
		return l.Verdict
	}
	v := *l.Verdict
	lists := rows.Verdict{}
	b, _ := l.words.Decode(nil, l.packed) // what Read wrote
	_ = decoding.Unmarshal(b, &lists)     // likewise
	v.Checks, v.Features = lists.Checks, lists.Features
	return &v
}

// Read reads the ledger of a corpus, a line for each row of attempts in its order; checks
// and features of verdicts only where measured is set.
func Read(
	fsys corpus.FS,
	dir string,
	measured bool,
) (all []*Line, err error) {
	lines := map[string][]*Line{}
	texts := map[string]string{}
	table := func(name string) string {
		return filepath.Join(dir, "tables", name+".parquet")
	}
	err = corpus.ReadRows(fsys, table("attempts"), func(a *rows.Attempt) error {
		share(a, texts)
		all = append(all, &Line{Attempt: a})
		if a.TraceID != "" {
			lines[a.TraceID] = append(lines[a.TraceID], all[len(all)-1])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var packed, buffer []byte
	var words *s2.Dict // the first verdict
	return all, errors.Join(
		join(fsys, table("verdicts"), lines, texts, func(v *rows.Verdict) (id, record string) {
			if measured {
				b, _ := cbor.Marshal(rows.Verdict{
					Checks:   v.Checks,
					Features: v.Features,
				}) // it has nothing that CBOR lacks
				if words == nil {
					words = s2.MakeDict(b, nil)
				}
				buffer = words.Encode(buffer[:cap(buffer)], b)
				packed = slices.Clone(buffer)
			}
			v.Checks = nil
			v.Features = nil
			return v.TraceID, v.RecordSHA256
		}, func(l *Line) **rows.Verdict {
			if l.Verdict == nil {
				l.packed, l.words = packed, words
			}
			return &l.Verdict
		}),
		join(fsys, table("outcomes"), lines, texts, func(o *rows.Outcome) (id, record string) {
			return o.TraceID, o.RecordSHA256
		}, func(l *Line) **rows.Outcome {
			return &l.Outcome
		}),
		join(fsys, table("judgements"), lines, texts, func(j *rows.Judgement) (id, record string) {
			return j.TraceID, j.RecordSHA256
		}, func(l *Line) **rows.Judgement {
			return &l.Judgement
		}),
		optional(join(fsys, table("leaks"), lines, texts, func(x *rows.Leak) (id, record string) {
			return x.ID, ""
		}, func(l *Line) **rows.Leak {
			return &l.Leak
		})),
		optional(join(fsys, table("places"), lines, texts, func(p *rows.Place) (id, record string) {
			return p.TraceID, p.RecordSHA256
		}, func(l *Line) **rows.Place {
			return &l.Place
		})),
	)
}

// optional forgives that a table is not there, as in corpora that no build made.
func optional(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// join adds the rows of one table to the lines of their attempts; the first row of an
// attempt stays. A row without a record is of all copies.
func join[T any](
	fsys corpus.FS,
	path string,
	lines map[string][]*Line,
	texts map[string]string,
	of func(*T) (id, record string),
	part func(*Line) **T,
) error {
	return corpus.ReadRows(fsys, path, func(row *T) error {
		id, record := of(row)
		share(row, texts)
		for _, l := range lines[id] {
			if record == "" || record == l.Attempt.RecordSHA256 {
				at := part(l)
				*at = cmp.Or(*at, row)
			}
		}
		return nil
	})
}

// share lets a row hold texts of earlier rows in place of copies.
func share(row any, texts map[string]string) {
	v := reflect.ValueOf(row).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.String {
			if _, known := texts[f.String()]; !known {
				texts[f.String()] = f.String()
			}
			f.SetString(texts[f.String()])
		}
	}
}

// Values are the columns of a line. Those that an attempt does not have are
// unknown. A list of structures is one of maps by their columns.
func (l *Line) Values() map[string]any {
	whole := *l
	out := map[string]any{}
	whole.Verdict = l.Whole()
	for _, c := range columns() {
		if v := c.Of(&whole); v != nil {
			out[c.Name] = listed(v)
		}
	}
	return out
}

// listed turns a list of structures into one of maps, and nothing else.
func listed(value any) any {
	v := reflect.ValueOf(value)
	if v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.Struct {
		return value
	}
	list := make([]map[string]any, v.Len())
	for i := range list {
		list[i] = map[string]any{}
		for j := range v.Index(i).NumField() {
			list[i][columnOf(v.Type().Elem().Field(j))] = v.Index(i).Field(j).Interface()
		}
	}
	return list
}

// Selection are the attempts of a ledger that an expression selects.
type Selection struct {
	sessions map[string]bool
	problems map[string]bool
}

// Keep reports whether a session was selected, or, where there is none, whether
// any attempt at the problem was.
func (s *Selection) Keep(session, problem string) bool {
	if session == "" {
		return s.problems[problem]
	}
	return s.sessions[session]
}

// Len is the number of selected attempts.
func (s *Selection) Len() int { return len(s.sessions) }

// Sessions are the selected attempts, sorted.
func (s *Selection) Sessions() []string { return slices.Sorted(maps.Keys(s.sessions)) }

// Select evaluates an expression over the ledger of a corpus. Nothing is
// judged or scored again.
func Select(
	fsys corpus.FS,
	dir string,
	e *Expr,
) (*Selection, error) {
	lines, err := Read(fsys, dir, true)
	if err != nil {
		return nil, err
	}
	s := &Selection{map[string]bool{}, map[string]bool{}}
	seen := map[string]bool{"": true}
	for _, l := range lines {
		id := l.Attempt.TraceID
		if seen[id] {
			continue
		}
		seen[id] = true
		ok, err := e.Match(l.Values())
		if err != nil {
			return nil, err
		}
		if ok {
			s.sessions[id] = true
			s.problems[l.Attempt.ProblemID] = true
		}
	}
	return s, nil
}
