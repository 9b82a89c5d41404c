package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/bucket"
)

// Path returns a local path for a name that the user gave. A path is returned unchanged. The
// folder at a bucket's URL is copied, and the copy exists until the run ends.
func (s *Streams) Path(ctx context.Context, name string) (string, error) {
	if !bucket.IsURL(name) {
		return name, nil
	}
	dir, err := s.Temporary("arena-bucket-")
	if err != nil {
		return "", err
	}
	return fetchCopy(ctx, name, dir)
}

// Local returns local paths for several names (see Path).
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

// fetchCopy downloads the folder at a bucket's URL to dir and returns the path of the copy. If the
// bucket does not have such a folder, fetchCopy downloads the file at the URL. The copy keeps the
// name that it has in the bucket, since the ids of runs are read from the names of folders.
func fetchCopy(ctx context.Context, name, dir string) (string, error) {
	base, err := bucket.Base(name)
	if err != nil {
		return "", Usage(err, "write it as s3://bucket/folder")
	}
	path := filepath.Join(dir, base)
	err = withBucket(ctx, bucket.Open, name, func(b *bucket.Bucket) error {
		return b.Fetch(ctx, path)
	})
	if !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	folder, file, err := bucket.Split(name)
	if err != nil {
		return "", err
	}
	return path, withBucket(ctx, bucket.Open, folder, func(b *bucket.Bucket) error {
		return b.FetchFile(ctx, file, dir)
	})
}

// KnownBuckets is the hint for a URL that does not name a bucket.
const KnownBuckets = "s3://bucket/folder?region=… and file:///folder are known (docs/publishing.md)"

func withBucket(
	ctx context.Context,
	open func(context.Context, string) (*bucket.Bucket, error),
	name string,
	use func(*bucket.Bucket) error,
) error {
	b, err := open(ctx, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Usage(err, KnownBuckets)
	}
	if err == nil {
		err = use(b)
	}
	if _, ok := errors.AsType[*Failure](err); !ok && errors.Is(err, fs.ErrNotExist) {
		return Usage(fmt.Errorf("read %s: %w", name, err), "nothing lies there")
	}
	return DefaultHint(err, "check the URL and the credentials in the environment (docs/publishing.md)")
}

// NoCorpus is the hint for a folder without a manifest.
const NoCorpus = "a folder without manifest.json is no corpus; `arena build` makes one of a day, `arena import` of other traces"

// CorpusError adds a hint to an error of reading the corpus in dir. The hint is NoCorpus if the
// folder has no manifest, otherwise the hint of a known error or, for any other error, to verify
// the corpus. It returns nil if err is nil.
func CorpusError(fsys corpus.FS, dir string, err error) error {
	if err == nil {
		return nil
	}
	if !hasManifest(fsys, dir) {
		return Failed(err, NoCorpus)
	}
	return DefaultHint(err, "`arena verify` lists what is broken in the corpus; build or copy it again")
}

// hasManifest reports whether dir has a corpus manifest, even one that cannot be read.
func hasManifest(fsys corpus.FS, dir string) bool {
	f, err := fsys.Open(filepath.Join(dir, corpus.ManifestName))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
	}
	_ = f.Close() // nothing was written
	return true
}

// ReadCorpus calls read with the file system and the folder of a corpus, which is on disk or in
// a bucket.
func ReadCorpus(
	ctx context.Context,
	name string,
	read func(fsys corpus.FS, dir string) error,
) error {
	if !bucket.IsURL(name) {
		return read(corpus.Disk{}, name)
	}
	return withBucket(ctx, bucket.Open, name, func(b *bucket.Bucket) error {
		return read(b.Files(ctx), ".")
	})
}

// watched is a file system that reports reads, for a progress display: it calls onRead with the
// number of bytes of each read from a file in one of folders.
type watched struct {
	corpus.FS
	folders []string
	onRead  func(bytes int)
}

// Watched returns fsys with one addition: onRead is called with the number of bytes of every
// read from a file in folders.
func Watched(
	fsys corpus.FS,
	folders []string,
	onRead func(bytes int),
) corpus.FS {
	return watched{fsys, folders, onRead}
}

func (w watched) Open(path string) (corpus.Source, error) {
	f, err := w.FS.Open(path)
	if err != nil || !slices.ContainsFunc(w.folders, func(folder string) bool { return Within(folder, path) }) {
		return f, err
	}
	return watchedSource{f, w.onRead}, nil
}

type watchedSource struct {
	corpus.Source
	onRead func(bytes int)
}

func (s watchedSource) Read(b []byte) (int, error) {
	n, err := s.Source.Read(b)
	s.onRead(n)
	return n, err
}

func (s watchedSource) ReadAt(b []byte, offset int64) (int, error) {
	n, err := s.Source.ReadAt(b, offset)
	s.onRead(n)
	return n, err
}
