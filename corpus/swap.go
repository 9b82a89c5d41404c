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

// ErrNotCorpus means that a folder is neither empty nor a corpus.
var ErrNotCorpus = errors.New("the folder is not empty and no corpus")

// ErrUnlisted means that the folder of a corpus contains a file that its manifest does not list.
// Replacing the corpus would delete the file.
var ErrUnlisted = errors.New("it would be deleted")

// CheckReplaceable returns an error unless dir does not exist, is empty, or contains only a
// corpus.
func CheckReplaceable(fsys FS, dir string) error {
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
		return fmt.Errorf("write corpus %s: %w", dir, ErrNotCorpus)
	}
	listed := map[string]bool{ManifestName: true}
	for _, name := range gjson.GetBytes(manifest, "files.#.path").Array() {
		listed[name.String()] = true
	}
	return VisitUnlisted(fsys, dir, ".", listed, func(name string) error {
		return fmt.Errorf("write corpus %s: %s: the corpus's manifest does not name it, and %w", dir, name, ErrUnlisted)
	})
}

// VisitUnlisted calls visit for the files below rel that are neither listed nor created by
// common programs, until visit returns an error.
func VisitUnlisted(
	fsys FS,
	dir, rel string,
	listed map[string]bool,
	visit func(name string) error,
) error {
	entries, err := fsys.ReadDir(filepath.Join(dir, rel))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		switch {
		case listed[name] || isToolFile(name):
		case e.IsDir():
			err = VisitUnlisted(fsys, dir, name, listed, visit)
		default:
			err = visit(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isToolFile reports whether other programs create the file or folder at name, a path in the
// corpus: .gitattributes or .cache/huggingface at its top (the Hub's tools), or .DS_Store in
// any folder (macOS). These programs create their files again if they are deleted.
func isToolFile(name string) bool {
	return name == ".gitattributes" || name == ".cache/huggingface" || path.Base(name) == ".DS_Store"
}

// IsCorpus reports whether a folder contains a finished corpus of any version.
func IsCorpus(fsys FS, dir string) (bool, error) {
	b, err := RawManifest(fsys, dir)
	return b != nil, err
}

// RawManifest returns the manifest of a finished corpus, nil if there is none. Other programs
// use the file name manifest.json too, so the version in the file decides.
func RawManifest(fsys FS, dir string) ([]byte, error) {
	b, err := ReadFile(fsys, filepath.Join(dir, ManifestName), MaxManifestBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return b, err
	}
	version := gjson.GetBytes(b, "version").String()
	if !strings.HasPrefix(version, manifestFamily) {
		return nil, nil
	}
	return b, nil
}

// SiblingPath returns the path of a temporary file or folder next to dir, ".NAME.suffix". An
// existing one is removed; the dot avoids names that users give to their own copies, such as
// corpus.previous.
func SiblingPath(dir, suffix string) string {
	dir = filepath.Clean(dir)
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+"."+suffix)
}

// WithParts calls write with the path of a temporary folder for parts, next to dir, and removes
// the folder afterwards.
func WithParts(fsys FS, dir string, write func(work string) error) error {
	work := SiblingPath(dir, "parts")
	err := write(work)
	return errors.Join(err, fsys.RemoveAll(work))
}

// Swap moves the finished folder src to dst. An existing dst is removed afterwards, or restored
// if the move fails.
func Swap(fsys FS, src, dst string) error {
	previous := SiblingPath(dst, "previous")
	if err := fsys.RemoveAll(previous); err != nil {
		return err
	}
	saveErr := fsys.Rename(dst, previous)
	if saveErr != nil && !errors.Is(saveErr, fs.ErrNotExist) {
		return saveErr
	}
	if err := fsys.Rename(src, dst); err != nil {
		if saveErr == nil {
			err = errors.Join(err, fsys.Rename(previous, dst))
		}
		return err
	}
	if err := fsys.SyncDir(filepath.Dir(dst)); err != nil {
		return err
	}
	return fsys.RemoveAll(previous)
}

// ErrBusy means that another process is writing the same file or folder.
var ErrBusy = errors.New("another run is writing it")

// Lock locks the writing of the corpus or other output at dir until release is called, since two
// processes would remove each other's parts. The lock file is in the parent of dir. release
// removes the file, and the parents that Lock created if they are empty. The lock ends with the
// process at the latest.
func Lock(dir string) (release func(), err error) { return lockSibling(dir, "lock") }

// retryInterval is the interval at which LockAssembly tries to get the lock. An assembly takes
// seconds.
const retryInterval = 100 * time.Millisecond

// LockAssembly waits until no other process assembles a corpus at dir, and locks the assembly
// until release is called. Processes that share the work on parts use it instead of Lock.
func LockAssembly(ctx context.Context, dir string) (release func(), err error) {
	for {
		release, err = lockSibling(dir, "turn")
		if !errors.Is(err, ErrBusy) {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(retryInterval):
		}
	}
}

// lockSibling locks a file next to dir, named by SiblingPath, and creates missing parents of
// dir. release removes the file, unlocks it, and removes the created parents that are empty. The
// error is ErrBusy if another process has the lock.
func lockSibling(dir, suffix string) (release func(), err error) {
	path := SiblingPath(dir, suffix)
	created := missingParents(filepath.Dir(path))
	if err = os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	for {
		lock, err := LockFile(path)
		if err != nil {
			return nil, err
		}
		if !journal.IsAt(lock, path) {
			_ = lock.Unlock() // the previous owner removed the file after it was opened here
			continue
		}
		return func() {
			_ = os.Remove(path) // a remaining file locks nothing
			_ = lock.Unlock()
			for _, folder := range created {
				_ = os.Remove(folder) // fails for the folder of a corpus, which is not empty
			}
		}, nil
	}
}

// missingParents returns the folders that must be created for path to exist. path is first, its
// topmost missing parent last.
func missingParents(path string) []string {
	var missing []string
	for {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return missing
		}
		missing = append(missing, path)
		path = filepath.Dir(path)
	}
}

// LockFile locks the file at path until the process ends or unlocks it. The error is
// ErrBusy if another process has the lock.
func LockFile(path string) (*flock.Flock, error) {
	lock := flock.New(path)
	ok, err := lock.TryLock()
	if err == nil && !ok {
		err = ErrBusy
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return lock, nil
}
