package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"
)

// ErrForeign says that a folder holds something and no corpus.
var ErrForeign = errors.New("the folder is not empty and no corpus")

// Replaceable refuses to write over what is no corpus.
func Replaceable(fsys FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read folder %s: %w", dir, err)
	}
	finished, err := IsCorpus(fsys, dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 && !finished {
		return fmt.Errorf("write corpus %s: %w", dir, ErrForeign)
	}
	return nil
}

// IsCorpus reports whether a folder holds a finished corpus, of whatever version.
// Other programs call files manifest.json too: its own version decides.
func IsCorpus(fsys FS, dir string) (bool, error) {
	b, err := ReadFile(fsys, filepath.Join(dir, ManifestName), maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return strings.HasPrefix(gjson.GetBytes(b, "version").String(), manifestFamily), err
}

// Beside names what lies beside a corpus while it is made. What is there is
// removed, so the name is hidden: "corpus.previous" is what people call a copy.
func Beside(dir, what string) string {
	dir = filepath.Clean(dir)
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+"."+what)
}

// swap moves the finished folder into place. What was there before is kept
// until the new one is, and comes back if the move fails.
func swap(fsys FS, from, to string) error {
	previous := Beside(to, "previous")
	if err := fsys.RemoveAll(previous); err != nil {
		return fmt.Errorf("remove %s: %w", previous, err)
	}
	old := fsys.Rename(to, previous)
	if old != nil && !errors.Is(old, fs.ErrNotExist) {
		return fmt.Errorf("rename %s: %w", to, old)
	}
	if err := fsys.Rename(from, to); err != nil {
		if old == nil {
			err = errors.Join(err, fsys.Rename(previous, to))
		}
		return fmt.Errorf("rename %s: %w", from, err)
	}
	if err := fsys.SyncDir(filepath.Dir(to)); err != nil {
		return fmt.Errorf("sync folder %s: %w", filepath.Dir(to), err)
	}
	if err := fsys.RemoveAll(previous); err != nil {
		return fmt.Errorf("remove %s: %w", previous, err)
	}
	return nil
}
