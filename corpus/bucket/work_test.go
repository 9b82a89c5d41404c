package bucket_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/bucket"
)

// mirror is one process with a work folder in a bucket: units are folders below units, and plan is
// a file.
type mirror struct {
	*bucket.Work
	t   *testing.T
	dir string
}

func sitAt(t *testing.T, b *bucket.Bucket) mirror {
	t.Helper()
	d := mirror{t: t, dir: t.TempDir()}
	d.Work = bucket.NewWork(context.Background(), b, d.dir, func(rel string) (string, bool) {
		names := strings.Split(rel, "/")
		switch {
		case names[0] == "plan":
			return "plan", true
		case names[0] == "units" && len(names) > 1:
			return "units/" + names[1], true
		default:
			return "", names[0] == "units"
		}
	})
	return d
}

func (d mirror) path(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

func (d mirror) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// put writes a file and uploads it, or the folder that contains it, to dst.
func (d mirror) put(dst, file, text string) {
	d.t.Helper()
	building := d.path("making")
	d.must(os.MkdirAll(filepath.Dir(filepath.Join(building, file)), 0o755))
	d.must(os.WriteFile(filepath.Join(building, file), []byte(text), 0o600))
	if dst == file {
		building = filepath.Join(building, file)
	}
	d.must(os.MkdirAll(filepath.Dir(d.path(dst)), 0o755))
	d.must(d.Rename(building, d.path(dst)))
}

// holds reads a file; none where it is missing.
func (d mirror) holds(name string) string {
	d.t.Helper()
	b, err := corpus.ReadFile(d, d.path(name), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return "none"
	}
	d.must(err)
	return string(b)
}

func TestBothTwinsReadTheFirst(t *testing.T) {
	for kind, name := range stores(t) {
		b := open(t, name)
		one := sitAt(t, b)
		two := sitAt(t, b)
		late := sitAt(t, b)
		if got := late.holds("units/a/deep/x"); got != "none" {
			t.Errorf("%s: before any: %s", kind, got)
		}
		one.put("units/a", "deep/x", "first")
		two.put("units/a", "deep/x", "second")
		one.put("plan", "plan", "old")
		two.put("plan", "plan", "new")
		for _, d := range []mirror{one, two, late} {
			if got := d.holds("units/a/deep/x"); got != "first" {
				t.Errorf("%s: %s", kind, got)
			}
			if got := d.holds("units/a/deep/y"); got != "none" {
				t.Errorf("%s: a file that is in no unit: %s", kind, got)
			}
		}
		if got := late.holds("plan"); got != "new" {
			t.Errorf("%s: the plan is %s", kind, got)
		}
		// a process that has read the old file reads the new one
		one.put("plan", "plan", "newer")
		for _, d := range []mirror{one, two, late} {
			if got := d.holds("plan"); got != "newer" {
				t.Errorf("%s: after another process replaced it, the plan is %s", kind, got)
			}
		}
		two.must(two.RemoveAll(two.path("plan")))
		if got := late.holds("plan"); got != "none" {
			t.Errorf("%s: after another process removed it, the plan is %s", kind, got)
		}
		two.put("plan", "plan", "new")
		entries, err := late.ReadDir(late.path("units"))
		if err != nil || len(entries) != 1 || entries[0].Name() != "a" {
			t.Errorf("%s: %v %v", kind, entries, err)
		}
		// a unit is made again
		late.must(late.RemoveAll(late.path("units/a")))
		late.put("units/a", "deep/x", "third")
		if again := sitAt(t, b); again.holds("units/a/deep/x") != "third" {
			t.Errorf("%s: made again: %s", kind, again.holds("units/a/deep/x"))
		}
		late.must(late.RemoveAll(late.path("units")))
		if again := sitAt(t, b); again.holds("units/a/deep/x") != "none" || again.holds("plan") != "new" {
			t.Errorf("%s: a removed folder is there", kind)
		}
	}
}

// TestHalvesInABucketAreNoUnit damages the objects of a bucket, which are files of a folder in this
// test. A damaged unit does not count as written.
func TestHalvesInABucketAreNoUnit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := open(t, "file://"+filepath.ToSlash(dir))
	lies := func() (leftovers []string) {
		t.Helper()
		err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				leftovers = append(leftovers, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return leftovers
	}
	one := sitAt(t, b)
	one.put("units/a", "x", "whole")
	leftovers := lies()
	marker := slices.IndexFunc(leftovers, func(name string) bool { return filepath.Base(name) == "marker.json" })
	if len(leftovers) != 2 || marker < 0 {
		t.Fatalf("in the bucket: %v", leftovers)
	}
	one.must(os.WriteFile(leftovers[marker], []byte(`{"x":"`), 0o600))
	two := sitAt(t, b)
	if got := two.holds("units/a/x"); got != "none" {
		t.Errorf("got %s for half a marker", got)
	}
	two.put("units/a", "x", "again")
	if got := sitAt(t, b).holds("units/a/x"); got != "again" {
		t.Errorf("over half a marker: %s", got)
	}
	if two.must(two.Sweep()); len(lies()) != 2 {
		t.Errorf("left over: %v", lies())
	}
	for _, name := range lies() {
		if filepath.Base(name) != "marker.json" {
			one.must(os.WriteFile(name, []byte("agai"), 0o600))
		}
	}
	late := sitAt(t, b)
	if _, err := corpus.ReadFile(late, late.path("units/a/x"), 1<<20); err == nil || !strings.Contains(err.Error(), "does not hold what its name says") {
		t.Errorf("got %v for half an object", err)
	}
	next := sitAt(t, b)
	if got := next.holds("units/a/x"); got != "none" {
		t.Errorf("after half an object was met: %s", got)
	}
	next.put("units/a", "x", "again")
	if got := sitAt(t, b).holds("units/a/x"); got != "again" {
		t.Errorf("over half an object: %s", got)
	}
}
