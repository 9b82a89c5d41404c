package cli

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// TestAFullDiskIsHintedAt checks that an error for a full disk prints the hint about disk space,
// even if the command has set another hint.
func TestAFullDiskIsHintedAt(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	code := printError(&b, Failed(fmt.Errorf("build index: %w", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), "look at the catalogue"))
	if code != ExitFailure || !strings.Contains(b.String(), "hint: free some of the disk") {
		t.Errorf("%d %s", code, b.String())
	}
}
