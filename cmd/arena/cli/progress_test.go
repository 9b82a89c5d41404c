package cli

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// TestALineOfATerminal checks the progress line of a terminal: each print overwrites the one
// before, is no wider than the terminal, and is erased at the end. The text passes through the
// redactor, and the control sequences that move the cursor remain.
func TestALineOfATerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		l := &Line{w: redactingWriter{&b}, terminal: &b, columns: 12}
		l.Clear()
		for _, text := range []string{"0 of 10 rollouts", "too soon", "1 \x1b of 10"} {
			l.Show(func(time.Time) string { return text })
			time.Sleep(freshEvery * 2 / 3)
		}
		l.Clear()
		if want := toStart + "0 of 10 rol" + toStart + `1 \x1b of 10` + toStart; b.String() != want {
			t.Errorf("%q, want %q", b.String(), want)
		}
	})
}
