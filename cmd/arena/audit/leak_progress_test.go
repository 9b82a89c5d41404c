package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/cli/clitest"
	"github.com/trajectory-arena/arena/guard/rows"
)

func TestRowsThatAreReadAreTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(path, []byte(strings.Repeat("{\"text\":\"a\"}\n", 3)), 0o600); err != nil {
		t.Fatal(err)
	}
	told := clitest.Slowly(t, func(d *cli.Display, wait func()) error {
		return eachCandidate("leak", []string{path}, nil, d, func(rows.Row) error { wait(); return nil })
	})
	if want := "leak: 0 of 1 files, 0 MB/s as stored, 2 rows, 0.2 a second\n"; !strings.HasPrefix(told, want) {
		t.Errorf("told %q, want %q first", told, want)
	}
}
