package where

import (
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

// Whole returns the verdict with its checks and features; nil if the line has none.
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

// Read reads the ledger of a corpus, a line for each row of attempts in its order; checks and
// features of verdicts only if measured is set.
func Read(fsys corpus.FS, dir string, measured bool) ([]*Line, error) {
	r := &reader{fsys: fsys, dir: dir, byID: map[string][]*Line{}, texts: map[string]string{}}
	if err := r.readAttempts(); err != nil {
		return nil, err
	}
	if err := r.readVerdicts(measured); err != nil {
		return nil, err
	}
	err := join(r, "outcomes",
		func(o *rows.Outcome) (id, record string) { return o.TraceID, o.RecordSHA256 },
		func(l *Line) **rows.Outcome { return &l.Outcome })
	if err != nil {
		return nil, err
	}
	err = join(r, "judgements",
		func(j *rows.Judgement) (id, record string) { return j.TraceID, j.RecordSHA256 },
		func(l *Line) **rows.Judgement { return &l.Judgement })
	if err != nil {
		return nil, err
	}
	err = join(r, "leaks",
		func(x *rows.Leak) (id, record string) { return x.ID, "" },
		func(l *Line) **rows.Leak { return &l.Leak })
	if err = optional(err); err != nil {
		return nil, err
	}
	err = join(r, "places",
		func(p *rows.Place) (id, record string) { return p.TraceID, p.RecordSHA256 },
		func(l *Line) **rows.Place { return &l.Place })
	return r.lines, optional(err)
}

// reader reads the tables of a ledger.
type reader struct {
	fsys  corpus.FS
	dir   string
	lines []*Line
	// byID has the lines of each attempt; copies of an attempt have one id.
	byID map[string][]*Line
	// texts holds the texts of earlier rows, which later rows share.
	texts map[string]string
}

func (r *reader) path(table string) string {
	return filepath.Join(r.dir, "tables", table+".parquet")
}

func (r *reader) readAttempts() error {
	return corpus.ReadRows(r.fsys, r.path("attempts"), func(a *rows.Attempt) error {
		share(a, r.texts)
		line := &Line{Attempt: a}
		r.lines = append(r.lines, line)
		if a.TraceID != "" {
			r.byID[a.TraceID] = append(r.byID[a.TraceID], line)
		}
		return nil
	})
}

// readVerdicts adds the verdicts. Their checks and features, if measured is set, are stored
// packed: all are compressed with the first verdict's as the dictionary.
func (r *reader) readVerdicts(measured bool) error {
	var packed, buffer []byte
	var dictionary *s2.Dict
	pack := func(v *rows.Verdict) {
		b, _ := cbor.Marshal(rows.Verdict{Checks: v.Checks, Features: v.Features}) // CBOR holds all of it
		if dictionary == nil {
			dictionary = s2.MakeDict(b, nil)
		}
		buffer = dictionary.Encode(buffer[:cap(buffer)], b)
		packed = slices.Clone(buffer)
	}

	return join(r, "verdicts",
		func(v *rows.Verdict) (id, record string) {
			if measured {
				pack(v)
			}
			v.Checks = nil
			v.Features = nil
			return v.TraceID, v.RecordSHA256
		},
		func(l *Line) **rows.Verdict {
			if l.Verdict == nil {
				l.packed = packed
				l.words = dictionary
			}
			return &l.Verdict
		})
}

// optional returns nil for the error of a missing table, as in corpora that no build made.
func optional(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// join adds the rows of a table to the lines of their attempts; the first row of an attempt
// counts. key returns the id and the record of a row; a row without a record is of all copies.
// field returns where a line stores the row.
func join[T any](
	r *reader,
	table string,
	key func(*T) (id, record string),
	field func(*Line) **T,
) error {
	return corpus.ReadRows(r.fsys, r.path(table), func(row *T) error {
		id, record := key(row)
		share(row, r.texts)
		for _, l := range r.byID[id] {
			if record != "" && record != l.Attempt.RecordSHA256 {
				continue
			}
			if stored := field(l); *stored == nil {
				*stored = row
			}
		}
		return nil
	})
}

// share replaces the texts of a row by equal texts of earlier rows.
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

// Values returns the columns of a line. Those that an attempt does not have are unknown. A
// list of structures is a list of maps by column.
func (l *Line) Values() map[string]any {
	total := *l
	out := map[string]any{}
	total.Verdict = l.Whole()
	for _, c := range columns() {
		if v := c.Of(&total); v != nil {
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

// Len returns the number of selected attempts.
func (s *Selection) Len() int { return len(s.sessions) }

// Sessions returns the ids of the selected attempts, sorted.
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
