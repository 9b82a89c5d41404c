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

// appendDay appends the documents of a day to the index file at path.
func appendDay(path string, today *Index) error {
	x, err := ReadIndexFile(path)
	if err != nil {
		return err
	}
	return x.Append(today)
}

func readIndex(t *testing.T, path string) *Index {
	t.Helper()
	x, err := ReadIndexFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return x.Before(nil)
}

func TestIndexAppendsDays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "signatures")
	for i, name := range []string{"monday", "tuesday"} {
		if err := appendDay(path, day(name, 50+i)); err != nil {
			t.Fatal(err)
		}
	}
	x := readIndex(t, path)
	if len(x.Names) != 101 || x.Names[50] != "tuesday/0" || x.Signatures[50] != x.Signatures[0] {
		t.Fatalf("%d documents, %q", len(x.Names), x.Names[min(50, len(x.Names)-1)])
	}
	c, err := x.Cluster(Long())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if c.Root[i] != c.Root[i+50] {
			t.Errorf("document %d and its copy of the next day are in two clusters", i)
		}
	}
}

// TestIndexHoldsARunOnce holds that a run which is repeated adds nothing, and compares its texts
// with the documents that were there before it.
func TestIndexHoldsARunOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "signatures")
	for _, n := range []int{5, 6, 7, 6} {
		if err := appendDay(path, day("day", n)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(readIndex(t, path).Names); n != 18 {
		t.Errorf("%d documents, want 18", n)
	}
	x, err := ReadIndexFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(x.Before(day("day", 6).Signatures).Names); n != 5 {
		t.Errorf("the repeated run is compared with %d documents, want 5", n)
	}
}

// TestIndexSurvivesATornBlock truncates an index after every byte of its last block, as a kill
// does. The earlier block is read, and the next run appends after it.
func TestIndexSurvivesATornBlock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "signatures")
	if err := appendDay(path, day("monday", 2)); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err = appendDay(path, day("tuesday", 3)); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ends := [][]byte{append(slices.Clone(first), make([]byte, 100)...)} // zeros after a crash of the machine
	for cut := len(first); cut < len(content); cut++ {
		ends = append(ends, content[:cut])
	}
	for _, torn := range ends {
		if err = os.WriteFile(path, torn, 0o600); err != nil {
			t.Fatal(err)
		}
		if n := len(readIndex(t, path).Names); n != 2 {
			t.Fatalf("%d bytes: %d documents, want 2", len(torn), n)
		}
		if err = appendDay(path, day("tuesday", 3)); err != nil {
			t.Fatal(err)
		}
		if again, _ := os.ReadFile(path); !bytes.Equal(again, content) {
			t.Fatalf("%d bytes: the next run leaves another file", len(torn))
		}
	}
}

func TestReadIndexRejectsInvalid(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "signatures")
	if err := appendDay(path, day("monday", 3)); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(good)
	for i := len(flipped) - 60; ; i-- {
		if c := flipped[i]; c >= 'a' && c < 'z' {
			flipped[i]++
			break
		}
	}
	older := bytes.Replace(good, []byte(`"version":2`), []byte(`"version":1`), 1)
	for name, c := range map[string]struct {
		bytes []byte
		want  error
	}{
		"flipped":         {flipped, ErrDamaged},
		"cut in a line":   {append(good[:len(good)-7:len(good)-7], '\n'), ErrDamaged},
		"version":         {older, ErrVersion},
		"stranger":        {[]byte("{\"id\":1}\n and more than a header holds"), ErrVersion},
		"stranger's line": {[]byte("words without an end of line"), ErrVersion},
	} {
		bad := filepath.Join(t.TempDir(), "index")
		if err := os.WriteFile(bad, c.bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadIndexFile(bad); !errors.Is(err, c.want) {
			t.Errorf("%s: read returned %v", name, err)
		}
	}
}

func FuzzReadIndexNeverPanics(f *testing.F) {
	path := filepath.Join(f.TempDir(), "signatures")
	if err := appendDay(path, day("d", 2)); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, file []byte) {
		x := &IndexFile{}
		if err := x.read(bytes.NewReader(file)); err == nil && (len(x.all.Names) != len(x.all.Signatures) || x.end > int64(len(file))) {
			t.Fatalf("%d names, %d signatures, %d of %d bytes", len(x.all.Names), len(x.all.Signatures), x.end, len(file))
		}
	})
}
