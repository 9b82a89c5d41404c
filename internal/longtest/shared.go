package longtest

import (
	"os"
	"path/filepath"
	"testing"
)

// SharedFolder returns the path of the folder shared next to the repository, with data that is not
// part of the repository. It returns "" if there is none.
func SharedFolder() string {
	dir, err := os.Getwd()
	for err == nil && !exists(filepath.Join(dir, "go.mod")) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	if shared := filepath.Join(dir, "..", "shared"); exists(shared) {
		return shared
	}
	return ""
}

// Shared returns the path of a file or folder in the folder shared next to the repository. Without
// that folder it skips the test; if the folder lacks this part, it fails the test.
func Shared(tb testing.TB, name string) string {
	tb.Helper()
	folder := SharedFolder()
	if folder == "" {
		tb.Skip("needs the folder shared next to the repository")
	}
	path := filepath.Join(folder, name)
	if !exists(path) {
		tb.Fatalf("%s is missing", path)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
