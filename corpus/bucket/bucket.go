// Package bucket puts finished corpora into buckets and reads corpora and days
// there. A bucket is named by a URL, such as s3://name/path?region=eu-west-1 or
// file:///folder. Which stores a program knows besides file:// it says by importing
// their drivers, such as gocloud.dev/blob/s3blob.
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
	"path"
	"path/filepath"
	"strings"

	"github.com/cenkalti/backoff/v5"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file://
	"gocloud.dev/gcerrors"

	"github.com/trajectory-arena/arena/corpus"
)

// IsURL tells a bucket's name from a path: it has a scheme.
func IsURL(name string) bool {
	scheme, _, found := strings.Cut(name, "://")
	return found && scheme != "" && !strings.ContainsAny(scheme, `/\.`)
}

// Base is the last element of a URL's path, or the bucket's name where there is
// no path: what a folder for it would be called.
func Base(name string) (string, error) {
	u, err := url.Parse(name)
	if err != nil {
		return "", fmt.Errorf("read bucket URL: %w", err)
	}
	base := path.Base(cmp.Or(strings.Trim(u.Path, "/"), u.Host))
	if !fs.ValidPath(base) || base == "." {
		return "", fmt.Errorf("read bucket URL: no name in it")
	}
	return base, nil
}

// Split parts a URL into that of the folder and the last element of the path.
func Split(name string) (folder, file string, err error) {
	u, err := url.Parse(name)
	if err != nil {
		return "", "", fmt.Errorf("read bucket URL: %w", err)
	}
	u.Path, file = path.Split(strings.TrimRight(u.Path, "/"))
	return u.String(), file, nil
}

// Bucket is a folder of a bucket.
type Bucket struct {
	blobs *blob.Bucket
	name  string
}

// Open opens what a URL names, to read it. The path is a folder in the bucket;
// credentials come from the environment, as the makers of the store have them.
func Open(ctx context.Context, name string) (*Bucket, error) { return open(ctx, name, false) }

// Create is Open for writing: a folder on disk that is not there is made.
func Create(ctx context.Context, name string) (*Bucket, error) { return open(ctx, name, true) }

func open(ctx context.Context, name string, create bool) (*Bucket, error) {
	u, err := url.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("open bucket: %w", err)
	}
	q := u.Query()
	if u.Scheme == "file" {
		if info, absent := os.Stat(u.Path); absent == nil && !info.IsDir() {
			return nil, fmt.Errorf("open bucket %s: as a folder: %w", name, fs.ErrNotExist)
		}
		// plain files, as any other program writes them
		q.Set("metadata", "skip")
		if create {
			q.Set("create_dir", "true")
		}
		q.Set("no_tmp_dir", "true")
	} else if folder := strings.Trim(u.Path, "/"); folder != "" {
		q.Set("prefix", folder+"/")
		u.Path = ""
	}
	u.RawQuery = q.Encode()
	b, err := blob.OpenBucket(ctx, u.String())
	if err != nil {
		return nil, fmt.Errorf("open bucket %s://%s%s: %w", u.Scheme, u.Host, u.Path, err)
	}
	return &Bucket{blobs: b, name: u.Scheme + "://" + u.Host}, nil
}

// Close ends the use of the bucket.
func (b *Bucket) Close() error {
	if err := b.blobs.Close(); err != nil {
		return fmt.Errorf("close bucket: %w", err)
	}
	return nil
}

// tries is how often a store is asked for the same, with pauses of .5 s and more
// between: under load all of them answer with errors and cut connections off.
const tries = 5

func retried[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	return backoff.Retry(ctx, func() (T, error) {
		v, err := ask()
		code := gcerrors.Code(err)
		if errors.Is(err, fs.ErrNotExist) || code == gcerrors.NotFound || code == gcerrors.FailedPrecondition || code == gcerrors.PermissionDenied {
			err = backoff.Permanent(err)
		}
		return v, err
	}, backoff.WithMaxTries(tries))
}

func (b *Bucket) keys(ctx context.Context, prefix string) ([]string, error) {
	return retried(ctx, func() (out []string, err error) {
		for all := b.blobs.List(&blob.ListOptions{Prefix: prefix}); ; {
			o, err := all.Next(ctx)
			if errors.Is(err, io.EOF) {
				return out, nil
			}
			if err != nil {
				return nil, fmt.Errorf("list bucket %s: %w", b.name, err)
			}
			out = append(out, o.Key)
		}
	})
}

// Fetch copies every object of the folder into a local one. Names that would
// leave it are refused.
func (b *Bucket) Fetch(ctx context.Context, dir string) error {
	keys, err := b.keys(ctx, "")
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return fmt.Errorf("fetch %s: %w", b.name, fs.ErrNotExist)
	}
	for _, key := range keys {
		if strings.HasSuffix(key, "/") {
			continue // a folder that some tools keep as an empty object
		}
		if !filepath.IsLocal(filepath.FromSlash(key)) {
			return fmt.Errorf("fetch %s: the name %q leaves the folder", b.name, key)
		}
		if err := b.fetch(ctx, key, filepath.Join(dir, filepath.FromSlash(key))); err != nil {
			return err
		}
	}
	return nil
}

// FetchFile copies one object of the folder into a local one.
func (b *Bucket) FetchFile(ctx context.Context, name, dir string) error {
	return b.fetch(ctx, name, filepath.Join(dir, name))
}

func (b *Bucket) fetch(ctx context.Context, key, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	_, err := retried(ctx, func() (*os.File, error) {
		f, err := os.Create(to)
		if err != nil {
			return nil, err
		}
		return nil, errors.Join(absent(b.blobs.Download(ctx, key, f, nil)), f.Close())
	})
	if err != nil {
		return fmt.Errorf("fetch %s: %w", key, err)
	}
	return nil
}

func absent(err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return fs.ErrNotExist
	}
	return err
}

// Files reads the folder as a corpus is read on disk; its root is ".". Nothing
// can be written by it.
func (b *Bucket) Files(ctx context.Context) corpus.FS {
	b.blobs.SetIOFSCallback(func() (context.Context, *blob.ReaderOptions) { return ctx, nil })
	return files{ctx, b}
}

type files struct {
	ctx context.Context //nolint:containedctx // corpus.FS, as io/fs, asks without one
	b   *Bucket
}

var errReadOnly = errors.New("a bucket is written as a whole corpus only")

func (files) MkdirAll(string) error              { return errReadOnly }
func (files) Create(string) (corpus.File, error) { return nil, errReadOnly }
func (files) Rename(string, string) error        { return errReadOnly }
func (files) RemoveAll(string) error             { return errReadOnly }
func (files) SyncDir(string) error               { return errReadOnly }
func key(name string) string                     { return path.Clean(filepath.ToSlash(name)) }

// Open copies an object into the folder for temporary files, where it goes with the
// process at the latest, and opens it there.
func (f files) Open(name string) (corpus.Source, error) {
	dir, err := os.MkdirTemp("", "arena-object-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is open stays readable
	at := filepath.Join(dir, "object")
	if err = f.b.fetch(f.ctx, key(name), at); err != nil {
		return nil, &fs.PathError{Op: "read", Path: f.b.name + "/" + key(name), Err: err}
	}
	return os.Open(at)
}

// ReadDir lists a folder by name.
func (f files) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(f.b.blobs, key(name))
}
