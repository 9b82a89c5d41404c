package arena_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/trajectory-arena/arena"
)

func TestLinesHaveTheirNumberAndPlace(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 70_000)
	text := "one\n\n \t\r\n  two \r\n" + long + "\nlast"
	var numbers []int
	var texts []string
	for l, err := range arena.Lines(iotest.HalfReader(strings.NewReader(text)), 1<<20) {
		if err != nil {
			t.Fatal(err)
		}
		if got := text[l.Offset:][:len(l.Text)]; got != string(l.Text) {
			t.Errorf("line %d: the text at its offset is %.20q", l.Number, got)
		}
		numbers, texts = append(numbers, l.Number), append(texts, string(l.Text))
	}
	if !slices.Equal(numbers, []int{1, 4, 5, 6}) || !slices.Equal(texts, []string{"one", "two", long, "last"}) {
		t.Errorf("lines %v", numbers)
	}
}

func TestLinesEndWithTheirError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"good\n" + strings.Repeat("x", 101):              "line 2: longer than 100 bytes",
		"good\n" + strings.Repeat("x", 1<<17) + "\nrest": "line 2: longer than 100 bytes",
	} {
		if err := lastError(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
	broken := io.MultiReader(strings.NewReader("good\nhal"), iotest.ErrReader(errors.New("disk")))
	if err := lastError(broken); err == nil || err.Error() != "line 2: disk" {
		t.Errorf("broken reader: %v", err)
	}
}

func lastError(r io.Reader) (last error) {
	for _, err := range arena.Lines(r, 100) {
		last = err
	}
	return last
}
