package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"arena":        main,
		"model-server": modelServer,
	})
}

// TestScripts runs every command as its user would, one behaviour a file.
func TestScripts(t *testing.T) {
	files := scripts(t, "testdata/script", "build_jobs", "build_stdin", "dedup_lines", "export_jobs", "export_redact", "filter_explain", "filter_lines",
		"judge_gates", "judge_probe", "leak_lines", "log_format", "mix_two", "score_lines", "shop_call")
	testscript.Run(t, testscript.Params{Files: files, Setup: func(e *testscript.Env) error {
		root, err := os.Getwd()
		e.Setenv("REPO", root+"/../..")
		return err
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
