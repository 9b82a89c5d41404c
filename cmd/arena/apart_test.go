package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// noFiles are the flags whose words name no file.
var noFiles = []string{
	"agent", "api", "api-key-env", "appeal", "by", "chat-template-kwargs", "date", "dialect", "embeddings", "embeddings-for", "embeddings-key-env", "embeddings-model", "embeddings-prefix", "embargo", "endpoint", "explain", "extra-body", "hub", "fail-on", "failures", "field", "harness", "header", "judge", "keep",
	"license", "listen", "mcp", "mcp-key-env", "model", "name", "network", "no-call", "overflow-words", "pool", "profile", "programs", "prompt-form", "python", "race", "reasoning-effort", "release", "remote", "rules", "run-id", "search", "serve", "set", "shard", "since",
	"agreement against", "fetch run", "judge-set", "step-judge", "to", "token-env", "where", "domain",
}

// noFileArguments are the commands whose arguments name no file.
var noFileArguments = []string{"arena leak bank rotate", "arena list", "arena recipe", "arena help"}

// commands returns the runnable commands, with the global flags.
func commands(t *testing.T) (subcommands []*cobra.Command) {
	t.Helper()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, inner := range c.Commands() {
			walk(inner)
		}
		if c.Runnable() && c.HasParent() && c.Name() != "help" && c.Parent().Name() != "completion" {
			subcommands = append(subcommands, c)
		}
	}
	walk(newRoot(&cli.Streams{}))
	return subcommands
}

// noted are the flags of c with any of the notes.
func noted(c *cobra.Command, notes ...string) (names []string) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		for _, note := range notes {
			if _, noted := f.Annotations["arena_"+note]; noted {
				names = append(names, f.Name)
			}
		}
	})
	return names
}

func TestEveryFileFlagIsReadOrWritten(t *testing.T) {
	t.Parallel()
	for _, c := range commands(t) {
		files := noted(c, "reads", "writes", "replaces")
		c.Flags().VisitAll(func(f *pflag.Flag) {
			words := strings.HasPrefix(f.Value.Type(), "string")
			noFile := slices.Contains(noFiles, f.Name) || slices.Contains(noFiles, c.Name()+" "+f.Name)
			if words && slices.Contains(files, f.Name) == noFile {
				t.Errorf("%s --%s: if it names a file, pass it to Reads, Writes or Replaces; otherwise add it to noFiles", c.CommandPath(), f.Name)
			}
		})
		takesArguments := c.Args != nil && c.Args(c, nil) != nil
		if takesArguments && !slices.Contains(noFileArguments, c.CommandPath()) && c.Annotations["arena_reads"] == "" {
			t.Errorf("%s: its arguments are noted by ReadsDays or ReadsFiles", c.CommandPath())
		}
	}
}

// TestEveryCommandThatReadsAttemptsLiftsTheirLimit checks that every command that reads days, or
// rows and the days behind them, has the flag --max-record.
func TestEveryCommandThatReadsAttemptsLiftsTheirLimit(t *testing.T) {
	t.Parallel()
	again := []string{"arena explain", "arena view", "arena label", "arena leak", "arena dedup"}
	for _, c := range commands(t) {
		reads := c.Annotations["arena_reads"] == "days" || slices.Contains(again, c.CommandPath())
		if reads && c.Flags().Lookup("max-record") == nil {
			t.Errorf("%s reads attempts without --max-record", c.CommandPath())
		}
	}
}

// TestNoCommandWritesOverWhatItReads checks that every command refuses an output path that is one
// of its inputs, once as a file and once as a folder. Without the build tag long it tests every
// second command.
func TestNoCommandWritesOverWhatItReads(t *testing.T) {
	t.Parallel()
	for i, c := range commands(t) {
		if i%longtest.Pick(1, 2) > 0 {
			continue
		}
		outputs := noted(c, "writes", "replaces")
		inputs := noted(c, "reads")
		if c.Annotations["arena_reads"] != "" {
			inputs = append(inputs, "")
		}
		path := strings.Fields(c.CommandPath())[1:]
		for _, out := range outputs {
			for _, input := range inputs {
				t.Run(strings.Join(append(path, out, input), " "), func(t *testing.T) {
					t.Parallel()
					file := filepath.Join(t.TempDir(), "in.jsonl")
					put(t, file, []byte("{}\n"))
					refused(t, file, file, append(slices.Clone(path), withInputs(c, input, file, "--"+out, file)...))
					folder := t.TempDir()
					put(t, filepath.Join(folder, "in.jsonl"), []byte("{}\n"))
					inside := filepath.Join(folder, "out")
					refused(t, inside, filepath.Join(folder, "in.jsonl"), append(slices.Clone(path), withInputs(c, input, folder, "--"+out, inside)...))
				})
			}
		}
	}
}

