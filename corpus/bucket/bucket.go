// Package bucket writes finished corpora to object stores, and reads corpora and traces from
// them. A folder of a store is named by a URL, such as s3://name/path?region=eu-west-1 or
// file:///folder.
package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// IsURL reports whether a name is a URL, which begins with a scheme such as s3://, instead of a
// path.
func IsURL(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && scheme != "" && !strings.ContainsAny(scheme, `/\.`)
}

// Base returns the last element of a URL's path, or the name of the bucket if
// there is no path.
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

// Split splits a URL into the URL of its folder and the last element of its path.
func Split(name string) (folder, file string, err error) {
	u, err := url.Parse(name)
	if err != nil {
		return "", "", fmt.Errorf("read bucket URL: %w", err)
	}
	u.Path, file = path.Split(strings.TrimRight(u.Path, "/"))
	return u.String(), file, nil
}

// Bucket is a folder of an object store.
type Bucket struct {
	store store
	// name is the URL without path and parameters. It is used in error messages.
	name string
}

// Open opens the folder at a URL for reading. Credentials are read from the environment
// (docs/publishing.md).
func Open(ctx context.Context, name string) (*Bucket, error) { return open(ctx, name, false) }

// Create opens the folder at a URL for writing. A folder on disk is created if it does not
// exist.
func Create(ctx context.Context, name string) (*Bucket, error) { return open(ctx, name, true) }

func open(_ context.Context, name string, create bool) (*Bucket, error) {
	u, err := url.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("open bucket: %w", err)
	}
	s, err := openStore(u, create)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s://%s%s: %w", u.Scheme, u.Host, u.Path, err)
	}
	return &Bucket{
		store: s,
		name:  u.Scheme + "://" + u.Host,
	}, nil
}

// keys returns the sorted names of all objects in the folder that begin with prefix. It repeats
// failed requests.
func (b *Bucket) keys(ctx context.Context, prefix string) ([]string, error) {
	keys, err := retried(ctx, func() ([]string, error) {
		return b.store.list(ctx, prefix)
	})
	if err != nil {
		return nil, fmt.Errorf("list bucket %s: %w", b.name, err)
	}
	return keys, nil
}

// Fetch copies every object of the folder into the local folder dir. It returns an error for an
// object whose name would leave dir, and fs.ErrNotExist if there are no objects.
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
			continue // some tools store an empty object for a folder
		}
		local := filepath.FromSlash(key)
		if !filepath.IsLocal(local) {
			return fmt.Errorf("fetch %s: the name %q leaves the folder", b.name, key)
		}
		if err := b.fetch(ctx, key, filepath.Join(dir, local)); err != nil {
			return err
		}
	}
	return nil
}

// FetchFile copies one object of the folder into the local folder dir.
func (b *Bucket) FetchFile(ctx context.Context, name, dir string) error {
	return b.fetch(ctx, name, filepath.Join(dir, name))
}

// fetch copies the object named key to a local file and creates the parent folders of the file.
// It repeats failed requests.
func (b *Bucket) fetch(ctx context.Context, key, file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	_, err := retried(ctx, func() (struct{}, error) {
		f, err := os.Create(file)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, errors.Join(b.store.get(ctx, key, f), f.Close())
	})
	if err != nil {
		return fmt.Errorf("fetch %s: %w", key, err)
	}
	return nil
}
