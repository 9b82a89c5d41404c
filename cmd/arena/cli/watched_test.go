package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trajectory-arena/arena/corpus"
)

func TestReadingIsReportedForTheWatchedFolderOnly(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"corpus/data/a", "corpus-not/b"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, 3<<20), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for total, want := range map[int64]string{0: "verify: 3 MB read, 0 MB/s as stored\n", 4 << 20: "verify: 3 of 4 MB, 0 MB/s as stored, 5s left\n"} {
		var out bytes.Buffer
		synctest.Test(t, func(t *testing.T) {
			d := Verbosity{}.Progress(&Streams{Err: &out})
			fsys := Watched(corpus.Disk{}, []string{filepath.Join(dir, "corpus")}, d.Reading("verify", total))
			read := func(name string) {
				if _, err := corpus.ReadFile(fsys, filepath.Join(dir, name), 1<<30); err != nil {
					t.Fatal(err)
				}
			}
			read("corpus/data/a")
			read("corpus-not/b")
			time.Sleep(PlainEvery + 5*time.Second)
			read("corpus/data/a")
			d.Done()
		})
		if first, _, _ := strings.Cut(out.String(), "\n"); first+"\n" != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	}
}
