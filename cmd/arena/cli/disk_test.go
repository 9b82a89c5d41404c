package cli

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// TestAFullDiskIsHintedAt whatever else was hinted at.
func TestAFullDiskIsHintedAt(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	code := printError(&b, Failed(fmt.Errorf("build index: %w", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), "look at the catalogue"))
	if code != ExitFailure || !strings.Contains(b.String(), "hint: free some of the disk") {
		t.Errorf("%d %s", code, b.String())
	}
}
