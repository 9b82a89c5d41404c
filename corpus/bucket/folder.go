package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/atomicfile"
)

// folderStore is a store in a folder on disk. Each object is a file whose path in the folder is
// the object's name.
type folderStore struct{ dir string }

// openFolder opens the store of a file:///folder URL. It creates the folder if create is true;
// otherwise a missing folder is an error.
func openFolder(u *url.URL, create bool) (store, error) {
	if _, err := parameters(u); err != nil {
		return nil, err
	}
	if u.Host != "" || u.Path == "" {
		return nil, errors.New("write it as file:///folder")
	}
	dir := filepath.FromSlash(u.Path)
	if create {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("as a folder: %w", fs.ErrNotExist)
	}
	return &folderStore{dir}, nil
}

func (s *folderStore) path(key string) string { return filepath.Join(s.dir, filepath.FromSlash(key)) }

func (s *folderStore) list(ctx context.Context, prefix string) ([]string, error) {
	var keys []string
	err := filepath.WalkDir(s.dir, func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		if err = cmp.Or(err, ctx.Err()); err != nil || entry.IsDir() {
			return err
		}
		key, err := filepath.Rel(s.dir, name)
		if err != nil {
			return err
		}
		if key = filepath.ToSlash(key); strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
		return nil
	})
	slices.Sort(keys)
	return keys, err
}

func (s *folderStore) get(
	ctx context.Context,
	key string,
	w io.Writer,
) error {
	f, err := os.Open(s.path(key))
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	_, err = io.Copy(w, f)
	return cmp.Or(err, ctx.Err())
}

func (s *folderStore) put(
	ctx context.Context,
	key string,
	content *io.SectionReader,
	ifAbsent bool,
) error {
	path := s.path(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	err = cmp.Or(err, ctx.Err())
	if err == nil && ifAbsent {
		return errors.Join(os.Link(f.Name(), path), f.Drop()) // unlike a rename, a link replaces no file
	}
	return f.End(err)
}

func (s *folderStore) remove(_ context.Context, key string) error { return os.Remove(s.path(key)) }
