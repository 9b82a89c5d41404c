package where

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// The functions and methods of the language by expr's names.
var (
	functions     = map[string]string{"size": "len", "int": "int", "double": "float", "string": "string"}
	listMethods   = map[string]string{"exists": "any", "exists_one": "one", "all": "all", "filter": "filter", "map": "map"}
	stringMethods = []string{"startsWith", "endsWith", "contains", "matches"} // operators of expr
)

// translate replaces the calls of a parsed expression, which are those of the Common
// Expression Language, by expr's own, and refuses what only expr has.
func translate(tree *parser.Tree) error {
	var first *file.Error
	ast.Walk(&tree.Node, visit(func(node *ast.Node) {
		err := translateNode(node)
		if err != nil && first == nil {
			first = &file.Error{Location: (*node).Location(), Message: err.Error()}
		}
	}))
	if first != nil {
		return first.Bind(tree.Source)
	}
	return nil
}

func translateNode(node *ast.Node) error {
	switch n := (*node).(type) {
	case *ast.CallNode:
		return translateCall(node, n)
	case *ast.BuiltinNode:
		return fmt.Errorf("no function %q here: a list has the methods all, exists, exists_one, filter and map", n.Name)
	case *ast.VariableDeclaratorNode, *ast.SequenceNode, *ast.PointerNode, *ast.PredicateNode:
		return fmt.Errorf("one expression is wanted, without variables of its own")
	case *ast.IdentifierNode:
		if strings.HasPrefix(n.Value, "$") {
			return fmt.Errorf("no variable %s here", n.Value)
		}
	case *ast.NilNode:
		return fmt.Errorf("what is unknown cannot be compared with nil: it is never selected")
	case *ast.BinaryNode:
		if n.Operator == ".." || n.Operator == "??" || n.Operator == "|" {
			return fmt.Errorf("no operator %s here", n.Operator)
		}
	}
	return nil
}

func translateCall(node *ast.Node, call *ast.CallNode) error {
	switch callee := call.Callee.(type) {
	case *ast.IdentifierNode:
		return translateFunction(node, callee.Value, call.Arguments)
	case *ast.MemberNode:
		if property, ok := callee.Property.(*ast.StringNode); ok {
			return translateMethod(node, callee.Node, property.Value, call.Arguments)
		}
	}
	return fmt.Errorf("a call needs the name of a function")
}

// translateFunction translates size(x), has(x.field) and conversions.
func translateFunction(node *ast.Node, name string, arguments []ast.Node) error {
	if name != "has" && functions[name] == "" {
		return fmt.Errorf("unknown function %q", name)
	}
	if len(arguments) != 1 {
		return fmt.Errorf("%s takes one argument", name)
	}
	if name != "has" {
		ast.Patch(node, &ast.BuiltinNode{Name: functions[name], Arguments: arguments})
		return nil
	}
	if _, ok := arguments[0].(*ast.MemberNode); !ok {
		return fmt.Errorf("has takes a field, such as x.field")
	}
	ast.Patch(node, &ast.BinaryNode{Operator: "!=", Left: arguments[0], Right: &ast.NilNode{}})
	return nil
}

// translateMethod translates value.name(arguments).
func translateMethod(node *ast.Node, value ast.Node, name string, arguments []ast.Node) error {
	switch {
	case name == "size" && len(arguments) == 0:
		ast.Patch(node, &ast.BuiltinNode{Name: "len", Arguments: []ast.Node{value}})
		return nil
	case slices.Contains(stringMethods, name) && len(arguments) == 1:
		ast.Patch(node, &ast.BinaryNode{Operator: name, Left: value, Right: arguments[0]})
		return nil
	case listMethods[name] != "" && len(arguments) == 2:
		element, ok := arguments[0].(*ast.IdentifierNode)
		if !ok {
			return fmt.Errorf("%s takes a name for an element and an expression of it, such as %[1]s(x, x > 1)", name)
		}
		ast.Patch(node, translateList(value, listMethods[name], element.Value, arguments[1]))
		return nil
	}
	return fmt.Errorf("no method %q with %d arguments", name, len(arguments))
}

// translateList returns expr's call of a list method with an expression of each element. The
// expression is put into a list of its own, [expression][0]: expr bounds how many elements an
// evaluation may make, but not how many it looks at.
func translateList(list ast.Node, builtin, element string, expression ast.Node) ast.Node {
	counted := &ast.MemberNode{Node: &ast.ArrayNode{Nodes: []ast.Node{expression}}, Property: &ast.IntegerNode{}}
	each := &ast.VariableDeclaratorNode{Name: element, Value: &ast.PointerNode{}, Expr: counted}
	return &ast.BuiltinNode{Name: builtin, Arguments: []ast.Node{list, &ast.PredicateNode{Node: each}}}
}
