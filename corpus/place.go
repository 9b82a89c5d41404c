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

// placed is a finished file that a worker wrote, with its current path and its path in the
// corpus.
type placed struct {
	PartFile
	source string // path of the file in the folder of its part
	target string // path in the corpus, with forward slashes
}

// placeShards collects the files of a corpus from the folders that its workers wrote, the parts: it
// sets w.shards to the files on their lists, each with its path in the corpus. It returns an error
// if two parts contain the same table or single file, or if the shards of one config have different
// columns.
func (w *assembler) placeShards(parts []string) error {
	total := map[Stream]int{}
	for _, dir := range parts {
		files, err := ReadPart(w.fs, dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			total[f.Stream]++
			w.shards = append(w.shards, placed{
				PartFile: f,
				source:   filepath.Join(dir, filepath.FromSlash(f.Path)),
			})
		}
	}
	next := map[Stream]int{}
	for i := range w.shards {
		s := &w.shards[i]
		if s.Config == "" && total[s.Stream] > 1 {
			return fmt.Errorf("place %s: two parts hold one", s.Path)
		}
		_, ext, _ := strings.Cut(path.Base(s.Path), ".")
		s.target = shardPath(
			s.Stream,
			next[s.Stream],
			total[s.Stream],
			ext,
		)
		next[s.Stream]++
	}
	return checkSchemas(w.shards)
}

// checkSchemas returns an error if two shards of one config or table have different columns.
// Depending on the order of the files, readers would fail or fill in nulls.
func checkSchemas(shards []placed) error {
	first := map[string]string{}
	for _, s := range shards {
		key := s.Config + "/" + s.Table
		if want, ok := first[key]; ok && want != s.Schema {
			return fmt.Errorf("place %s: two schemas in config %s", s.source, s.Config)
		}
		first[key] = s.Schema
	}
	return nil
}

// shardPath returns the path in the corpus of file i of the n files of a stream (a split of a
// config, a table or a single file). ext is the file name extension without a dot. JSONL files
// are in jsonl/ instead of data/, so that no config of the card includes them.
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

// schemas maps the name of each config and table to the fingerprint of its Parquet schema, for the
// manifest. The key "rows" has the value SchemaVersion, the version of all row types.
func schemas(shards []placed) map[string]string {
	out := map[string]string{"rows": SchemaVersion}
	for _, s := range shards {
		if s.Schema != "" {
			out[s.Config+s.Table] = s.Schema
		}
	}
	return out
}

func (w *assembler) addShard(ctx context.Context, s placed, move bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var entry FileEntry
	var err error
	if move {
		entry, err = w.moveShard(s)
	} else {
		entry, err = w.copyShard(s)
	}
	if err != nil {
		return err
	}
	entry.Config = s.Config
	entry.Profile = s.Profile
	entry.Split = s.Split
	if s.Place == "" {
		entry.Rows = new(s.Rows)
	}
	w.files = append(w.files, entry)
	return nil
}

// copyShard copies a data file that a worker wrote into the corpus and returns its manifest entry.
// The error is ErrDamagedPart if the file is missing or its SHA-256 differs from the recorded one.
// The original is kept, so that an interrupted assembly can be repeated.
func (w *assembler) copyShard(s placed) (FileEntry, error) {
	f, err := w.fs.Open(s.source)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", ErrDamagedPart, err)
	}
	if err != nil {
		return FileEntry{}, err
	}
	defer closeRead(f)
	entry, err := w.writeFile(s.target, f)
	if err == nil && entry.SHA256 != s.SHA256 {
		err = fmt.Errorf("place %s: %w", s.source, ErrDamagedPart)
	}
	return entry, err
}

// moveShard moves a data file that a worker wrote into the corpus and returns its manifest entry.
// The error is ErrDamagedPart if the file's fast hash differs from the recorded one.
func (w *assembler) moveShard(s placed) (FileEntry, error) {
	h := xxh3.New()
	if _, err := copyFile(h, w.fs, s.source); err != nil {
		return FileEntry{}, err
	}
	if h.Sum64() != s.XXH3 {
		return FileEntry{}, fmt.Errorf("place %s: %w", s.source, ErrDamagedPart)
	}
	full := filepath.Join(w.dir, filepath.FromSlash(s.target))
	if err := w.fs.MkdirAll(filepath.Dir(full)); err != nil {
		return FileEntry{}, err
	}
	return FileEntry{
		Path:   s.target,
		Bytes:  s.Bytes,
		SHA256: s.SHA256,
	}, w.fs.Rename(s.source, full)
}

// HashFile returns the size of a file and the SHA-256 of its content.
func HashFile(fsys FS, path string) (size int64, sum string, err error) {
	h := sha256.New()
	size, err = copyFile(h, fsys, path)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// copyFile writes the content of the file at path to w and returns the number of bytes written.
func copyFile(w io.Writer, fsys FS, path string) (int64, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return 0, err
	}
	defer closeRead(f)
	return io.Copy(w, f)
}