// withInputs returns arguments that c accepts with path as the value of the flag, or as the
// argument if flag is "".
func withInputs(c *cobra.Command, flag, path string, more ...string) []string {
	args := more
	if flag != "" {
		args = append(args, "--"+flag, path)
		path = "none"
	}
	for n := 0; c.Args(c, make([]string, n)) != nil; n++ {
		args = append(args, path)
	}
	return args
}

func refused(t *testing.T, out, input string, args []string) {
	t.Helper()
	before, err := os.ReadFile(input)
	_, absent := os.Stat(out)
	if err != nil {
		t.Fatal(err)
	}
	var words strings.Builder
	code := run(t.Context(), args, strings.NewReader(""), io.Discard, &words)
	after, err := os.ReadFile(input)
	if code != cli.ExitUsage || !strings.Contains(words.String(), "write "+out+": it ") || string(after) != string(before) || err != nil {
		t.Errorf("%q: exit %d, %v: %s", args, code, err, words.String())
	}
	if _, err := os.Stat(out); absent != nil && err == nil {
		t.Errorf("%q: %s was made", args, out)
	}
}

// TestAnInputIsKnownByEveryName holds that of the files of a day, too.
func TestAnInputIsKnownByEveryName(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "day"), os.DirFS(testDay)); err != nil {
		t.Fatal(err)
	}
	compressed, err := filepath.Glob(filepath.Join(dir, "day/traces/*/*.gz"))
	if err != nil || len(compressed) == 0 {
		t.Fatal(compressed, err)
	}
	trace := compressed[0]
	link := func(name, target string, make func(target, name string) error) string {
		name = filepath.Join(dir, name)
		if err := make(target, name); err != nil {
			t.Fatal(err)
		}
		return name
	}
	linked := link("linked", filepath.Join(dir, "day"), os.Symlink)
	t.Chdir(dir)
	for _, names := range [][3]string{
		{"day", trace, trace},
		{"day", link("symbolic", trace, os.Symlink), trace},
		{"day", link("hard", trace, os.Link), trace},
		{"day", "day/problems.jsonl", "day/problems.jsonl"},
		{"day", "linked/catalog.jsonl", "day/catalog.jsonl"},
		{"day", "linked/traces/new.jsonl", trace},
		{"day", "file://" + filepath.Join(linked, "traces/new.jsonl"), trace},
		{linked, "day/traces/new/../new.jsonl", trace},
		{linked, "day/traces/../problems.jsonl", "day/problems.jsonl"},
		{"day/traces/**/*.gz", trace, trace},
		{trace, "day/../" + strings.TrimPrefix(trace, dir+"/"), trace},
	} {
		for _, command := range []string{"filter", "score", "judge"} {
			out := strings.TrimPrefix(names[1], "file://")
			refused(t, out, names[2], []string{command, names[0], "-o", names[1]})
		}
	}
	if code, _, stderr := arenaRun("filter", "day", "-q", "-o", "day/filtered.jsonl"); code != cli.ExitOK {
		t.Error("the command failed with an output next to the traces of a day: ", stderr)
	}
}

// TestTwoOutputsAreTwoFiles checks that two outputs with one path are refused, since the second
// would replace the first.
func TestTwoOutputsAreTwoFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.jsonl")
	other := filepath.Join(dir, "other.jsonl")
	put(t, rows, []byte(`{"text":"a lamp of cork"}`+"\n"))
	put(t, other, nil)
	if err := os.Link(other, filepath.Join(dir, "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	for _, second := range []string{other, filepath.Join(dir, ".", "other.jsonl"), filepath.Join(dir, "link.jsonl")} {
		var words bytes.Buffer
		code := run(t.Context(), []string{"leak", "--held-out", rows, rows, "-o", other, "--report", second}, strings.NewReader(""), &words, &words)
		if code != 2 || !strings.Contains(words.String(), "it is another output too") {
			t.Errorf("%s: %d, %s", second, code, words.String())
		}
	}
}
