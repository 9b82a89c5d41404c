// Package where selects attempts by an expression over the columns of the
// ledger, such as judge_score >= 0.7 && n_steps <= 15.
package where

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"

	"github.com/trajectory-arena/arena/internal/text"
)

// Expr is a checked expression. It may be used by several goroutines.
type Expr struct {
	condition *condition
	source    string
	// Names are the columns that the expression reads, sorted.
	Names []string
}

// Unknown is the error of a name that is no column.
type Unknown struct {
	Name string
	// Nearest is the column most like it.
	Nearest string
}

// Error returns a message with the name.
func (u *Unknown) Error() string { return fmt.Sprintf("unknown column %q", u.Name) }

// maxSource bounds the length of an expression in bytes, and with it the depth of the parser's
// recursion.
const maxSource = 1 << 16

// Parse checks an expression against the columns: names, types, and that it is true or false.
// docs/columns.md describes the language. An error of type *Unknown names the nearest column.
func Parse(source string, columns []Column) (*Expr, error) {
	if len(source) > maxSource {
		return nil, fmt.Errorf("read expression: it has %d bytes, more than %d", len(source), maxSource)
	}
	config := newConfig(columns)
	tree, err := parser.ParseWithConfig(source, config)
	if err != nil {
		return nil, syntaxError(err)
	}
	if err = translate(tree); err != nil {
		return nil, syntaxError(err)
	}
	result, err := checker.Check(tree, config)
	if err != nil {
		if u := unknownColumn(err, columns); u != nil {
			return nil, u
		}
		return nil, syntaxError(err)
	}
	if result.Kind() != reflect.Bool {
		return nil, fmt.Errorf("read expression: it is a %s, not true or false", result)
	}

	names := map[string]bool{}
	for _, c := range columns {
		names[c.Name] = true
	}
	root, err := newCondition(tree.Node, tree.Source, config, names)
	if err != nil {
		return nil, fmt.Errorf("prepare expression: %w", err)
	}
	used := map[string]bool{}
	root.addNames(used)
	return &Expr{condition: root, source: source, Names: slices.Sorted(maps.Keys(used))}, nil
}

// ParseOptional parses an expression over the ledger; nil if source is empty.
func ParseOptional(source string) (*Expr, error) {
	if source == "" {
		return nil, nil
	}
	return Parse(source, Columns())
}

// newConfig returns expr's configuration: the columns as variables, and none of its functions.
func newConfig(columns []Column) *conf.Config {
	variables := types.Map{}
	for _, c := range columns {
		variables[c.Name] = exprType(c.Type)
	}
	config := conf.CreateNew()
	for _, option := range []expr.Option{expr.Env(variables), expr.DisableAllBuiltins(), expr.Optimize(false)} {
		option(config)
	}
	clear(config.Builtins)
	return config
}

// exprType returns expr's type of a column's values. A structure has a field for each of its
// columns.
func exprType(t reflect.Type) types.Type {
	switch t.Kind() {
	case reflect.Slice:
		return types.Array(exprType(t.Elem()))
	case reflect.Struct:
		fields := types.Map{}
		for i := range t.NumField() {
			fields[columnName(t.Field(i))] = exprType(t.Field(i).Type)
		}
		return fields
	default:
		return types.TypeOf(reflect.Zero(t).Interface())
	}
}

func syntaxError(err error) error {
	return fmt.Errorf("read expression: %s", oneLine(err))
}

// oneLine returns an error of expr, which shows the expression below it, on one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// unknownName is how the checker reports an unknown variable.
var unknownName = regexp.MustCompile(`^unknown name (\w+)$`)

// unknownColumn returns the error of a name that is no column; nil if err is another error.
func unknownColumn(err error, columns []Column) *Unknown {
	located, ok := errors.AsType[*file.Error](err)
	if !ok {
		return nil
	}
	match := unknownName.FindStringSubmatch(located.Message)
	if match == nil {
		return nil
	}
	u := &Unknown{Name: match[1]}
	best := len(u.Name) + 1
	for _, c := range columns {
		if d := text.Distance(u.Name, c.Name); d < best {
			best = d
			u.Nearest = c.Name
		}
	}
	return u
}

// Match evaluates the expression on the columns of one attempt. A column that
// is missing or nil is unknown, as in SQL: where the answer hangs on it, the
// attempt is not selected.
func (e *Expr) Match(values map[string]any) (bool, error) {
	ok, err := e.condition.eval(values)
	if err == nil {
		return ok, nil
	}
	for _, name := range e.Names {
		if values[name] == nil {
			return false, nil
		}
	}
	return false, fmt.Errorf("evaluate %s: no answer: %s", e.source, oneLine(err))
}
