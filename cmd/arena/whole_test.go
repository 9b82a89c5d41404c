package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// writers are the commands that write a folder or a file beside build, mix, stage
// and recipe, whose interrupted work is kept; each without its -o. Without the tag long
// they are three.
func writers(built, other, day string) map[string][]string {
	all := map[string][]string{
		"import":  {"import", day, "--unguarded", "-q"},
		"export":  {"export", built, "--profile", "text", "--profile", "openai-jsonl", "-q"},
		"publish": {"publish", built, "--license", "cc-by-4.0", "-q"},
		"convert": {"convert", day, "--to", "atif", "-q"},
		"sample":  {"label", built, "--n", "20"},
		"pages":   {"view", built},
		"appeal":  {"view", built, "--appeal", "5c98a2f5-25a1-40ef-ac1c-752d7ee5e25c/6ad2567c-3159-426f-a625-b7b1e77d8f9d"},
		"drift":   {"drift", built, "--against", other},
		"dedup":   {"dedup", filepath.Join(filepath.Dir(day), "leak", "texts.jsonl")},
		"filter":  {"filter", day, "-q"},
		"score":   {"score", day, "-q"},
		"judge":   {"judge", day, "-q"},
		"leak":    {"leak", filepath.Join(filepath.Dir(day), "leak", "texts.jsonl"), "--held-out", filepath.Join(day, "problems.jsonl"), "-q"},
	}
	if !longtest.Tests {
		maps.DeleteFunc(all, func(name string, _ []string) bool {
			return !slices.Contains([]string{"import", "export", "filter"}, name)
		})
	}
	return all
}

// fitsOnASmallDisk are the writers whose output is smaller than the disk of
// TestAWriterOnAFullDiskSaysSo.
var fitsOnASmallDisk = []string{"sample", "drift", "dedup", "leak"}

// corpora builds two corpora of the sample day, the second with the tag long, without
// which no writer reads it.
func corpora(t *testing.T, arena string) (built, other, day string) {
	t.Helper()
	dir := t.TempDir()
	day, err := filepath.Abs(testDay)
	if err != nil {
		t.Fatal(err)
	}
	built, other = filepath.Join(dir, "built"), filepath.Join(dir, "other")
	buildTestDay(t, built)
	if longtest.Tests {
		if b, err := exec.Command(arena, "build", day, "-o", other, "-q", "--set", "guard.seed=7").CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, b)
		}
	}
	return built, other, day
}

// contents are the hashes of all files at and below a path, by name.
func contents(t *testing.T, path string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(file)
		name, _ := filepath.Rel(path, file)
		fmt.Fprintf(&all, "%s %x\n", name, sha256.Sum256(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestAKilledWriterLeavesAllOrNothing kills each command at several moments: what it
// was to write is whole or not there, and the same command then writes all of it.
// Without the tag long it kills each once.
func TestAKilledWriterLeavesAllOrNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: the race detector hears nothing of a killed process")
	}
	t.Parallel()
	arena := program(t)
	for name, args := range writers(corpora(t, arena)) {
		dir := t.TempDir()
		to := func(out string) *exec.Cmd {
			return exec.Command(arena, append(args[:len(args):len(args)], "-o", filepath.Join(dir, out))...)
		}
		began := time.Now()
		if b, err := to("whole").CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, b)
			continue
		}
		took, whole := time.Since(began), contents(t, filepath.Join(dir, "whole"))
		killed := filepath.Join(dir, "killed")
		for i := range 4 {
			if i != 3 && !longtest.Tests {
				continue
			}
			c := to("killed")
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(took * time.Duration(i+2) / 6)
			_ = c.Process.Kill() // it may have ended already
			_ = c.Wait()         // killed, or done before
			if _, err := os.Stat(killed); err == nil && contents(t, killed) != whole {
				t.Errorf("%s: killed, it left a part under the name of the whole", name)
			}
			if err := os.RemoveAll(killed); err != nil {
				t.Fatal(err)
			}
		}
		if b, err := to("killed").CombinedOutput(); err != nil || contents(t, killed) != whole {
			t.Errorf("%s: after kills: %v, or another result\n%s", name, err, b)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 2 {
			t.Errorf("%s: beside what it wrote are left %q: %v", name, left, err)
		}
	}
}

// TestASecondWriterIsRefused runs each command while another process writes its output: it fails,
// says why, and writes nothing. Afterwards the same command succeeds.
func TestASecondWriterIsRefused(t *testing.T) {
	t.Parallel()
	for name, args := range writers(corpora(t, program(t))) {
		dir := t.TempDir()
		out := filepath.Join(dir, "out")
		args = append(args, "-o", out)
		release, err := corpus.Lock(out)
		if err != nil {
			t.Fatal(err)
		}
		code, _, words := arenaRun(args...)
		if code != cli.ExitFailure || !strings.Contains(words, "another run is writing it") || !strings.Contains(words, "hint: wait for it") {
			t.Errorf("%s: exit %d\n%s", name, code, words)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: it wrote its output beside the other process", name)
		}
		release()
		must(t, cli.ExitOK, args...)
	}
}

// TestAWriterOnAFullDiskSaysSo gives each command a disk of 32 KiB: it fails with a
// hint, and leaves nothing under the name of what it was to write.
func TestAWriterOnAFullDiskSaysSo(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("needs Linux and root, and is left out by -short: it mounts a disk")
	}
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("arena", disk, "tmpfs", 0, "size=32k"); err != nil {
		t.Skipf("no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	arena := program(t)
	for name, args := range writers(corpora(t, arena)) {
		out := filepath.Join(disk, name)
		said, err := exec.Command(arena, append(args, "-o", out)...).CombinedOutput()
		if err == nil {
			if !slices.Contains(fitsOnASmallDisk, name) {
				t.Errorf("%s fits on the disk", name)
			}
		} else if text := string(said); !strings.Contains(text, "no space left on device") || !strings.Contains(text, "hint: ") {
			t.Errorf("%s: %v: %s", name, err, text)
		} else if _, gone := os.Stat(out); gone == nil {
			t.Errorf("%s: there is something under its name", name)
		}
		entries, err := os.ReadDir(disk)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if err := os.RemoveAll(filepath.Join(disk, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
}
