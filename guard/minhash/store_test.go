package minhash

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func day(name string, n int) *Index {
	x := &Index{}
	for i := range n {
		sig := Sign(fmt.Sprintf("one document of some length that is number %d of its day and differs from the others", i))
		x.Add(fmt.Sprintf("%s/%d", name, i), sig.Pack())
	}
	return x
}

func TestIndexAppendsDays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "signatures")
	for _, name := range []string{"monday", "tuesday"} {
		if err := day(name, 50).Append(path); err != nil {
			t.Fatal(err)
		}
	}
	x, err := ReadIndex(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Names) != 100 || x.Names[50] != "tuesday/0" || x.Signatures[50] != x.Signatures[0] {
		t.Fatalf("%d documents, %q", len(x.Names), x.Names[min(50, len(x.Names)-1)])
	}
	c, err := x.Cluster(Long())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if c.Root[i] != c.Root[i+50] {
			t.Errorf("document %d and its copy of the next day are apart", i)
		}
	}
}

func TestReadIndexRejectsInvalid(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "signatures")
	if err := day("monday", 3).Append(path); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped, older := slices.Clone(good), slices.Clone(good)
	for i := len(flipped) - 60; ; i-- {
		if c := flipped[i]; c >= 'a' && c < 'z' {
			flipped[i]++
			break
		}
	}
	older = bytes.Replace(older, []byte(`"version":2`), []byte(`"version":1`), 1)
	for name, c := range map[string]struct {
		bytes []byte
		want  error
	}{
		"torn":     {good[:len(good)-7], ErrTorn},
		"flipped":  {flipped, ErrTorn},
		"version":  {older, ErrVersion},
		"stranger": {[]byte("{\"id\":1}\n and more than a header holds"), ErrVersion},
	} {
		bad := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(bad, c.bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadIndex(bad); !errors.Is(err, c.want) {
			t.Errorf("%s: read gives %v", name, err)
		}
		if err := day("tuesday", 1).Append(bad); !errors.Is(err, c.want) {
			t.Errorf("%s: append gives %v", name, err)
		}
		if after, _ := os.ReadFile(bad); !bytes.Equal(after, c.bytes) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

func FuzzReadIndexNeverPanics(f *testing.F) {
	path := filepath.Join(f.TempDir(), "signatures")
	if err := day("d", 2).Append(path); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, file []byte) {
		x := &Index{}
		if err := x.read(bytes.NewReader(file)); err == nil && len(x.Names) != len(x.Signatures) {
			t.Fatal("names without signatures")
		}
	})
}
