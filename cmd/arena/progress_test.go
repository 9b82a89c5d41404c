package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/traces"
)

// slowly runs work that waits at every row it reads, and gives what was told.
func slowly(t *testing.T, work func(d *display, wait func()) error) string {
	t.Helper()
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		d := noise{}.progress(&streams{err: &out})
		if err := work(d, func() { time.Sleep(plainEvery) }); err != nil {
			t.Error(err)
		}
		d.done()
	})
	return out.String()
}

func TestRowsThatAreReadAreTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(path, []byte(strings.Repeat("{\"text\":\"a\"}\n", 3)), 0o600); err != nil {
		t.Fatal(err)
	}
	told := slowly(t, func(d *display, wait func()) error {
		return eachCandidate("leak", []string{path}, nil, d, func(rows.Row) error { wait(); return nil })
	})
	if want := "leak: 0 of 1 files, 0 MB/s as stored, 2 rows, 0 a second\n"; !strings.HasPrefix(told, want) {
		t.Errorf("told %q, want %q first", told, want)
	}
}

func TestConvertTellsOfTraces(t *testing.T) {
	in, err := traces.Discover(testDay, traces.DefaultRules())
	if err != nil || len(in) == 0 {
		t.Fatal(err)
	}
	told := slowly(t, func(d *display, wait func()) error {
		d.begin("convert", 1)
		c := conversion{format: traces.FormatATIF, runID: "r", inputs: in[:1], progress: d, lost: map[traces.Loss]int{}}
		return c.each(context.Background(), func(*arena.Trace, []byte) error { wait(); return nil })
	})
	if want := "convert: 0 of 1 files, 0 MB/s as stored, 2 attempts, 0 a second\n"; !strings.HasPrefix(told, want) {
		t.Errorf("told %.200q, want %q first", told, want)
	}
}
