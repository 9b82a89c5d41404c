package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/bucket"
)

// Path is that of what a user named: a path is itself, of a bucket a copy is made that
// is there until the run ends.
func (s *Streams) Path(ctx context.Context, name string) (string, error) {
	if !bucket.IsURL(name) {
		return name, nil
	}
	dir, err := s.Temporary("arena-bucket-")
	if err != nil {
		return "", err
	}
	return fetched(ctx, name, dir)
}

// Local gives the paths of several names as Path does.
func (s *Streams) Local(ctx context.Context, names []string) (paths []string, err error) {
	for _, name := range names {
		path, err := s.Path(ctx, name)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// fetched copies a folder of a bucket under dir, by its own name: readers of
// days read meaning out of folders' names. What is no folder is a file in one.
func fetched(ctx context.Context, name, dir string) (string, error) {
	base, err := bucket.Base(name)
	if err != nil {
		return "", Usage(err, "write it as s3://bucket/folder")
	}
	path := filepath.Join(dir, base)
	err = withBucket(ctx, bucket.Open, name, func(b *bucket.Bucket) error { return b.Fetch(ctx, path) })
	if !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	folder, file, err := bucket.Split(name)
	if err != nil {
		return "", err
	}
	return path, withBucket(ctx, bucket.Open, folder, func(b *bucket.Bucket) error { return b.FetchFile(ctx, file, dir) })
}

// KnownBuckets is what helps where a URL names no bucket.
const KnownBuckets = "s3://bucket/folder?region=… and file:///folder are known; gs:// and azblob:// with the build tag clouds"

func withBucket(ctx context.Context, open func(context.Context, string) (*bucket.Bucket, error), name string, do func(*bucket.Bucket) error) error {
	b, err := open(ctx, name)
	if err == nil {
		err = errors.Join(do(b), b.Close())
	} else if !errors.Is(err, fs.ErrNotExist) {
		return Usage(err, KnownBuckets)
	}
	if _, told := errors.AsType[*Failure](err); !told && errors.Is(err, fs.ErrNotExist) {
		return Usage(fmt.Errorf("read %s: %w", name, err), "nothing lies there")
	}
	return Otherwise(err, "check the URL and the credentials in the environment (docs/publishing.md)")
}

// NoCorpus is what helps where a folder is no corpus.
const NoCorpus = "a folder without manifest.json is no corpus; `arena build` makes one of a day, `arena import` of other traces"

// ReadCorpus reads a corpus where it lies, on disk or in a bucket.
func ReadCorpus(ctx context.Context, name string, read func(fsys corpus.FS, dir string) error) error {
	if !bucket.IsURL(name) {
		return read(corpus.Disk{}, name)
	}
	return withBucket(ctx, bucket.Open, name, func(b *bucket.Bucket) error { return read(b.Files(ctx), ".") })
}

// watched is a file system that tells of every piece that is read of the files
// in some folders.
type watched struct {
	corpus.FS
	folders []string
	tell    func(bytes int)
}

// Watched tells of what is read of the files in folders of fsys.
func Watched(fsys corpus.FS, folders []string, tell func(bytes int)) corpus.FS {
	return watched{fsys, folders, tell}
}

func (w watched) Open(path string) (corpus.Source, error) {
	f, err := w.FS.Open(path)
	if err != nil || !slices.ContainsFunc(w.folders, func(folder string) bool { return Within(folder, path) }) {
		return f, err
	}
	return watchedSource{f, w.tell}, nil
}

type watchedSource struct {
	corpus.Source
	tell func(bytes int)
}

func (s watchedSource) Read(b []byte) (int, error) {
	n, err := s.Source.Read(b)
	s.tell(n)
	return n, err
}

func (s watchedSource) ReadAt(b []byte, at int64) (int, error) {
	n, err := s.Source.ReadAt(b, at)
	s.tell(n)
	return n, err
}
