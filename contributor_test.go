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

// TestWhatIsNewTouchesFewFiles holds the table of CONTRIBUTING.md: what the
// program has of each kind is named in as many files as a new one would be.
func TestWhatIsNewTouchesFewFiles(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		what, listed, name string
		// mention is where else a name would have to stand, in files of the folders.
		mention string
		folders []string
		most    int
	}{
		{"trace format", "traces/decoder.go", `&formats\.(\w+)`, `\bformats\.NAME\b|\bNAME += Format\{`, []string{"."}, 2},
		{"judge", "judges/list.go", `/judges/(?:shop/)?(\w+)"`, `\bNAME\.New\w*\(`, []string{"judges", "pipeline", "student", "environment", "cmd"}, 2},
		{"export profile", "corpus/export/profile.go", `\bName: +"([^"]+)"`, `"NAME"`, []string{"corpus"}, 2},
		{"filter rule", "filters/habits/*.go", `\bReason: "(\w+)"`, `"NAME(_v\d)?"`, []string{"."}, 1},
		{"filter rule in a list", "filters/habits/list.go", `(?m)^\t(\w+),$`, `\bNAME\b`, []string{"filters/habits"}, 2},
	} {
		all := names(t, kind.listed, kind.name)
		if len(all) < 2 {
			t.Errorf("%s: %d names in %s", kind.what, len(all), kind.listed)
		}
		for _, name := range all {
			var files []string
			for _, folder := range kind.folders {
				files = append(files, mentioning(t, folder, strings.ReplaceAll(kind.mention, "NAME", regexp.QuoteMeta(name)))...)
			}
			if len(files) > kind.most {
				t.Errorf("%s %s: %d files, at most %d: %s", kind.what, name, len(files), kind.most, files)
			}
		}
	}
}

// names are what an expression finds in files.
func names(t *testing.T, pattern, expression string) (all []string) {
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
		for _, found := range regexp.MustCompile(expression).FindAllSubmatch(text, -1) {
			all = append(all, string(found[1]))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// mentioning are the files of the program below a folder that an expression is
// found in.
func mentioning(t *testing.T, folder, expression string) (files []string) {
	t.Helper()
	what := regexp.MustCompile(expression)
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "test/") {
			return err
		}
		text, err := os.ReadFile(path)
		if what.Match(text) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
