package arena_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/filters"
)

var update = flag.Bool("update", false, "write the generated pages anew")

const reasonsHead = `# The reasons for which a record or a row is left out

This page is written from the code by ` + "`go test . -run ReasonsPage -update`" + `.

If a command leaves out records or rows, its counts name the reason by the words in the first column. A run also says so why it works on an input again (*again*), or why an attempt has no grade. The column *stage* names the steps of a build or import, and the other
commands, that use the word. If a check of the filter rejects nothing by itself, its word describes how a scripted attempt was made. The column
*what to do* begins with "none" if the data needs no change; the keys in this column are those of [configuration.md](configuration.md), with their default.

| reason | stage | meaning | what to do |
|---|---|---|---|
`

// reasonConstants are the constants that hold reasons: those of a package whose
// name and type look so.
var reasonConstants = []struct{ stage, folder, constants, prefix string }{
	{"again", "pipeline/block", `^again[A-Z]`, ""},
	{"read", "traces", `^\w+ Reason$`, ""},
	{"read, filter", "traces", `^veto`, ""},
	{"read, filter", "traces/formats", `^veto`, ""},
	{"read, filter", "internal/calls", `^Fault[A-Z]`, ""},
	{"read, filter", "domain", `^Veto[A-Z]`, ""},
	{"filter", "filters", `^Reason[A-Z]`, ""},
	{"judge", ".", `^Judge(Refused|Unparsed|Failed|Unsaid|Undecided|NotMeasured|NotAsked) `, ""},
	{"guard", "guard", `^Tier[A-Z]`, "leak_"},
	{"build", "pipeline", `^reason[A-Z]`, ""},
	{"build", "pipeline/halves", `^reason[A-Z]`, ""},
	{"rank, mix", "pipeline/choose", `^Reason[A-Z]`, ""},
	{"mix", "pipeline/mix", `^reason[A-Z]`, ""},
	{"recipe", "pipeline/recipe", `^reason[A-Z]`, ""},
	{"rewrite", "pipeline/rewrite", `^reason[A-Z]`, ""},
	{"filter, export", "corpus/chat", `^Reason[A-Z]`, ""},
	{"export", "corpus/export", `^reason[A-Z]`, ""},
}

// TestReasonsPageNamesEveryReason holds docs/reasons.md to the catalogue of the
// filter and the comments of the constants. A reason without a meaning fails, and
// one that is no constant.
func TestReasonsPageNamesEveryReason(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, c := range filters.Catalogue() {
		lines = append(lines, reasonLine(t, c.Reason, "filter", c.Doc))
	}
	for _, c := range reasonConstants {
		lines = append(lines, reasonsIn(t, c.folder, regexp.MustCompile(c.constants), func(word, meaning string) string {
			return reasonLine(t, c.prefix+word, c.stage, meaning)
		})...)
	}
	slices.Sort(lines)
	page := reasonsHead + strings.Join(slices.Compact(lines), "")
	const path = "docs/reasons.md"
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != page {
		t.Errorf("%s differs from the code (%v): run this test with -update", path, err)
	}
}

func reasonLine(t *testing.T, word, stage, meaning string) string {
	t.Helper()
	if meaning == "" {
		t.Errorf("%s (%s) has no comment: want one that defines it", word, stage)
	}
	remedy := remedies(t)[word]
	if remedy == "" {
		t.Errorf("%s (%s) has no line in docs/remedies.txt: want one with a remedy", word, stage)
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |\n", word, stage, strings.ReplaceAll(strings.TrimSuffix(meaning, "."), "|", `\|`), remedy)
}

// remedies are what to do about each word.
func remedies(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("docs/remedies.txt")
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for line := range strings.Lines(string(b)) {
		word, remedy, _ := strings.Cut(strings.TrimSpace(line), ": ")
		reasons[word] = remedy
	}
	return reasons
}

// reasonsIn returns the result of line for every constant of a package that has a meaning.
func reasonsIn(t *testing.T, folder string, pattern *regexp.Regexp, line func(word, meaning string) string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if word, is := n.Value.(*ast.BasicLit); is && fmt.Sprint(n.Key) == "Reason" && folder != "filters" {
					t.Errorf("%s: the reason %s is no constant", path, word.Value)
				}
			case *ast.GenDecl:
				lines = append(lines, constants(n, pattern, line)...)
			}
			return true
		})
	}
	if lines == nil {
		t.Errorf("%s has no constant like %v", folder, pattern)
	}
	return lines
}

func constants(decl *ast.GenDecl, pattern *regexp.Regexp, line func(word, meaning string) string) (lines []string) {
	for _, s := range decl.Specs {
		spec, is := s.(*ast.ValueSpec)
		if !is || decl.Tok != token.CONST || len(spec.Values) == 0 {
			continue
		}
		value, is := spec.Values[0].(*ast.BasicLit)
		kind := ""
		if spec.Type != nil {
			kind = fmt.Sprint(spec.Type)
		}
		if !is || value.Kind != token.STRING || !pattern.MatchString(spec.Names[0].Name+" "+kind) {
			continue
		}
		text := spec.Doc.Text() + spec.Comment.Text()
		if text == "" && len(decl.Specs) == 1 {
			text = decl.Doc.Text()
		}
		word, _ := strconv.Unquote(value.Value)
		text = strings.TrimPrefix(strings.Join(strings.Fields(text), " "), spec.Names[0].Name)
		if word != "" && !strings.HasSuffix(word, "_") {
			lines = append(lines, line(word, strings.TrimLeft(text, ": ")))
		}
	}
	return lines
}
