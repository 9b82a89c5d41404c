package arena_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWhatIsNewTouchesFewFiles checks the table of CONTRIBUTING.md: an existing format, judge,
// profile, rule or domain is named in as many files as a new one would be.
func TestWhatIsNewTouchesFewFiles(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		noun, listed, name string
		// mention is the text with which other files in the folders name it.
		mention string
		folders []string
		limit   int
	}{
		{"trace format", "traces/decoder.go", `&formats\.(\w+)`, `\bformats\.NAME\b|\bNAME += Format\{`, []string{"."}, 2},
		{"judge", "judges/list.go", `/judges/(?:shop/)?(\w+)"`, `\bNAME\.New\w*\(`, []string{"judges", "pipeline", "student", "environment", "cmd"}, 2},
		{"export profile", "corpus/export/profile.go", `\bName: +"([^"]+)"`, `"NAME"`, []string{"corpus"}, 2},
		{"filter rule", "filters/habits/*.go", `\bReason: "(\w+)"`, `"NAME(_v\d)?"`, []string{"."}, 1},
		{"filter rule in a list", "filters/habits/list.go", `(?m)^\t(\w+),$`, `\bNAME\b`, []string{"filters/habits"}, 2},
	} {
		listed := names(t, kind.listed, kind.name)
		if len(listed) < 2 {
			t.Errorf("%s: %d names in %s", kind.noun, len(listed), kind.listed)
		}
		for _, name := range listed {
			var files []string
			for _, folder := range kind.folders {
				files = append(files, mentioning(t, folder, strings.ReplaceAll(kind.mention, "NAME", regexp.QuoteMeta(name)))...)
			}
			if len(files) > kind.limit {
				t.Errorf("%s %s: %d files, at most %d: %s", kind.noun, name, len(files), kind.limit, files)
			}
		}
	}
}

// names are what an expression finds in files.
func names(t *testing.T, pattern, expression string) (matches []string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(expression).FindAllSubmatch(text, -1) {
			matches = append(matches, string(match[1]))
		}
	}
	slices.Sort(matches)
	return slices.Compact(matches)
}

// mentioning are the files of the program below a folder that an expression is
// found in.
func mentioning(t *testing.T, folder, expression string) (files []string) {
	t.Helper()
	nounPattern := regexp.MustCompile(expression)
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "test/") {
			return err
		}
		text, err := os.ReadFile(path)
		if nounPattern.Match(text) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
