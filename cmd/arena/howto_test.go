package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/internal/loopback"
)

// TestHowTosRunAsPrinted runs the sh blocks of each how-to in order, in a folder that has the files
// of a clone. It leaves out the pages that need a server at a fixed address. A test server at its
// own address replaces the server that the other pages start. Without the tag long it runs every
// third page.
func TestHowTosRunAsPrinted(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short, under which the commands' own scripts run")
	}
	pages, err := filepath.Glob("../../docs/how-to/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	dir := t.TempDir()
	for i := 0; i < len(pages); i += longtest.Pick(1, 3) {
		page := pages[i]
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "127.0.0.1:8090") {
			continue // needs a server at a fixed address and trainers: .ci/interop paste runs it
		}
		var commands strings.Builder
		for i, block := range strings.Split(string(b), "```sh\n") {
			if i > 0 {
				block, _, _ = strings.Cut(block, "```")
				commands.WriteString(block)
			}
		}
		words := strings.NewReplacer("go build -o modelserver ./bench/modelserver\n", "", "./modelserver -day testdata/day", "model-server",
			"go run ./bench/modelserver -day testdata/day", "model-server", "127.0.0.1:8000", loopback.Free(t), "127.0.0.1:8001", loopback.Free(t)).Replace(commands.String())
		name := strings.TrimSuffix(filepath.Base(page), ".md")
		script := fmt.Sprintf("symlink testdata -> $REPO/testdata\nexec sh -e page\n-- page --\n%s\n", words)
		if err := os.WriteFile(filepath.Join(dir, name+".txtar"), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{Dir: dir, Setup: func(e *testscript.Env) error {
		root, err := os.Getwd()
		e.Setenv("REPO", root+"/../..")
		return err
	}})
}
