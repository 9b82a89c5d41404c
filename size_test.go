package arena_test

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The size of the program is counted in tokens, since a budget of lines prices blank lines,
// comments and named temporaries, and so makes code worse.
const (
	// maxTokens rises only in a commit that names the capability it buys.
	maxTokens          = 751_095
	maxPackageFiles    = 25
	maxFunctionTokens  = 400
	maxFunctionLines   = 60
	benchFolder        = "bench"
	automaticSemicolon = "\n"
)

// TestSize holds the program to its limits: tokens in all, files a package, tokens and lines
// a function. Tests and bench are not counted.
func TestSize(t *testing.T) {
	t.Parallel()

	total := 0
	packageFiles := map[string]int{}
	for _, f := range sourceFiles(t) {
		if f.isTest || strings.HasPrefix(f.path, benchFolder+string(filepath.Separator)) {
			continue
		}
		packageFiles[filepath.Dir(f.path)]++

		offsets := tokenOffsets(t, f.path)
		total += len(offsets)
		checkFunctionSizes(t, &f, offsets)
	}

	t.Logf("%d tokens of Go, at most %d", total, maxTokens)
	if total > maxTokens {
		t.Errorf("%d tokens of Go, at most %d: delete unused code, or raise the limit and name the capability that it buys", total, maxTokens)
	}
	for folder, n := range packageFiles {
		if n > maxPackageFiles {
			t.Errorf("%s: %d files, at most %d: which nouns are in it?", folder, n, maxPackageFiles)
		}
	}
}

// checkFunctionSizes reports functions that have too many tokens or lines.
func checkFunctionSizes(t *testing.T, f *sourceFile, offsets []int) {
	t.Helper()
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}

		start := f.fset.Position(fn.Pos())
		end := f.fset.Position(fn.End())
		n := 0
		for _, offset := range offsets {
			if start.Offset <= offset && offset < end.Offset {
				n++
			}
		}
		if n > maxFunctionTokens {
			t.Errorf("%s:%d: %s has %d tokens, at most %d", f.path, start.Line, fn.Name.Name, n, maxFunctionTokens)
		}
		if lines := end.Line - start.Line + 1; lines > maxFunctionLines {
			t.Errorf("%s:%d: %s has %d lines, at most %d", f.path, start.Line, fn.Name.Name, lines, maxFunctionLines)
		}
	}
}

// tokenOffsets returns the offset of each token of a file, without comments and the
// semicolons that the scanner inserts.
func tokenOffsets(t *testing.T, path string) []int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	fset := token.NewFileSet()
	file := fset.AddFile(path, fset.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)

	var offsets []int
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return offsets
		}
		if tok == token.SEMICOLON && literal == automaticSemicolon {
			continue
		}
		offsets = append(offsets, file.Offset(pos))
	}
}
