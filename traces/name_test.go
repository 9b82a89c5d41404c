package traces

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
)

// TestAFileWithoutARunIsARun holds that the content of a file names its run, not its path.
func TestAFileWithoutARunIsARun(t *testing.T) {
	t.Parallel()
	day := t.TempDir()
	write(t, filepath.Join(day, "a.jsonl"), line("p"))
	write(t, filepath.Join(day, "sub", "b.jsonl"), line("p"))
	write(t, filepath.Join(day, "c.jsonl"), strings.Replace(line("p"), "SUCCESS", "FAILED", 1))
	write(t, filepath.Join(day, "run=r", "d.jsonl"), line("p"))
	attempts, faults, _ := readAll(t, day, Defaults())
	if len(attempts) != 4 || len(faults) != 0 {
		t.Fatalf("%d traces, faults %v", len(attempts), faults)
	}
	a := attempts[0]
	c := attempts[1]
	r := attempts[2]
	b := attempts[3]
	if a.RunID != b.RunID || a.ID != b.ID || a.RunID != "file-"+a.Source.FileSHA256[:16] {
		t.Errorf("one content is in runs %q and %q", a.RunID, b.RunID)
	}
	if c.RunID == a.RunID || r.ID != "r/p" {
		t.Errorf("other content is in run %q, and r/p is %q", c.RunID, r.ID)
	}
	for _, x := range readTextOfStdin(t, line("p")) {
		if x.ID != "stdin/p" {
			t.Errorf("standard input has the id %q", x.ID)
		}
	}
	configured, _, _ := readAll(t, day, named())
	for _, x := range configured[:2] {
		if x.ID != "stdin/p" {
			t.Errorf("a named run has the id %q", x.ID)
		}
	}
}

// TestAttemptsOfAFileAreNumbered checks that a file whose run nobody names may have several attempts
// at one problem: a copy of a record keeps its id, and a named run has one attempt at a problem.
func TestAttemptsOfAFileAreNumbered(t *testing.T) {
	t.Parallel()
	other := strings.Replace(line("p"), "SUCCESS", "FAILED", 1)
	third := strings.Replace(other, "3.25", "3.5", 1)
	text := line("p") + "\n" + other + "\n" + line("p") + "\n" + third + "\n" + other + "\n" + line("q") + "\n"
	var got []string
	for _, x := range readTextOfStdin(t, text) {
		got = append(got, x.ID)
	}
	diff(t, []string{"stdin/p", "stdin-attempt-2/p", "stdin/p", "stdin-attempt-3/p", "stdin-attempt-2/p", "stdin/q"}, got)

	day := t.TempDir()
	write(t, filepath.Join(day, "run=r", "a.jsonl"), text)
	attempts, _, _ := readAll(t, day, Defaults())
	for _, x := range attempts {
		if strings.Contains(x.ID, "attempt") {
			t.Errorf("a named run has the id %q", x.ID)
		}
	}
}

func readTextOfStdin(t *testing.T, text string) (attempts []*arena.Trace) {
	t.Helper()
	var input Input
	if err := input.Spool(t.Context(), strings.NewReader(text), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), input, Defaults(), func(i Item) error {
		attempts = append(attempts, i.Trace)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return attempts
}

func TestCollisionsAreNoCopies(t *testing.T) {
	t.Parallel()
	var c Collisions
	for i, x := range []struct {
		id, record string
		want       bool
	}{{"r/p", "1", false}, {"r/p", "1", false}, {"r/q", "2", false}, {"r/p", "2", true}, {"r/p", "3", true}, {"r/p", "1", false}} {
		if got := c.Add(x.id, x.record); got != x.want {
			t.Errorf("attempt %d: %v", i, got)
		}
	}
}

// TestAFileThatEndsEarlyIsReported checks each form in which a file can be truncated, and that
// other damage is not reported as truncation.
func TestAFileThatEndsEarlyIsReported(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(line("p")+"\n", 3)
	half := func(s string) string { return s[:len(s)*5/6] }
	list := "[" + strings.TrimSuffix(strings.Join(strings.Split(text, "\n"), ","), ",") + "]"
	list = strings.ReplaceAll(list, ",]", "]")
	for name, c := range map[string]struct {
		text string
		cut  bool
	}{
		"whole": {text, false}, "cut": {half(text), true}, "cut list": {half(list), true}, "whole list": {list, false},
		"cut gzip": {half(packed(t, text)), true}, "bad line": {"{]\n" + text, false}, "cut line within": {half(line("p")) + "\n" + text, false},
		"foreign": {"PAR1" + text, false},
	} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, sum := readAll(t, path, Defaults())
		if sum.Cut != c.cut {
			t.Errorf("%s: %+v", name, sum)
		}
	}
}

func TestTallyCountsWhatIsLostAtTheWorst(t *testing.T) {
	t.Parallel()
	var sum Tally
	sum.Add(Summary{Traces: 89, Faults: 1})
	if got := sum.UnreadableShare(); got != 1.0/90 || sum.CheckShare(0.02) != nil || sum.CheckShare(0.01) == nil {
		t.Errorf("share %v, %v", got, sum.CheckShare(0.01))
	}
	sum.Add(Summary{Traces: 9, Faults: 1, Cut: true})
	if got := sum.UnreadableShare(); got != 0.11 {
		t.Errorf("share %v with a file that ended early", got)
	}
	if empty := (&Tally{}); empty.CheckShare(0) != nil {
		t.Error("nothing is too much")
	}
}
