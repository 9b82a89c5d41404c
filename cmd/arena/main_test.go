package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"arena":        main,
		"model-server": modelServer,
	})
}

// TestScripts runs every command as its user would, one behaviour a file. Those
// that begin with the corpus of the sample day get a copy by "sample DIR": it is
// built once for all.
func TestScripts(t *testing.T) {
	sample := filepath.Join(t.TempDir(), "corpus")
	must(t, cli.ExitOK, "build", testDay, "-o", sample, "-q")
	files := scripts(t, "testdata/script", "build_jobs", "build_stdin", "dedup_lines", "export_jobs", "export_redact", "filter_explain", "filter_lines",
		"judge_gates", "judge_probe", "leak_lines", "log_format", "mix_two", "score_lines", "shop_call")
	testscript.Run(t, testscript.Params{Files: files, Setup: func(e *testscript.Env) error {
		root, err := os.Getwd()
		e.Setenv("REPO", root+"/../..")
		if other := otherBuild(); other != "" {
			e.Setenv("PATH", filepath.Dir(other)+string(filepath.ListSeparator)+e.Getenv("PATH"))
		}
		return err
	}, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"sample": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS(sample)))
		},
	}})
}

// scripts are the scripts in dir; with -short, as the race detector runs them,
// those of commands that do several things at once.
func scripts(t *testing.T, dir string, short ...string) []string {
	t.Helper()
	if !testing.Short() {
		short = []string{"*"}
	}
	var files []string
	for _, name := range short {
		found, err := filepath.Glob(filepath.Join(dir, name+".txtar"))
		if err != nil || len(found) == 0 {
			t.Fatalf("no script %s, %v", name, err)
		}
		files = append(files, found...)
	}
	return files
}
