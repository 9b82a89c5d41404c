package arena_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sourceFile is one parsed Go file of this repository.
type sourceFile struct {
	path   string
	isTest bool
	fset   *token.FileSet
	ast    *ast.File
}

// sourceFiles parses every Go file below the root, those of testdata left out.
func sourceFiles(t *testing.T) []sourceFile {
	t.Helper()

	var files []sourceFile
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		isHidden := len(d.Name()) > 1 && strings.HasPrefix(d.Name(), ".")
		isSkipped := isHidden || d.Name() == "testdata"
		if d.IsDir() && isSkipped {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}

		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, sourceFile{
			path:   path,
			isTest: strings.HasSuffix(path, "_test.go"),
			fset:   fset,
			ast:    parsed,
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func (f *sourceFile) line(n ast.Node) int { return f.fset.Position(n.Pos()).Line }

// TestStyle checks the rules of CONTRIBUTING.md that a program can check. Each failure names the
// file, the line and what to write instead.
func TestStyle(t *testing.T) {
	t.Parallel()

	for _, f := range sourceFiles(t) {
		report := func(n ast.Node, format string, args ...any) {
			t.Errorf("%s:%d: %s", f.path, f.line(n), fmt.Sprintf(format, args...))
		}

		ast.Inspect(f.ast, func(n ast.Node) bool {
			checkConditionalMap(n, report)
			checkSequencedCalls(n, report)
			checkCondition(n, report)
			return true
		})
		checkAssignments(f.ast, report)
		checkDocComments(f.ast, f.isTest, report)
	}
}

// reporter records that a node breaks a rule.
type reporter func(n ast.Node, format string, args ...any)

// checkConditionalMap reports map[bool]T{true: x}[c], a conditional expression in disguise.
func checkConditionalMap(n ast.Node, report reporter) {
	index, ok := n.(*ast.IndexExpr)
	if !ok {
		return
	}
	literal, ok := index.X.(*ast.CompositeLit)
	if !ok {
		return
	}
	mapType, ok := literal.Type.(*ast.MapType)
	if !ok {
		return
	}
	if key, ok := mapType.Key.(*ast.Ident); ok && key.Name == "bool" {
		report(n, "a map literal chooses between two values: write an if statement")
	}
}

// checkSequencedCalls reports errors.Join and cmp.Or whose arguments call several functions, so
// that all of them run after the first has failed. Comparators are what cmp.Or was made for, and
// everything must be closed after any failure.
func checkSequencedCalls(n ast.Node, report reporter) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return
	}
	name := selectorName(call.Fun)
	if name != "errors.Join" && name != "cmp.Or" {
		return
	}

	calls := 0
	for _, arg := range call.Args {
		inner, ok := arg.(*ast.CallExpr)
		if ok && !isValue(selectorName(inner.Fun)) && !isRelease(selectorName(inner.Fun)) {
			calls++
		}
	}
	if calls > 1 {
		report(n, "%s runs %d calls one after another: write a statement for each and return at the first error", name, calls)
	}
}

// isRelease reports whether a call releases something, which must happen even if an earlier
// release failed.
func isRelease(function string) bool {
	_, method, ok := strings.Cut(function, ".")
	if !ok {
		method = function
	}
	return slices.Contains([]string{"Close", "close", "Drop", "drop", "End", "Err", "Wait", "Remove", "RemoveAll", "unlock"}, method)
}

// isValue reports whether a call only makes a value: an error, or the result of a comparison.
func isValue(function string) bool {
	if strings.HasSuffix(strings.ToLower(function), "compare") {
		return true
	}
	return slices.Contains([]string{"fmt.Errorf", "errors.New", "len", "int", "string", "float64"}, function)
}

// selectorName returns "x.Sel" for a selector on an identifier, the name of an
// identifier, or the last name of a longer selector.
func selectorName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.IndexExpr:
		return selectorName(e.X)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
		return e.Sel.Name
	}
	return ""
}

// checkCondition reports a condition of four or more operands that mixes && and ||, of an if, a
// for or a case. A returned condition has a name already, that of its function.
func checkCondition(n ast.Node, report reporter) {
	var conditions []ast.Expr
	switch n := n.(type) {
	case *ast.IfStmt:
		conditions = []ast.Expr{n.Cond}
	case *ast.ForStmt:
		conditions = []ast.Expr{n.Cond}
	case *ast.CaseClause:
		conditions = n.List
	}

	for _, condition := range conditions {
		if condition == nil {
			continue
		}
		operands, operators := logicalOperands(condition)
		if operands >= 4 && len(operators) > 1 {
			report(condition, "a condition mixes && and || over %d operands: give a part of it a name", operands)
		}
	}
}

// logicalOperands returns the number of operands that && and || join, and the operators.
func logicalOperands(e ast.Expr) (operands int, operators map[token.Token]bool) {
	operators = map[token.Token]bool{}
	var visit func(e ast.Expr)
	visit = func(e ast.Expr) {
		switch e := e.(type) {
		case *ast.ParenExpr:
			visit(e.X)
			return
		case *ast.UnaryExpr:
			if e.Op == token.NOT {
				visit(e.X)
				return
			}
		case *ast.BinaryExpr:
			if e.Op == token.LAND || e.Op == token.LOR {
				operators[e.Op] = true
				visit(e.X)
				visit(e.Y)
				return
			}
		}
		operands++
	}
	visit(e)
	return operands, operators
}

