package where

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/s2"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Line is the set of ledger rows about one attempt, at most one from each table. The field of a
// table that has no row about the attempt is nil.
type Line struct {
	Attempt *rows.Attempt
	// Verdict has no Checks and Features if the line was read from a corpus. The method Whole
	// returns the verdict with them.
	Verdict   *rows.Verdict
	Outcome   *rows.Outcome
	Judgement *rows.Judgement
	Leak      *rows.Leak
	Place     *rows.Place
	Declared  *rows.Declared
	// packed are the verdict's checks and features, encoded and compressed with the dictionary
	// words to a tenth of their size.
	packed []byte
	words  *s2.Dict
}

var decoding, _ = cbor.DecOptions{UTF8: cbor.UTF8DecodeInvalid}.DecMode() // constants are right

// Whole returns the verdict with its checks and features. It returns nil if the line has no
// verdict.
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

// Read reads the ledger of a corpus. It returns one line for each row of the table attempts, in
// the order of that table. The checks and features of verdicts are read only if measured is
// true.
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
	return r.lines, r.joinOptional()
}

// joinOptional adds to the lines the rows of those ledger tables that not every corpus has, such as
// leaks.
func (r *reader) joinOptional() error {
	err := join(r, "leaks",
		func(x *rows.Leak) (id, record string) { return x.ID, "" },
		func(l *Line) **rows.Leak { return &l.Leak })
	if err = optional(err); err != nil {
		return err
	}
	err = join(r, "places",
		func(p *rows.Place) (id, record string) { return p.TraceID, p.RecordSHA256 },
		func(l *Line) **rows.Place { return &l.Place })
	if err = optional(err); err != nil {
		return err
	}
	err = join(r, "declared",
		func(d *rows.Declared) (id, record string) { return d.TraceID, d.RecordSHA256 },
		func(l *Line) **rows.Declared { return &l.Declared })
	return optional(err)
}

// reader reads the ledger of a corpus (the tables about all attempts) and collects the rows about
// one attempt in one line.
type reader struct {
	fsys  corpus.FS
	dir   string
	lines []*Line
	// byID maps the id of an attempt to its lines. Copies of an attempt in several files have
	// the same id.
	byID map[string][]*Line
	// texts has each text that was read. Equal texts of several rows share memory.
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

// readVerdicts reads the ledger's table of verdicts (the filter's decisions) and stores each in the
// line of its attempt. If measured is true, it also stores the verdict's checks and features. They
// are compressed, since they need much memory; the first verdict is the dictionary of the
// compression.
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

// optional returns err, or nil if err means that a file does not exist. Some tables exist only
// in corpora that a build wrote.
func optional(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// join reads a table of the ledger and stores each row in the lines of its attempt. key returns the
// attempt's id and the hash of its record; if the hash is "", the row belongs to all copies of the
// attempt. field returns the pointer in a line that is set to the row. If several rows are about
// one attempt, the first is stored.
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

// share replaces the texts of a row by equal texts of earlier rows, so that equal texts occupy
// memory only once. New texts are added to texts. row must be a pointer.
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

// Values returns the values of all columns of a line, by column name. Columns without a value
// are left out. A list of structs becomes a list of maps.
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

// listed converts a list of structs to a list of maps from column name to value, which filter
// expressions can read. Any other value is returned unchanged.
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

// Selection is the set of attempts that an expression selects.
type Selection struct {
	sessions map[string]bool
	problems map[string]bool
}

// Keep reports whether the attempt with the id session is selected. If session is "", it reports
// whether any attempt at the problem is selected.
func (s *Selection) Keep(session, problem string) bool {
	if session == "" {
		return s.problems[problem]
	}
	return s.sessions[session]
}

// Len returns the number of selected attempts.
func (s *Selection) Len() int { return len(s.sessions) }

// Sessions returns the ids of the selected attempts, sorted.
func (s *Selection) Sessions() []string { return slicesx.SortedKeys(s.sessions) }

// Select returns the attempts in the ledger of a corpus for which an expression is true. Of
// several attempts with the same id, only the first is evaluated. Nothing is judged or scored
// again.
func Select(
	ctx context.Context,
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
		if err := ctx.Err(); err != nil {
			return nil, err
		}
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
