package runlog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func fill(t *testing.T, path string, from, to int) {
	t.Helper()
	j, _, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := from; i < to; i++ {
		if _, err := j.Append(Key{uint32(i), 1}, content(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func content(i int) []byte { return bytes.Repeat([]byte(fmt.Sprint(i, " ")), i) }

// TestATornEndIsCutOff cuts a journal after every byte: all entries before the
// cut are there, and writing goes on behind them.
func TestATornEndIsCutOff(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	fill(t, path, 0, 5)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		j, entries, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = j.Append(Key{9, 9}, []byte("after")); err != nil {
			t.Fatal(err)
		}
		if err = j.Close(); err != nil {
			t.Fatal(err)
		}
		j, again, err := Open(path)
		if err != nil || len(again) != len(entries)+1 {
			t.Fatalf("cut at %d: %d entries after %d, %v", cut, len(again), len(entries), err)
		}
		for i, e := range again[:len(entries)] {
			if got, err := j.Read(e); err != nil || !bytes.Equal(got, content(i)) {
				t.Fatalf("cut at %d: entry %d is %q, %v", cut, i, got, err)
			}
		}
		j.Close()
	}
}

func TestADamagedEntryEndsTheJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	fill(t, path, 0, 3)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err = os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	j, entries, err := Open(path)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	j.Close()
}

func TestTheLockIsForOne(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Lock(path); err == nil {
		t.Error("the lock was taken twice")
	}
	if err = unlock(); err != nil {
		t.Fatal(err)
	}
	if unlock, err = Lock(path); err != nil {
		t.Fatal(err)
	}
	unlock()
}

// FuzzAnyFileBecomesAJournal: whatever stands in the file, what is listed can
// be read or says why not, and an entry that is added is there afterwards.
func FuzzAnyFileBecomesAJournal(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed")
	j, _, err := Open(path)
	if err != nil {
		f.Fatal(err)
	}
	if _, err = j.Append(Key{1, 2}, []byte("a turn")); err != nil {
		f.Fatal(err)
	}
	if err = j.Close(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(bytes.Repeat([]byte{0xff}, 40))
	f.Add(append(bytes.Clone(whole), whole[:20]...))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "j")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		j, entries, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		for _, e := range entries {
			if data, bad := j.Read(e); bad != nil && data != nil {
				t.Fatalf("data with an error: %v", bad)
			}
		}
		added, err := j.Append(Key{9, 9}, []byte("after"))
		if err != nil {
			t.Fatal(err)
		}
		if data, err := j.Read(added); err != nil || string(data) != "after" {
			t.Fatalf("added %q, %v", data, err)
		}
	})
}
