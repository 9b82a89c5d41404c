package arena_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// allowedSkips are parts of the reasons for which a test or script is skipped, with what runs it
// nevertheless. For data next to the repository, longtest.Shared skips.
var allowedSkips = []string{
	"-tags long", "tag long", // .ci/run
	"left out by -short",               // .ci/run, but for the race detector
	"run by Test",                      // the named test, as a process of its own
	"bench/stats_check.py runs it",     // .ci/interop
	"needs hf, the program of the Hub", // .ci/interop
	"needs the process of a server",    // a person, who measures
	"no -corpus", "no -day",            // a person, who measures
	"a model's text is valid Unicode",                // nothing: the fuzzer made another text
	"needs Linux", "of Linux", "a device", "no disk", // .ci/run on Linux as root
	"python3", "pgrep", "flock", "a shell", "links", // .ci/run, which names those that are missing
}

// TestSkipsAreListed checks that tests and scripts are skipped for listed reasons alone.
func TestSkipsAreListed(t *testing.T) {
	t.Parallel()
	check := func(path, reason string) {
		if !slices.ContainsFunc(allowedSkips, func(allowed string) bool { return strings.Contains(reason, allowed) }) {
			t.Errorf("%s: list what runs the test that skips with %s", path, reason)
		}
	}
	for _, f := range sourceFiles(t) {
		if !f.isTest {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if ok && (method.Sel.Name == "Skip" || method.Sel.Name == "Skipf") {
				reason := ""
				if literal, ok := call.Args[0].(*ast.BasicLit); ok {
					reason = literal.Value
				}
				check(f.path, reason)
			}
			return true
		})
	}
	scripts, err := filepath.Glob("cmd/arena/testdata/*/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range regexp.MustCompile(`(?m)^\[.*\] skip .*`).FindAllString(string(text), -1) {
			check(script, line)
		}
	}
}
