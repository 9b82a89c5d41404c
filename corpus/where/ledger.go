package where

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// each visits the columns of a line by their names in the ledger, those of a
// judgement behind judge_ and of a leak behind leak_: of two with one name the
// first counts.
func (l *Line) each(see func(name string, v reflect.Value)) {
	for _, part := range []struct {
		row    any
		prefix string
	}{{l.Attempt, ""}, {l.Verdict, ""}, {l.Outcome, ""}, {l.Judgement, "judge_"}, {l.Leak, "leak_"}, {l.Place, ""}} {
		v := reflect.ValueOf(part.row)
		if v.IsNil() {
			continue
		}
		for i := range v.Elem().NumField() {
			name := columnOf(v.Elem().Type().Field(i))
			if name != "judge" {
				name = part.prefix + name
			}
			see(name, v.Elem().Field(i))
		}
	}
}

func columnOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
	return name
}

// Columns are the names that expressions over a ledger may use, with their types.
// docs/columns.md says what they mean.
func Columns() []Column {
	var out []Column
	seen := map[string]bool{}
	whole := &Line{&rows.Attempt{}, &rows.Verdict{}, &rows.Outcome{}, &rows.Judgement{}, &rows.Leak{}, &rows.Place{}}
	whole.each(func(name string, v reflect.Value) {
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
	case reflect.Struct:
		return cel.MapType(cel.StringType, cel.DynType)
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
// unknown. A list of structures is one of maps by their columns.
func (l *Line) Values() map[string]any {
	out := l.Plain()
	l.each(func(name string, v reflect.Value) {
		if _, first := out[name]; structures(v) && !first {
			out[name] = listed(v)
		}
	})
	return out
}

// Plain are the values of a line but its lists of structures, which cost most of it.
func (l *Line) Plain() map[string]any {
	out := map[string]any{}
	l.each(func(name string, v reflect.Value) {
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if _, first := out[name]; v.IsValid() && !first && !structures(v) {
			out[name] = v.Interface()
		}
	})
	return out
}

func structures(v reflect.Value) bool {
	return v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct
}

func listed(v reflect.Value) []map[string]any {
	list := make([]map[string]any, v.Len())
	for i := range list {
		list[i] = map[string]any{}
		for j := range v.Index(i).NumField() {
			list[i][columnOf(v.Type().Elem().Field(j))] = v.Index(i).Field(j).Interface()
		}
	}
	return list
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
	lines, err := Read(fsys, dir)
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
			s.sessions[id], s.problems[l.Attempt.ProblemID] = true, true
		}
	}
	return s, nil
}

// Kind is how people read the column: words, number or flag; empty for a list of
// structures.
func (c Column) Kind() string {
	switch t := c.Type; t.Kind() {
	case cel.IntKind, cel.DoubleKind:
		return "number"
	case cel.BoolKind:
		return "flag"
	case cel.ListKind:
		if t.Parameters()[0].Kind() == cel.MapKind {
			return ""
		}
	}
	return "words"
}
