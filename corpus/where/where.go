// Package where selects attempts by an expression over the columns of the ledger, such as
// judge_score >= 0.7 && n_steps <= 15.
package where

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/text"
)

// Column is a ledger column that expressions may use.
type Column struct {
	Name string
	Type *cel.Type
	// part is the index of the column's table in Line.parts, field that of the field in the
	// table's row type.
	part, field int
}

// Kind returns how pages present the column: "number", "flag" or "words". It returns "" for a
// list of structs.
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

// parts returns pointers to the rows about one attempt, one for each table of the ledger (the
// tables about all attempts). A pointer is nil if the table has no such row. Column.part is an
// index in this list.
func (l *Line) parts() [7]any {
	return [...]any{l.Attempt, l.Verdict, l.Outcome, l.Judgement, l.Leak, l.Place, l.Declared}
}

// prefixes are prepended to the names of the columns of some ledger tables, so that they differ
// from those of other tables: judge_ for judgements and leak_ for leaks. They are in the order of
// Line.parts.
var prefixes = [7]string{3: "judge_", 4: "leak_"}

// columns returns all columns of the ledger (the tables about attempts) that filter expressions may
// use. If two tables have a column with the same name, the first one is used.
var columns = sync.OnceValue(func() (items []Column) {
	seen := map[string]bool{}
	for i, row := range (&Line{}).parts() {
		t := reflect.TypeOf(row).Elem()
		for j := range t.NumField() {
			name := columnOf(t.Field(j))
			if name != "judge" {
				name = prefixes[i] + name
			}
			if parent := typeOf(t.Field(j).Type); parent != nil && !seen[name] {
				items, seen[name] = append(items, Column{
					Name:  name,
					Type:  parent,
					part:  i,
					field: j,
				}), true
			}
		}
	}
	return items
})

// Columns returns the columns that expressions may use, with their types. docs/columns.md
// describes them.
func Columns() []Column { return columns() }

func columnOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
	return name
}

// IsMeasured reports whether only instruments fill the column, so that it is null in every import: it is
// of the tables verdicts, judgements or places.
func (c Column) IsMeasured() bool {
	switch (&Line{}).parts()[c.part].(type) {
	case *rows.Attempt, *rows.Outcome, *rows.Leak, *rows.Declared:
		return false
	}
	return true
}

// Measured returns the first column of the expression that only instruments fill, "" if there is none.
func (e *Expr) Measured() string {
	for _, c := range columns() {
		if c.IsMeasured() && slices.Contains(e.Names, c.Name) {
			return c.Name
		}
	}
	return ""
}

// Of returns the value of the column in a line, nil if there is none.
func (c Column) Of(l *Line) any {
	if v := reflect.ValueOf(l.parts()[c.part]).Elem(); v.IsValid() {
		if v = reflect.Indirect(v.Field(c.field)); v.IsValid() {
			return v.Interface()
		}
	}
	return nil
}

