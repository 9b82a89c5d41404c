package arena_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// generated are the pages that tests write from the code.
var generated = map[string]bool{"docs/columns.md": true, "docs/configuration.md": true, "docs/reasons.md": true, "docs/rewards.md": true, "docs/sources.md": true, "docs/training.md": true}

// pages returns every page for readers by its path: README and docs without the decisions.
func pages(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	read := func(path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pages[path] = string(b)
	}
	read("README.md")
	err := filepath.WalkDir("docs", func(path string, d fs.DirEntry, err error) error {
		if d.IsDir() && d.Name() == "decisions" {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			read(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestDocsAreReadToTheirEnd bounds the words of each paragraph.
func TestDocsAreReadToTheirEnd(t *testing.T) {
	t.Parallel()
	const inParagraph = 120
	for path, text := range pages(t) {
		if generated[path] {
			continue
		}
		for _, p := range paragraphs(text) {
			if n := len(strings.Fields(p)); n > inParagraph {
				t.Errorf("%s: %d words in the paragraph that begins %.60q", path, n, p)
			}
		}
	}
}

var item = regexp.MustCompile(`^\s*([-*]|\d+\.) `)

// paragraphs returns the running texts of a page. Each item of a list is one; tables, headings and
// code are left out.
func paragraphs(page string) []string {
	var names []string
	var last strings.Builder
	end := func() {
		names = append(names, last.String())
		last.Reset()
	}
	code := false
	for line := range strings.Lines(page) {
		fence := strings.HasPrefix(line, "```")
		code = code != fence
		if fence || code || strings.TrimSpace(line) == "" || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "#") {
			end()
			continue
		}
		if item.MatchString(line) {
			end()
		}
		last.WriteString(line)
	}
	end()
	return names
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// TestLinksLeadSomewhere follows every relative link of every page.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	for path, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

// TestEveryPageIsOnTheMap holds that README links to the map of docs, and the map to every
// page.
func TestEveryPageIsOnTheMap(t *testing.T) {
	t.Parallel()
	pageTexts := pages(t)
	if !strings.Contains(pageTexts["README.md"], "(docs/README.md)") {
		t.Error("README.md does not link to docs/README.md")
	}
	for path := range pageTexts {
		inDocs, _ := filepath.Rel("docs", path)
		if path != "README.md" && path != "docs/README.md" && !strings.Contains(pageTexts["docs/README.md"], "("+inDocs+")") {
			t.Errorf("docs/README.md does not name %s", path)
		}
	}
}
