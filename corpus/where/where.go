// Package where selects attempts by an expression over the columns of the
// ledger, such as judge_score >= 0.7 && n_steps <= 15.
package where

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/text"
)

// Column is one name that expressions may use.
type Column struct {
	Name string
	Type *cel.Type
}

// Expr is a checked expression. It may be used by several goroutines.
type Expr struct {
	program cel.Program
	source  string
	// Names are the columns that the expression reads, sorted.
	Names []string
}

// Unknown is the error of a name that is no column.
type Unknown struct {
	Name string
	// Nearest is the column most like it.
	Nearest string
}

// Error names both.
func (u *Unknown) Error() string { return fmt.Sprintf("unknown column %q", u.Name) }

// Parse checks an expression of the Common Expression Language against the
// columns: names, types, and that it is true or false. An error of type
// *Unknown names the nearest column.
func Parse(source string, columns []Column) (*Expr, error) {
	options := []cel.EnvOption{cel.CrossTypeNumericComparisons(true)}
	for _, c := range columns {
		options = append(options, cel.Variable(c.Name, c.Type))
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
	program, err := env.Program(ast, cel.CostLimit(1_000_000)) // no expression may hang a run
	if err != nil {
		return nil, fmt.Errorf("prepare expression: %w", err)
	}
	return &Expr{program: program, source: source, Names: names(source, columns)}, nil
}

// undeclared is how the checker names an unknown variable.
var undeclared = regexp.MustCompile(`undeclared reference to '([^']*)'`)

func unknown(err error, columns []Column) *Unknown {
	m := undeclared.FindStringSubmatch(err.Error())
	if m == nil || strings.HasPrefix(m[1], "_") {
		return nil
	}
	u := &Unknown{Name: m[1]}
	best := len(m[1]) + 1
	for _, c := range columns {
		if d := text.Distance(m[1], c.Name); d < best {
			best, u.Nearest = d, c.Name
		}
	}
	return u
}

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

func names(source string, columns []Column) []string {
	var out []string
	for _, w := range word.FindAllString(source, -1) {
		known := slices.ContainsFunc(columns, func(c Column) bool { return c.Name == w })
		if known && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return out
}

// errNoAnswer is an expression whose value is not known.
var errNoAnswer = errors.New("no answer")

// Match evaluates the expression on the columns of one attempt. A column that
// is missing or nil is unknown, as in SQL: where the answer hangs on it, the
// attempt is not selected.
func (e *Expr) Match(values map[string]any) (bool, error) {
	known := make(map[string]any, len(e.Names))
	missing := false
	for _, n := range e.Names {
		if v, ok := values[n]; ok && v != nil {
			known[n] = v
		} else {
			missing = true
		}
	}
	got, err := e.eval(known)
	if missing && errors.Is(err, errNoAnswer) {
		return false, nil
	}
	return got, err
}

func (e *Expr) eval(values map[string]any) (bool, error) {
	out, _, err := e.program.Eval(values)
	if err != nil {
		return false, fmt.Errorf("evaluate %s: %w: %w", e.source, errNoAnswer, err)
	}
	got, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Errorf("evaluate %s: %w", e.source, errNoAnswer)
	}
	return got, nil
}

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
