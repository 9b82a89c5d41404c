package arena_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEveryModuleHasItsFeature compares the modules of the binary, as NOTICE lists them, with the
// table of the features that need them, in both directions.
func TestEveryModuleHasItsFeature(t *testing.T) {
	t.Parallel()
	notice, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("docs/decisions/20261123-modules.md")
	if err != nil {
		t.Fatal(err)
	}
	var words, modules []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \|$`).FindAllStringSubmatch(string(page), -1)[1:] {
		words = append(words, strings.Split(row[1], ", ")...)
	}
	for _, line := range regexp.MustCompile(`(?m)^(\S+\.\S+) +v\S+ +\S+$`).FindAllStringSubmatch(string(notice), -1) {
		modules = append(modules, strings.ToLower(line[1]))
	}
	named := func(module string) func(string) bool {
		return func(word string) bool { return strings.Contains(module, word) }
	}
	for _, m := range modules {
		if !slices.ContainsFunc(words, named(m)) {
			t.Errorf("the table has no feature for %s", m)
		}
	}
	for _, w := range words {
		if !slices.ContainsFunc(modules, func(m string) bool { return strings.Contains(m, w) }) {
			t.Errorf("no module is %s", w)
		}
	}
	if len(modules) < 40 {
		t.Errorf("%d modules", len(modules))
	}
}