// checkAssignments reports a statement that assigns two values that have nothing to do
// with each other. Swaps and updates whose right sides read the left sides are related,
// and so are two constants; the header of a for statement is free.
func checkAssignments(file *ast.File, report reporter) {
	headers := map[ast.Stmt]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if loop, ok := n.(*ast.ForStmt); ok {
			headers[loop.Init] = true
			headers[loop.Post] = true
		}
		return true
	})

	ast.Inspect(file, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || headers[assign] || len(assign.Rhs) < 2 {
			return true
		}
		if !isSimultaneous(assign) {
			report(n, "one statement assigns %d unrelated values: write one a line", len(assign.Rhs))
		}
		return true
	})
}

// isSimultaneous reports whether a right side of the assignment reads a left side.
func isSimultaneous(assign *ast.AssignStmt) bool {
	written := map[string]bool{}
	for _, e := range assign.Lhs {
		for _, name := range identifiers(e) {
			written[name] = true
		}
	}
	for _, e := range assign.Rhs {
		if slices.ContainsFunc(identifiers(e), func(name string) bool { return written[name] }) {
			return true
		}
	}
	return false
}

func identifiers(e ast.Expr) []string {
	var names []string
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name != "_" {
			names = append(names, id.Name)
		}
		return true
	})
	return names
}

// checkDocComments reports functions whose doc comment does not open with the name and, outside of
// tests, a verb that Go's own documentation uses.
func checkDocComments(file *ast.File, isTest bool, report reporter) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Doc == nil {
			continue
		}
		words := strings.Fields(f.Doc.Text())
		if len(words) < 2 || words[0] != f.Name.Name {
			report(f, "the comment of %s does not open with its name", f.Name.Name)
			continue
		}
		verb := strings.TrimRight(words[1], ",;:.")
		if !isTest && !slices.Contains(docVerbs, verb) {
			report(f, "%q opens no comment of Go's own documentation: write that %s returns, reports whether, reads, writes, adds … something", verb, f.Name.Name)
		}
	}
}

// TestStyleOneOf holds that Of is the name of one exported function or method at most: the name
// does not describe the result.
func TestStyleOneOf(t *testing.T) {
	t.Parallel()

	var places []string
	for _, f := range sourceFiles(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "Of" {
				places = append(places, fmt.Sprintf("%s:%d", f.path, f.line(fn)))
			}
		}
	}
	if len(places) > 1 {
		t.Errorf("Of is exported %d times, say what each returns: %s", len(places), places)
	}
}

// maxDialect is the maximum number of everyday words for each 100,000 names, and for each 100,000
// words of comments. The Go standard library has 197 and 108 by the same lists, four modules that
// this program uses 78 to 302 and 73 to 122.
const maxDialect = 500

// TestStyleWords holds the rate of everyday words in names, in comments and in the pages of
// docs, where Go or the field has a term.
func TestStyleWords(t *testing.T) {
	t.Parallel()

	var names, comments, testNames, testComments wordCount
	for _, f := range sourceFiles(t) {
		fileNames := &names
		fileComments := &comments
		if f.isTest {
			fileNames = &testNames
			fileComments = &testComments
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				fileNames.add(id.Name, dialectNames, f.path, f.line(id))
			}
			return true
		})
		for _, group := range f.ast.Comments {
			for _, word := range commentWords(group.Text()) {
				fileComments.add(word, dialectWords, f.path, f.line(group))
			}
		}
	}
	names.check(t, "names")
	comments.check(t, "words of comments")
	testNames.check(t, "names of tests")
	testComments.check(t, "words of comments of tests")
}

var word = regexp.MustCompile(`[a-z]+`)

func commentWords(text string) []string { return word.FindAllString(strings.ToLower(text), -1) }

// wordCount counts words and the places of those on a list.
type wordCount struct {
	total  int
	listed int
	byWord map[string]int
	places map[string][]string
}

func (c *wordCount) add(word string, list map[string]string, path string, line int) {
	c.total++
	if _, ok := list[word]; !ok {
		return
	}
	if c.byWord == nil {
		c.byWord = map[string]int{}
		c.places = map[string][]string{}
	}
	c.listed++
	c.byWord[word]++
	if len(c.places[word]) < 3 {
		c.places[word] = append(c.places[word], fmt.Sprintf("%s:%d", path, line))
	}
}

func (c *wordCount) check(t *testing.T, noun string) {
	t.Helper()
	rate := 100_000 * c.listed / max(c.total, 1)
	t.Logf("%s: %d of 100,000 are everyday words, at most %d", noun, rate, maxDialect)
	if rate <= maxDialect {
		return
	}

	words := make([]string, 0, len(c.byWord))
	for word := range c.byWord {
		words = append(words, word)
	}
	slices.SortFunc(words, func(a, b string) int { return c.byWord[b] - c.byWord[a] })
	for _, word := range words[:min(len(words), 20)] {
		t.Errorf("%s %q stands %d times, first in %s", noun, word, c.byWord[word], c.places[word])
	}
}
