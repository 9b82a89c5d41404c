package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func fill(t *testing.T, path string, start, end int) {
	t.Helper()
	j, _, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := start; i < end; i++ {
		if _, err := j.Append(Key{uint32(i), 1}, content(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func content(i int) []byte { return bytes.Repeat([]byte(fmt.Sprint(i, " ")), i) }

// TestATornEndIsCutOff truncates a journal after every byte: all entries before the cut are there,
// and new entries are appended after them.
func TestATornEndIsCutOff(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	fill(t, path, 0, 5)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(text) {
		if err := os.WriteFile(path, text[:cut], 0o600); err != nil {
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

// FuzzAnyFileBecomesAJournal holds for any content of the file that each listed entry can be read
// or has an error, and that an entry can be added.
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
	content, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add(bytes.Repeat([]byte{0xff}, 40))
	f.Add(append(bytes.Clone(content), content[:20]...))
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

// full is a file on a disk that is full from some sync on.
type full struct {
	*os.File
	syncs int
}

var errFull = errors.New("no space left on device")

func (f *full) Sync() error {
	if f.syncs--; f.syncs < 0 {
		return errFull
	}
	return f.File.Sync()
}

// TestAFailedSyncEndsTheJournal checks that entries synced before a failure are kept, and that no
// entry is accepted after it.
func TestAFailedSyncEndsTheJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	fill(t, path, 0, 2)
	j, _, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	file, ok := j.file.(*os.File)
	if !ok {
		t.Fatal("a journal is no file")
	}
	j.file = &full{file, 1}
	for i := 2; i < 4; i++ {
		if _, err = j.Append(Key{uint32(i), 1}, content(i)); err != nil {
			t.Fatal(err)
		}
		if err = j.Sync(); (i == 3) != errors.Is(err, errFull) {
			t.Errorf("sync after entry %d: %v", i, err)
		}
	}
	if err = j.Sync(); !errors.Is(err, errFull) {
		t.Errorf("a second sync returned %v", err)
	}
	if _, err = j.Append(Key{4, 1}, content(4)); !errors.Is(err, errFull) {
		t.Errorf("append after a failed sync: %v", err)
	}
	if err = j.Close(); err != nil {
		t.Errorf("the failure is returned again: %v", err)
	}
	j, entries, err := Open(path)
	if err != nil || len(entries) < 3 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for i, e := range entries {
		if got, err := j.Read(e); err != nil || !bytes.Equal(got, content(i)) {
			t.Errorf("entry %d is %q, %v", i, got, err)
		}
	}
	fillFrom := len(entries)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	fill(t, path, fillFrom, fillFrom+1)
}

// slow is a file whose syncs wait until they are let through.
type slow struct {
	*os.File
	started, through chan struct{}
}

func (s *slow) Sync() error {
	s.started <- struct{}{}
	<-s.through
	return s.File.Sync()
}

// TestASyncWaitsForTheDisk checks that a sync also waits if another one is under way: an entry that
// was appended before it may not be on the disk yet.
func TestASyncWaitsForTheDisk(t *testing.T) {
	t.Parallel()
	j, _, err := Open(filepath.Join(t.TempDir(), "j"))
	if err != nil {
		t.Fatal(err)
	}
	file, _ := j.file.(*os.File)
	s := &slow{file, make(chan struct{}, 2), make(chan struct{})}
	j.file = s
	done := make(chan error, 2)
	for i := range 2 {
		if _, err = j.Append(Key{uint32(i), 1}, content(i)); err != nil {
			t.Fatal(err)
		}
		go func() { done <- j.Sync() }()
	}
	<-s.started
	select {
	case err := <-done:
		t.Errorf("a sync ended before the disk's, %v", err)
	default:
	}
	close(s.through)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// TestCloseReportsItsOwnSync checks Close with entries that were not synced before.
func TestCloseReportsItsOwnSync(t *testing.T) {
	t.Parallel()
	j, _, err := Open(filepath.Join(t.TempDir(), "j"))
	if err != nil {
		t.Fatal(err)
	}
	file, _ := j.file.(*os.File)
	j.file = &full{file, 0}
	if _, err = j.Append(Key{1, 1}, content(1)); err != nil {
		t.Fatal(err)
	}
	if err = j.Close(); !errors.Is(err, errFull) {
		t.Errorf("close: %v", err)
	}
}
