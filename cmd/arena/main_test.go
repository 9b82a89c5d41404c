package main

import (
	"os"
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
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(e *testscript.Env) error {
		root, err := os.Getwd()
		e.Setenv("REPO", root+"/../..")
		return err
	}})
}
