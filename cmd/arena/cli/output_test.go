package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestOutputsHaveTheRightsOfNewFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	usual := filepath.Join(dir, "usual")
	out := filepath.Join(dir, "out")
	f, err := os.OpenFile(usual, os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	write := func(w io.Writer) error { _, failed := io.WriteString(w, "x"); return failed }
	if failed := WriteWhole(&Streams{}, out, write); failed != nil {
		t.Fatal(failed)
	}
	want, err := os.Stat(usual)
	got, err2 := os.Stat(out)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if got.Mode() != want.Mode() {
		t.Errorf("the output has %v, a new file %v", got.Mode(), want.Mode())
	}
}

func TestPathsArePrintedOnce(t *testing.T) {
	t.Parallel()
	missing := &fs.PathError{Op: "open", Path: "a/b", Err: fs.ErrNotExist}
	for want, err := range map[string]error{
		"open a/b: file does not exist":                                       missing,
		"read catalog: open a/b: file does not exist":                         fmt.Errorf("read catalog: %w", missing),
		"read a/b: file does not exist":                                       fmt.Errorf("read a/b: %w", missing),
		"scan: read a/b: file does not exist; again":                          fmt.Errorf("scan: read a/b: %w; again", missing),
		"read a/b: file does not exist\nclose: open a/b: file does not exist": errors.Join(fmt.Errorf("read a/b: %w", missing), fmt.Errorf("close: %w", missing)),
	} {
		if got := withoutRepeats(err); got != want {
			t.Errorf("%q is printed as %q, want %q", err, got, want)
		}
	}
}
