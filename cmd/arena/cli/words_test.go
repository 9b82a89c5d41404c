package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestWordsAreFitForATerminal checks that printed text from a server or a trace cannot move the
// cursor, change the direction of the text, or show a secret, and that paths of the user's own
// folders remain readable.
func TestWordsAreFitForATerminal(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if _, err := (redactingWriter{&b}).Write([]byte("open /home/ana/day: \x1b[31mred\x1b[0m\tbell\a \u202eturned, \u009bC1, key ghp" + "_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n")); err != nil {
		t.Fatal(err)
	}
	want := `open /home/ana/day: \x1b[31mred\x1b[0m` + "\t" + `bell\a \u202eturned, \u009bC1, key [REDACTED:github-pat]` + "\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestTooFewAddressesAreRefused(t *testing.T) {
	t.Parallel()
	if err := checkAddressSpace(minAddressSpace); err != nil {
		t.Error(err)
	}
	if err := checkAddressSpace(2 << 30); err == nil || !strings.Contains(err.Error(), "limited to 2.0 GiB") {
		t.Errorf("2 GiB: %v", err)
	}
}
