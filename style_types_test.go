package arena_test

import (
	"go/ast"
	"path/filepath"
	"testing"
)

// typeName is a type of this repository: its package's folder and its name.
type typeName struct {
	folder string
	name   string
}

// TestStyleReceivers holds that the methods of a type have one name for their receiver.
func TestStyleReceivers(t *testing.T) {
	t.Parallel()

	first := map[typeName]string{}
	for _, f := range sourceFiles(t) {
		if f.isTest {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || len(fn.Recv.List[0].Names) == 0 {
				continue
			}
			receiver := fn.Recv.List[0].Names[0].Name
			if receiver == "_" {
				continue
			}

			receiverType := typeName{filepath.Dir(f.path), baseName(fn.Recv.List[0].Type)}
			if first[receiverType] == "" {
				first[receiverType] = receiver
			}
			if receiver != first[receiverType] {
				t.Errorf("%s:%d: the receiver of %s is %s here and %s elsewhere: give it one name", f.path, f.line(fn), receiverType.name, receiver, first[receiverType])
			}
		}
	}
}

// TestStyleEmbedding holds that a struct embeds at most one that embeds another: a reader could not
// find out which struct a method or field of a deeper one belongs to.
func TestStyleEmbedding(t *testing.T) {
	t.Parallel()

	structs := map[typeName]*ast.StructType{}
	for _, f := range sourceFiles(t) {
		if f.isTest {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				structs[typeName{filepath.Dir(f.path), spec.Name.Name}] = s
			}
			return true
		})
	}

	var depth func(typeName) int
	depth = func(typ typeName) int {
		deepest := 0
		for _, field := range structs[typ].Fields.List {
			if len(field.Names) > 0 {
				continue
			}
			embedded := typeName{typ.folder, baseName(field.Type)}
			if structs[embedded] == nil {
				deepest = max(deepest, 1)
				continue
			}
			deepest = max(deepest, 1+depth(embedded))
		}
		return deepest
	}
	for typ := range structs {
		if depth(typ) > 2 {
			t.Errorf("%s: %s embeds structs three deep: give the embedded one a field name", typ.folder, typ.name)
		}
	}
}

// baseName returns the name of a receiver's or an embedded field's type without pointer, type
// parameters and package, "" if it has none.
func baseName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return baseName(e.X)
	case *ast.IndexExpr:
		return baseName(e.X)
	case *ast.IndexListExpr:
		return baseName(e.X)
	case *ast.SelectorExpr:
		return "." + e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}