func typeOf(t reflect.Type) *cel.Type {
	switch t.Kind() {
	case reflect.Pointer:
		return typeOf(t.Elem())
	case reflect.Slice:
		if parent := typeOf(t.Elem()); parent != nil {
			return cel.ListType(parent)
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

// maxCost is the maximum cost of a filter expression on one attempt, in the units of the CEL
// library, about one for each operation. It takes about a millisecond, so that no expression delays
// a run on a day of 27,000 attempts by more than half a minute.
const maxCost = 50_000

// ErrCost reports an expression that takes too many operations on one attempt.
var ErrCost = fmt.Errorf("it takes more than %d operations on one attempt: make it shorter", maxCost)

// Expr is a parsed expression. It may be used by several goroutines.
type Expr struct {
	program cel.Program
	source  string
	// Names are the columns that the expression reads, sorted.
	Names []string
}

// Unknown is the error for an expression with an unknown column.
type Unknown struct {
	Name string
	// Nearest is the column with the most similar name, "" if none is similar.
	Nearest string
}

// Error returns a message with the name of the unknown column.
func (u *Unknown) Error() string { return fmt.Sprintf("unknown column %q", u.Name) }

// knownPrefix before a column's name is a variable that is true where the column has a value.
const knownPrefix = "known."

// Parse parses an expression of the Common Expression Language. It checks the names and types of
// the columns, and that the result is a boolean. The error for an unknown column is an *Unknown.
func Parse(source string, columns []Column) (*Expr, error) {
	options := []cel.EnvOption{cel.CrossTypeNumericComparisons(true)}
	for _, c := range columns {
		options = append(options, cel.Variable(c.Name, c.Type), cel.Variable(knownPrefix+c.Name, cel.BoolType))
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		return nil, fmt.Errorf("set up columns: %w", err)
	}
	ast, issues := env.Compile(source)
	if bad := issues.Err(); bad != nil {
		if u := unknown(bad, columns); u != nil {
			return nil, u
		}
		return nil, fmt.Errorf("read expression: %s", strings.Join(strings.Fields(bad.Error()), " "))
	}
	if ast.OutputType() != cel.BoolType {
		return nil, fmt.Errorf("read expression: it is a %s, not true or false", ast.OutputType())
	}
	program, err := env.Program(ast, cel.CostLimit(maxCost))
	if err != nil {
		return nil, fmt.Errorf("prepare expression: %w", err)
	}
	return &Expr{
		program: program,
		source:  source,
		Names:   names(ast, columns),
	}, nil
}

// undeclared matches the CEL library's error for an unknown variable and captures the name of
// the variable.
var undeclared = regexp.MustCompile(`undeclared reference to '([^']*)'`)

func unknown(err error, columns []Column) *Unknown {
	m := undeclared.FindStringSubmatch(err.Error())
	if m == nil || strings.HasPrefix(m[1], "_") {
		return nil
	}
	u := &Unknown{Name: m[1]}
	best := len(m[1]) + 1
	for _, c := range columns {
		d := text.Distance(m[1], c.Name)
		if strings.Contains(c.Name, m[1]) {
			d = 0
		}
		if d < best {
			best = d
			u.Nearest = c.Name
		}
	}
	return u
}

// names returns the columns that a checked expression reads, sorted. A column that only a text in it
// names is none of them.
func names(ast *cel.Ast, columns []Column) []string {
	isRead := map[string]bool{}
	for _, r := range ast.NativeRep().ReferenceMap() {
		isRead[strings.TrimPrefix(r.Name, knownPrefix)] = true
	}
	var out []string
	for _, c := range columns {
		if isRead[c.Name] {
			out = append(out, c.Name)
		}
	}
	slices.Sort(out)
	return out
}

// Match evaluates the expression on the values of one attempt, which are indexed by column. A
// value that is missing or nil is unknown, like NULL in SQL. If the result depends on an unknown
// value, it is false. known.COLUMN is true if the column has a value.
func (e *Expr) Match(values map[string]any) (bool, error) {
	known := make(map[string]any, len(e.Names))
	missing := false
	for _, n := range e.Names {
		v := values[n]
		known[knownPrefix+n] = v != nil
		if v != nil {
			known[n] = v
		} else {
			missing = true
		}
	}
	out, _, err := e.program.Eval(known)
	if err == nil {
		if got, is := out.Value().(bool); is {
			return got, nil
		}
		err = errors.New("it is neither true nor false")
	}
	if err != nil && strings.Contains(err.Error(), "cost limit exceeded") { // the library has no error of its own
		return false, fmt.Errorf("evaluate %s: %w", e.source, ErrCost)
	}
	if missing {
		return false, nil
	}
	return false, fmt.Errorf("evaluate %s: no answer: %w", e.source, err)
}

// ParseOptional parses an expression over the ledger columns. It returns nil if source is "".
func ParseOptional(source string) (*Expr, error) {
	if source == "" {
		return nil, nil
	}
	return Parse(source, Columns())
}
