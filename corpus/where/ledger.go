package where

import (
	"errors"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"

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
}

// each visits the columns of a line by their names in the ledger, those of a
// judgement behind judge_: of two with one name the first counts.
func (l Line) each(see func(name string, v reflect.Value)) {
	for _, row := range []any{l.Attempt, l.Verdict, l.Outcome, l.Judgement} {
		v := reflect.ValueOf(row)
		if v.IsNil() {
			continue
		}
		for i := range v.Elem().NumField() {
			name, _, _ := strings.Cut(v.Elem().Type().Field(i).Tag.Get("parquet"), ",")
			if row == any(l.Judgement) && name != "judge" {
				name = "judge_" + name
			}
			see(name, v.Elem().Field(i))
		}
	}
}

// Columns are the names that expressions over a ledger may use, with their types:
// all that are no lists of structures. docs/columns.md says what they mean.
func Columns() []Column {
	var out []Column
	seen := map[string]bool{}
	Line{&rows.Attempt{}, &rows.Verdict{}, &rows.Outcome{}, &rows.Judgement{}}.each(func(name string, v reflect.Value) {
		if t := typeOf(v.Type()); t != nil && !seen[name] {
			out, seen[name] = append(out, Column{name, t}), true
		}
	})
	return out
}

func typeOf(t reflect.Type) *cel.Type {
	switch t.Kind() {
	case reflect.Pointer:
		return typeOf(t.Elem())
	case reflect.Slice:
		if of := typeOf(t.Elem()); of != nil {
			return cel.ListType(of)
		}
	case reflect.String:
		return cel.StringType
	case reflect.Int64:
		return cel.IntType
	case reflect.Float64:
		return cel.DoubleType
	case reflect.Bool:
		return cel.BoolType
	default:
	}
	return nil
}

// Values are the columns of a line. Those that an attempt does not have are
// unknown.
func (l Line) Values() map[string]any {
	out := map[string]any{}
	l.each(func(name string, v reflect.Value) {
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if _, first := out[name]; v.IsValid() && !first {
			out[name] = v.Interface()
		}
	})
	return out
}

// ParseOptional checks an expression over the ledger; nil where there is none.
func ParseOptional(source string) (*Expr, error) {
	if source == "" {
		return nil, nil
	}
	return Parse(source, Columns())
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
func Select(fsys corpus.FS, dir string, e *Expr) (*Selection, error) {
	lines, order, err := readLedger(fsys, dir)
	if err != nil {
		return nil, err
	}
	s := &Selection{map[string]bool{}, map[string]bool{}}
	for _, id := range order {
		l := lines[id]
		ok, err := e.Match(l.Values())
		if err != nil {
			return nil, err
		}
		if ok {
			s.sessions[id], s.problems[l.Attempt.ProblemID] = true, true
		}
	}
	return s, nil
}

func readLedger(fsys corpus.FS, dir string) (map[string]*Line, []string, error) {
	lines, order := map[string]*Line{}, []string{}
	table := func(name string) string { return filepath.Join(dir, "tables", name+".parquet") }
	err := corpus.Rows(fsys, table("attempts"), func(a *rows.Attempt) error {
		if a.TraceID != "" && lines[a.TraceID] == nil {
			lines[a.TraceID], order = &Line{Attempt: a}, append(order, a.TraceID)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return lines, order, errors.Join(
		join(fsys, table("verdicts"), lines, func(v *rows.Verdict) string { return v.TraceID }, func(l *Line, v *rows.Verdict) { l.Verdict = v }),
		join(fsys, table("outcomes"), lines, func(o *rows.Outcome) string { return o.TraceID }, func(l *Line, o *rows.Outcome) { l.Outcome = o }),
		join(fsys, table("judgements"), lines, func(j *rows.Judgement) string { return j.TraceID }, func(l *Line, j *rows.Judgement) { l.Judgement = j }),
	)
}

// join adds the rows of one table to the lines of their attempts; the first
// row of an attempt stays.
func join[T any](fsys corpus.FS, path string, lines map[string]*Line, id func(*T) string, add func(*Line, *T)) error {
	seen := map[string]bool{}
	return corpus.Rows(fsys, path, func(row *T) error {
		if l := lines[id(row)]; l != nil && !seen[id(row)] {
			seen[id(row)] = true
			add(l, row)
		}
		return nil
	})
}
