package corpus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/zeebo/xxh3"
)

// shard puts a part's file in its place and holds it against the hash that it
// was written with.
func (w *assembler) shard(ctx context.Context, s placed, move bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	put := w.copied
	if move {
		put = w.moved
	}
	sum, err := put(s)
	if err != nil {
		return err
	}
	sum.Config, sum.Profile, sum.Split = s.Config, s.Profile, s.Split
	if rows := s.Rows; s.Place == "" {
		sum.Rows = &rows
	}
	w.files = append(w.files, sum)
	return nil
}

// copied leaves the part whole: an interrupted run goes on from it.
func (w *assembler) copied(s placed) (FileEntry, error) {
	in, err := w.fs.Open(s.from)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(ErrPart, err)
	}
	if err != nil {
		return FileEntry{}, fmt.Errorf("open %s: %w", s.from, err)
	}
	defer closeRead(in)
	sum, err := w.write(s.to, traced{in, s.from})
	if err == nil && sum.SHA256 != s.SHA256 {
		err = fmt.Errorf("place %s: %w", s.from, ErrPart)
	}
	return sum, err
}

func (w *assembler) moved(s placed) (FileEntry, error) {
	if err := s.unchanged(w.fs); err != nil {
		return FileEntry{}, err
	}
	full := filepath.Join(w.dir, filepath.FromSlash(s.to))
	if err := w.fs.MkdirAll(filepath.Dir(full)); err != nil {
		return FileEntry{}, fmt.Errorf("create folder of %s: %w", full, err)
	}
	if err := w.fs.Rename(s.from, full); err != nil {
		return FileEntry{}, fmt.Errorf("rename %s: %w", s.from, err)
	}
	return FileEntry{Path: s.to, Bytes: s.Bytes, SHA256: s.SHA256}, nil
}

// unchanged reads the file and holds it against the hash of what was written.
func (s *placed) unchanged(fsys FS) error {
	hash := xxh3.New()
	if _, err := hashed(fsys, s.from, hash); err != nil {
		return err
	}
	if hash.Sum64() != s.XXH3 {
		return fmt.Errorf("place %s: %w", s.from, ErrPart)
	}
	return nil
}
