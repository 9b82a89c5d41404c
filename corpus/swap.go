package corpus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/journal"
)

// ErrForeign says that a folder holds something and no corpus.
var ErrForeign = errors.New("the folder is not empty and no corpus")

// ErrStranger says that a corpus's folder holds a file that is none of the
// corpus's own: replacing the corpus would delete it.
var ErrStranger = errors.New("the corpus's manifest does not name it, and it would be deleted")

// Replaceable refuses to write over what is no corpus, and over a corpus in whose
// folder somebody keeps another file.
func Replaceable(fsys FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	manifest, err := RawManifest(fsys, dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 && manifest == nil {
		return fmt.Errorf("write corpus %s: %w", dir, ErrForeign)
	}
	listed := map[string]bool{ManifestName: true}
	for _, name := range gjson.GetBytes(manifest, "files.#.path").Array() {
		listed[name.String()] = true
	}
	return Strangers(fsys, dir, ".", listed, func(name string) error {
		return fmt.Errorf("write corpus %s: %s: %w", dir, name, ErrStranger)
	})
}

// Strangers calls found for the files under rel that are neither listed nor a
// companion, until it gives an error.
func Strangers(fsys FS, dir, rel string, listed map[string]bool, found func(name string) error) error {
	entries, err := fsys.ReadDir(filepath.Join(dir, rel))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		switch {
		case listed[name] || companion(name):
		case e.IsDir():
			err = Strangers(fsys, dir, name, listed, found)
		default:
			err = found(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// companion reports whether other programs make files of this name in a corpus's
// folder, and make them again: the Hub's tools and a desktop.
func companion(name string) bool {
	return name == ".gitattributes" || name == ".cache/huggingface" || path.Base(name) == ".DS_Store"
}

// IsCorpus reports whether a folder holds a finished corpus, of whatever version.
// Other programs call files manifest.json too: its own version decides.
func IsCorpus(fsys FS, dir string) (bool, error) {
	b, err := RawManifest(fsys, dir)
	return b != nil, err
}

// RawManifest is the manifest of a finished corpus; nil where there is none.
func RawManifest(fsys FS, dir string) ([]byte, error) {
	b, err := ReadFile(fsys, filepath.Join(dir, ManifestName), maxManifest)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !strings.HasPrefix(gjson.GetBytes(b, "version").String(), manifestFamily) {
		return nil, nil
	}
	return b, err
}

// Beside names what lies beside a corpus while it is made. What is there is
// removed, so the name is hidden: "corpus.previous" is what people call a copy.
func Beside(dir, what string) string {
	dir = filepath.Clean(dir)
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+"."+what)
}

// InParts has write make parts in a folder beside dir, and removes it.
func InParts(fsys FS, dir string, write func(work string) error) error {
	work := Beside(dir, "parts")
	return errors.Join(write(work), fsys.RemoveAll(work))
}

// Swap moves the finished folder into place. What was there before is kept
// until the new one is, and comes back if the move fails.
func Swap(fsys FS, from, to string) error {
	previous := Beside(to, "previous")
	if err := fsys.RemoveAll(previous); err != nil {
		return err
	}
	old := fsys.Rename(to, previous)
	if old != nil && !errors.Is(old, fs.ErrNotExist) {
		return old
	}
	if err := fsys.Rename(from, to); err != nil {
		if old == nil {
			err = errors.Join(err, fsys.Rename(previous, to))
		}
		return err
	}
	if err := fsys.SyncDir(filepath.Dir(to)); err != nil {
		return err
	}
	return fsys.RemoveAll(previous)
}

// ErrBusy says that another process works in the same folder.
var ErrBusy = errors.New("another run works in this folder")

// Lock keeps the making of a corpus at dir for this process until release is
// called: two would take each other's parts for leftovers. The lock lies beside
// dir, goes with release, and ends with its process at the latest. So do the
// folders that it took, where nothing else came into them.
func Lock(dir string) (release func(), err error) { return lockBeside(dir, "lock") }

// turnEvery is how long a process waits before it looks again if another one
// still assembles: that takes seconds.
const turnEvery = 100 * time.Millisecond

// Turn waits until no other process puts a corpus together at dir, and keeps others
// from it until release is called: those that write the last parts do not hold its Lock.
func Turn(ctx context.Context, dir string) (release func(), err error) {
	for {
		if release, err = lockBeside(dir, "turn"); !errors.Is(err, ErrBusy) {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(turnEvery):
		}
	}
}

// lockBeside takes a lock file that lies beside dir, and removes it on release.
func lockBeside(dir, name string) (release func(), err error) {
	path := Beside(dir, name)
	made := absent(filepath.Dir(path))
	if err = os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	for {
		held, err := Hold(path)
		if err != nil {
			return nil, err
		}
		if journal.IsAt(held, path) {
			return func() {
				_ = errors.Join(os.Remove(path), held.Unlock()) // a file that stays behind locks nothing
				for _, folder := range made {
					_ = os.Remove(folder) // that of a corpus stays, since it is not empty
				}
			}, nil
		}
		_ = held.Unlock() // who had it removed it after it was opened here
	}
}

// absent are the folders of a path that are not there, the deepest first.
func absent(path string) (folders []string) {
	for {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return folders
		}
		folders = append(folders, path)
		path = filepath.Dir(path)
	}
}

// Hold locks the file at path until its process ends, or unlocks it; ErrBusy says
// that another process has it.
func Hold(path string) (*flock.Flock, error) {
	lock := flock.New(path)
	got, err := lock.TryLock()
	if err == nil && !got {
		err = ErrBusy
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return lock, nil
}
