package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestExamplesRunAsPrinted runs the example of every help page with a shell, all lines of a page in
// order, in a folder with the files of a clone. Commands that listen at a fixed address are left
// out, since tests share their machine. Without the tag long it runs every sixteenth page.
func TestExamplesRunAsPrinted(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short, under which the commands' own scripts run")
	}
	dir := t.TempDir()
	pages := 0
	eachCommand(newRoot(&cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}), func(c *cobra.Command) {
		if !c.HasExample() || strings.Contains(c.Example, "--serve") || strings.Contains(c.Example, "--listen") {
			return
		}
		if pages++; pages%16 > 0 && !longtest.Tests {
			return
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "_")
		offline, _, _ := strings.Cut(c.Example, "# with a server")
		page := fmt.Sprintf("symlink testdata -> $REPO/testdata\nsymlink shop -> $REPO/shop\nexec sh -e page\n-- page --\n%s\n", offline)
		if err := os.WriteFile(filepath.Join(dir, name+".txtar"), []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	testscript.Run(t, testscript.Params{Dir: dir, Setup: func(e *testscript.Env) error {
		root, err := os.Getwd()
		e.Setenv("REPO", root+"/../..")
		return err
	}})
}
