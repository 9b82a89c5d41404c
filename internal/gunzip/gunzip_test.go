package gunzip_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/trajectory-arena/arena/internal/gunzip"
)

func TestReaderIgnoresZerosAfterTheEnd(t *testing.T) {
	t.Parallel()
	one := pack(t, "one")
	two := pack(t, "two")
	zeros := strings.Repeat("\x00", 5000)
	for _, test := range []struct {
		name, stored, text string
		err                error
	}{
		{"a member", one, "one", nil},
		{"two members", one + two, "onetwo", nil},
		{"zeros at the end", one + zeros, "one", nil},
		{"zeros between members", one + zeros + two, "onetwo", nil},
		{"an empty member", pack(t, "") + two, "two", nil},
		{"other bytes at the end", one + zeros + "?", "one", io.ErrUnexpectedEOF},
		{"a text at the end", one + "a text of some length", "one", gzip.ErrHeader},
		{"a member that ends early", one[:len(one)-3], "one", io.ErrUnexpectedEOF},
		{"a second member that ends early", one + two[:len(two)-3], "onetwo", io.ErrUnexpectedEOF},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, err := gunzip.NewReader(bufio.NewReader(strings.NewReader(test.stored)))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if string(text) != test.text || !errors.Is(err, test.err) {
				t.Errorf("read %q, %v; want %q, %v", text, err, test.text, test.err)
			}
		})
	}
}

func TestNewReaderRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	if _, err := gunzip.NewReader(bufio.NewReader(strings.NewReader("a text of some length"))); !errors.Is(err, gzip.ErrHeader) {
		t.Errorf("error %v, want %v", err, gzip.ErrHeader)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("\x1f\x8b"))
	f.Add([]byte(pack(f, "one") + "\x00\x00" + pack(f, "two")))
	f.Fuzz(func(_ *testing.T, stored []byte) {
		r, err := gunzip.NewReader(bufio.NewReader(bytes.NewReader(stored)))
		if err == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(r, 1<<20)) // it ends and does not panic
		}
	})
}

func pack(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
