package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPathsThatAreNotThereAreWrongUsage holds that every command that reads
// ends alike where its input is not there, before it writes anything, and that
// what is there and of no use is a failure.
func TestPathsThatAreNotThereAreWrongUsage(t *testing.T) {
	day, err := filepath.Abs(testDay)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if said, code := says("build", day, "-o", "corpus", "-q"); code != exitOK {
		t.Fatal(said)
	}
	for _, c := range []struct {
		code int
		args string
	}{
		{exitUsage, "build absent -o out"},
		{exitUsage, "filter absent -o out"},
		{exitUsage, "score absent -o out"},
		{exitUsage, "judge absent -o out"},
		{exitUsage, "convert absent --to atif -o out"},
		{exitUsage, "import absent -o out --unguarded"},
		{exitUsage, "import corpus --held-out=absent -o out"},
		{exitUsage, "export absent -p text -o out"},
		{exitUsage, "export file://" + here + "/absent -p text -o out"},
		{exitUsage, "verify absent"},
		{exitUsage, "verify file://" + here + "/absent"},
		{exitUsage, "inspect absent/x.parquet"},
		{exitUsage, "inspect file://" + here + "/absent/x.parquet"},
		{exitUsage, "mix absent:1 -o out"},
		{exitUsage, "leak --held-out absent corpus -o out"},
		{exitUsage, "leak --held-out corpus absent -o out"},
		{exitUsage, "dedup absent -o out"},
		{exitUsage, "agreement absent absent"},
		{exitUsage, "results absent -o out"},
		{exitFailure, "export " + day + " -p text -o out"},
		{exitFailure, "verify " + day},
		{exitFailure, "inspect " + day},
		{exitFailure, "filter " + day + " -o absent/out"},
	} {
		said, code := says(strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(said, "arena: hint: ") {
			t.Errorf("arena %s: exit %d, want %d: %s", c.args, code, c.code, said)
		}
	}
	for _, name := range []string{"out", ".out.parts", "absent"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was left", name)
		}
	}
}
