package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
)

// slowly is a reader and writer that takes one interval of the progress messages for each line.
// After the last line it calls end.
type slowly struct {
	lines []string
	end   func()
}

func (s *slowly) Read(b []byte) (int, error) {
	if len(s.lines) == 0 {
		s.end()
		return 0, io.EOF
	}
	time.Sleep(cli.PlainEvery)
	n := copy(b, s.lines[0])
	if s.lines[0] = s.lines[0][n:]; s.lines[0] == "" {
		s.lines = s.lines[1:]
	}
	return n, nil
}

func (s *slowly) Write(b []byte) (int, error) {
	time.Sleep(cli.PlainEvery)
	return len(b), nil
}

// TestLongWorkReportsProgress checks that the progress messages count rows while they are read and
// traces while they are written.
func TestLongWorkReportsProgress(t *testing.T) {
	t.Parallel()
	const row = `{"text":"a red mug"}` + "\n"
	files, err := filepath.Glob(filepath.Join(wholeDay, "traces", "*", "*.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		`(?m)^read: 0 of 1 files, 0 MB/s as stored, 2 rows, 0\.1 a second$`:                     {"dedup", "-"},
		`(?m)^convert: 0 of 1 files, 0 MB/s as stored, [1-9][0-9]? attempts, [0-9.]+ a second$`: {"convert", files[0], "--to", "atif"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var words strings.Builder
			slow := &slowly{lines: []string{row, row, row}, end: func() {}}
			code := run(t.Context(), append(args, "-o", "-"), slow, slow, &words)
			if code != cli.ExitOK || !regexp.MustCompile(want).MatchString(words.String()) {
				t.Errorf("exit %d, got %q, want a match of %s", code, words.String(), want)
			}
		})
	}
}

func TestCancelledDedupWritesNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	out := filepath.Join(t.TempDir(), "out")
	synctest.Test(t, func(*testing.T) {
		input := &slowly{lines: []string{`{"text":"a red mug under twenty dollars"}` + "\n"}, end: cancel} // the row itself is read
		if code := run(ctx, []string{"dedup", "-", "-o", out}, input, io.Discard, io.Discard); code != cli.ExitCancelled {
			t.Errorf("exit %d", code)
		}
	})
	if b, err := os.ReadFile(out); err == nil {
		t.Errorf("a cancelled run wrote %q", b)
	}
}
