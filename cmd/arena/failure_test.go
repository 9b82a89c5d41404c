package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestWrongPathsAreUsageAndBrokenFilesFailures runs every command that reads a file with a missing
// file and with a broken one, for each of its file arguments. A missing file is exit code 2, a
// broken file is exit code 1, and neither leaves an output. Without the tag long it runs every
// third command.
func TestWrongPathsAreUsageAndBrokenFilesFailures(t *testing.T) {
	t.Parallel()
	const texts = "../../testdata/leak/texts.jsonl"
	day := testDay
	catalog := filepath.Join(testDay, "catalog.jsonl")
	corpus := filepath.Join(t.TempDir(), "corpus")
	buildTestDay(t, corpus)
	for i, command := range []string{
		"build " + day + " -o OUT --held-out FILE",
		"build " + day + " -o OUT --bank FILE",
		"build " + day + " -o OUT --problems FILE",
		"build " + day + " -o OUT --catalog FILE",
		"build " + day + " -o OUT --judge-agreement FILE",
		"build " + day + " -o OUT --judge-probes FILE",
		"import " + day + " -o OUT --held-out FILE",
		"recipe sft --corpus " + corpus + " -o OUT --held-out FILE",
		"recipe sft --corpus FILE -o OUT",
		"mix " + corpus + " -o OUT --held-out FILE",
		"mix FILE -o OUT",
		"score " + day + " -o OUT --problems FILE",
		"score " + day + " -o OUT --catalog FILE",
		"filter " + day + " -o OUT --calibrate FILE",
		"judge FILE --probe 1 -o OUT",
		"leak --held-out FILE " + texts + " -o OUT",
		"leak --held-out " + texts + " FILE -o OUT",
		"leak bank add --pool held-out --date 2026-11-21 --by ops --state OUT FILE",
		"leak bank list --state FILE",
		"verify " + corpus + " --held-out FILE",
		"verify FILE",
		"inspect FILE",
		"dedup FILE -o OUT",
		"agreement FILE FILE -o OUT",
		"export FILE --profile text -o OUT",
		"export " + corpus + " --profile text --tokenizer FILE -o OUT",
		"compare FILE FILE",
		"results FILE -o OUT",
		"eval --endpoint http://127.0.0.1:1/v1 --model m --problems FILE --catalog " + catalog + " -o OUT",
		"eval --endpoint http://127.0.0.1:1/v1 --model m --problems " + day + "/problems.jsonl --catalog FILE -o OUT",
		"import FILE --unguarded -o OUT",
		"convert FILE --to atif -o OUT",
		"filter FILE -o OUT",
		"publish FILE -o OUT",
		"label FILE -o OUT",
		"label score FILE FILE --weighed OUT",
		"explain FILE run/problem -o OUT",
		"drift FILE --against " + corpus + " -o OUT",
		"drift " + corpus + " --against FILE -o OUT",
		"race verify --from FILE -o OUT",
		"build " + day + " --problems FILE -o none --plan OUT",
		"env reward " + day + " --problems FILE --catalog " + catalog + " -o OUT",
		"env serve --problems FILE --catalog " + catalog + " --unguarded --listen 127.0.0.1:0",
		"env serve --problems " + day + "/problems.jsonl --catalog " + catalog + " --bank FILE --listen 127.0.0.1:0",
		"env serve --problems " + day + "/problems.jsonl --catalog " + catalog + " --corpus FILE --listen 127.0.0.1:0",
		"shop index FILE -o OUT",
		"shop call FILE --catalog " + catalog + " -o OUT",
		"shop serve --catalog FILE --listen 127.0.0.1:0",
	} {
		if i%longtest.Pick(1, 3) > 0 {
			continue
		}
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			broken := filepath.Join(dir, "broken.jsonl")
			if err := os.WriteFile(broken, []byte(`{"id": 1, "que`), 0o600); err != nil {
				t.Fatal(err)
			}
			for file, want := range map[string]int{filepath.Join(dir, "absent.jsonl"): cli.ExitUsage, broken: cli.ExitFailure} {
				out := filepath.Join(dir, "out")
				code, _, stderr := arenaRun(strings.Fields(strings.NewReplacer("FILE", file, "OUT", out).Replace(command))...)
				if code != want || !strings.Contains(stderr, "arena: hint: ") {
					t.Errorf("exit %d, want %d: %s", code, want, stderr)
				}
				if _, err := os.Stat(out); err == nil {
					t.Errorf("%s: an output is left", filepath.Base(file))
				}
			}
		})
	}
}
