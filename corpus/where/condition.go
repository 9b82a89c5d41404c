package where

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// condition is a part of an expression that is true, false or unknown: a test, or conditions
// joined by an operator. The library knows no unknown values, so the operators that may have
// an answer without one of their operands are evaluated here.
type condition struct {
	// operator is "!", "&&", "||" or "?:"; empty for a test.
	operator string
	operands []*condition
	// program evaluates a test, which reads the columns names.
	program *vm.Program
	names   []string
}

// errUnknown is the result of a test of a column that an attempt does not have.
var errUnknown = errors.New("a column is unknown")

// newCondition compiles a checked tree. columns holds the names of all columns.
func newCondition(node ast.Node, source file.Source, config *conf.Config, columns map[string]bool) (*condition, error) {
	operator, nodes := splitOperator(node)
	if operator == "" {
		return newTest(node, source, config, columns)
	}
	c := &condition{operator: operator}
	for _, n := range nodes {
		operand, err := newCondition(n, source, config, columns)
		if err != nil {
			return nil, err
		}
		c.operands = append(c.operands, operand)
	}
	return c, nil
}

// splitOperator returns the operator of a condition and its operands; none for a test.
func splitOperator(node ast.Node) (string, []ast.Node) {
	switch n := node.(type) {
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			return "!", []ast.Node{n.Node}
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "and":
			return "&&", []ast.Node{n.Left, n.Right}
		case "||", "or":
			return "||", []ast.Node{n.Left, n.Right}
		}
	case *ast.ConditionalNode:
		return "?:", []ast.Node{n.Cond, n.Exp1, n.Exp2}
	}
	return "", nil
}

func newTest(node ast.Node, source file.Source, config *conf.Config, columns map[string]bool) (*condition, error) {
	program, err := compiler.Compile(&parser.Tree{Node: node, Source: source}, config)
	if err != nil {
		return nil, err
	}
	c := &condition{program: program}
	ast.Walk(&node, visit(func(n *ast.Node) {
		name, ok := (*n).(*ast.IdentifierNode)
		if ok && columns[name.Value] && !slices.Contains(c.names, name.Value) {
			c.names = append(c.names, name.Value)
		}
	}))
	return c, nil
}

// visit adapts a function to expr's visitor.
type visit func(*ast.Node)

// Visit calls the function.
func (v visit) Visit(node *ast.Node) { v(node) }

// addNames adds the columns that the condition reads to a set.
func (c *condition) addNames(set map[string]bool) {
	for _, name := range c.names {
		set[name] = true
	}
	for _, operand := range c.operands {
		operand.addNames(set)
	}
}

// eval evaluates the condition on the columns of an attempt. An error means that there is no
// answer. The operands of && and || are tried in both orders: one of them may decide where
// the other has no answer.
func (c *condition) eval(values map[string]any) (bool, error) {
	switch c.operator {
	case "":
		return c.test(values)
	case "!":
		ok, err := c.operands[0].eval(values)
		return !ok, err
	case "?:":
		ok, err := c.operands[0].eval(values)
		switch {
		case err != nil:
			return false, err
		case ok:
			return c.operands[1].eval(values)
		default:
			return c.operands[2].eval(values)
		}
	}

	decides := c.operator == "||" // the value that one operand alone gives to the whole
	left, leftErr := c.operands[0].eval(values)
	if leftErr == nil && left == decides {
		return left, nil
	}
	right, rightErr := c.operands[1].eval(values)
	if rightErr == nil && right == decides {
		return right, nil
	}
	return !decides, cmp.Or(leftErr, rightErr)
}

func (c *condition) test(values map[string]any) (bool, error) {
	for _, name := range c.names {
		if values[name] == nil {
			return false, errUnknown
		}
	}
	result, err := vm.Run(c.program, values)
	if err != nil {
		return false, err
	}
	ok, isBool := result.(bool)
	if !isBool {
		return false, fmt.Errorf("%v is neither true nor false", result)
	}
	return ok, nil
}
