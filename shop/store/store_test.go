package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, version int) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := NewWriter(f, version)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"one", "", "three"} {
		if err := WriteSection(w, "s-"+s, []byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

func TestSectionsReadBack(t *testing.T) {
	t.Parallel()
	f, err := Open(write(t, 3), 3)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, s := range []string{"one", "", "three"} {
		got, err := f.Section("s-" + s)
		if err != nil || string(got) != s {
			t.Errorf("section of %q: %q, %v", s, got, err)
		}
	}
	if _, err := f.Section("none"); err == nil {
		t.Error("a section that is not there was found")
	}
	if err := f.Verify(); err != nil {
		t.Error(err)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	t.Parallel()
	damage := func(t *testing.T, change func([]byte) []byte) string {
		path := write(t, 3)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, change(b), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cases := map[string]struct {
		path string
		want string
	}{
		"version": {write(t, 2), "another version"},
		"empty":   {damage(t, func([]byte) []byte { return nil }), "not a search index"},
		"other":   {damage(t, func(b []byte) []byte { return []byte("arenaidx and whatever stood there before") }), "not a search index"},
		"cut":     {damage(t, func(b []byte) []byte { return b[:len(b)-2] }), "was cut"},
	}
	for name, c := range cases {
		if _, err := Open(c.path, 3); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Open(write(t, 2), 3); !errors.Is(err, ErrVersion) {
		t.Errorf("another version: %v", err)
	}
	f, err := Open(damage(t, func(b []byte) []byte { b[bytes.Index(b, []byte("three"+"PK"))] ^= 1; return b }), 3)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Verify() == nil {
		t.Error("a damaged section passed")
	}
}
