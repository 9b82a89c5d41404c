package corpus

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/zeebo/xxh3"
)

type placed struct {
	PartFile
	from string
	to   string
}

func (w *assembler) place(parts []string) error {
	total := map[Stream]int{}
	for _, dir := range parts {
		files, err := ReadPart(w.fs, dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			total[f.Stream]++
			w.shards = append(w.shards, placed{PartFile: f, from: filepath.Join(dir, filepath.FromSlash(f.Path))})
		}
	}
	seen := map[Stream]int{}
	for i := range w.shards {
		s := &w.shards[i]
		if s.Config == "" && total[s.Stream] > 1 {
			return fmt.Errorf("place %s: two parts hold one", s.Path)
		}
		_, ext, _ := strings.Cut(path.Base(s.Path), ".")
		s.to = shardPath(s.Stream, seen[s.Stream], total[s.Stream], ext)
		seen[s.Stream]++
	}
	return oneSchema(w.shards)
}

// oneSchema refuses shards of one config with different columns: readers fail
// or fill in nulls, by the order of the files.
func oneSchema(shards []placed) error {
	first := map[string]string{}
	for _, s := range shards {
		key := s.Config + "/" + s.Table
		if want, ok := first[key]; ok && want != s.Schema {
			return fmt.Errorf("place %s: two schemas in config %s", s.from, s.Config)
		}
		first[key] = s.Schema
	}
	return nil
}

// shardPath is a shard's name in the corpus. JSONL lies outside the folders that
// the card names.
func shardPath(s Stream, i, n int, ext string) string {
	number := fmt.Sprintf("%05d-of-%05d.%s", i, n, ext)
	switch {
	case s.Place != "":
		return s.Place
	case s.Table != "":
		return path.Join("tables", s.Table+"."+ext)
	case s.Folders:
		return path.Join("data", s.Config, s.Split, number)
	case strings.HasPrefix(ext, "json"):
		return path.Join("jsonl", s.Config, s.Split+"-"+number)
	default:
		return path.Join("data", s.Config, s.Split+"-"+number)
	}
}

func schemas(shards []placed) map[string]string {
	out := map[string]string{"rows": SchemaVersion}
	for _, s := range shards {
		if s.Schema != "" {
			out[s.Config+s.Table] = s.Schema
		}
	}
	return out
}

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
		err = fmt.Errorf("%w: %w", ErrPart, err)
	}
	if err != nil {
		return FileEntry{}, err
	}
	defer closeRead(in)
	sum, err := w.write(s.to, in)
	if err == nil && sum.SHA256 != s.SHA256 {
		err = fmt.Errorf("place %s: %w", s.from, ErrPart)
	}
	return sum, err
}

// moved reads the file and holds it against a hash of what was written, before it
// takes it out of its part.
func (w *assembler) moved(s placed) (FileEntry, error) {
	found := xxh3.New()
	_, err := readInto(found, w.fs, s.from)
	if err == nil && found.Sum64() != s.XXH3 {
		err = fmt.Errorf("place %s: %w", s.from, ErrPart)
	}
	if err != nil {
		return FileEntry{}, err
	}
	full := filepath.Join(w.dir, filepath.FromSlash(s.to))
	if err := w.fs.MkdirAll(filepath.Dir(full)); err != nil {
		return FileEntry{}, err
	}
	return FileEntry{Path: s.to, Bytes: s.Bytes, SHA256: s.SHA256}, w.fs.Rename(s.from, full)
}

// Hash gives the size of a file and the SHA-256 of its content.
func Hash(fsys FS, full string) (size int64, sum string, err error) {
	h := sha256.New()
	size, err = readInto(h, fsys, full)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

func readInto(to io.Writer, fsys FS, full string) (int64, error) {
	f, err := fsys.Open(full)
	if err != nil {
		return 0, err
	}
	defer closeRead(f)
	return io.Copy(to, f)
}
