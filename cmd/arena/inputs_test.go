package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
)

// TestPathsThatAreNotThereAreWrongUsage holds that every command that reads ends with the same exit
// code where its input is missing, before it writes anything, and that an input that exists but
// cannot be used is a failure.
func TestPathsThatAreNotThereAreWrongUsage(t *testing.T) {
	day, err := filepath.Abs(testDay)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	buildTestDay(t, "corpus")
	for _, c := range []struct {
		code int
		args string
	}{
		{cli.ExitUsage, "build absent -o out"},
		{cli.ExitUsage, "filter absent -o out"},
		{cli.ExitUsage, "score absent -o out"},
		{cli.ExitUsage, "judge absent -o out"},
		{cli.ExitUsage, "convert absent --to atif -o out"},
		{cli.ExitUsage, "import absent -o out --unguarded"},
		{cli.ExitUsage, "import corpus --held-out=absent -o out"},
		{cli.ExitUsage, "export absent -p text -o out"},
		{cli.ExitUsage, "export file://" + folder + "/absent -p text -o out"},
		{cli.ExitUsage, "verify absent"},
		{cli.ExitUsage, "verify file://" + folder + "/absent"},
		{cli.ExitUsage, "inspect absent/x.parquet"},
		{cli.ExitUsage, "inspect file://" + folder + "/absent/x.parquet"},
		{cli.ExitUsage, "mix absent:1 -o out"},
		{cli.ExitUsage, "leak --held-out absent corpus -o out"},
		{cli.ExitUsage, "leak --held-out corpus absent -o out"},
		{cli.ExitUsage, "dedup absent -o out"},
		{cli.ExitUsage, "agreement absent absent"},
		{cli.ExitUsage, "results absent -o out"},
		{cli.ExitFailure, "export " + day + " -p text -o out"},
		{cli.ExitFailure, "verify " + day},
		{cli.ExitFailure, "inspect " + day},
		{cli.ExitFailure, "filter " + day + " -o absent/out"},
	} {
		output, code := runOutput(strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(output, "arena: hint: ") {
			t.Errorf("arena %s: exit %d, want %d: %s", c.args, code, c.code, output)
		}
	}
	for _, name := range []string{"out", ".out.parts", "absent"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was left", name)
		}
	}
}
