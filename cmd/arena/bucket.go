package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/bucket"
)

// local gives the paths of what a user named: a path is itself, of a bucket a
// copy is made that cleanUp removes.
func local(ctx context.Context, names []string) (paths []string, cleanUp func(), err error) {
	var copies string
	cleanUp = func() {
		if copies != "" {
			os.RemoveAll(copies) //nolint:errcheck // a copy that stays behind is the system's to clear
		}
	}
	for i, name := range names {
		if !bucket.IsURL(name) {
			paths = append(paths, name)
			continue
		}
		if copies == "" {
			if copies, err = os.MkdirTemp("", "arena-bucket-"); err != nil {
				return nil, cleanUp, fmt.Errorf("copy from bucket: %w", err)
			}
		}
		path, err := fetched(ctx, name, filepath.Join(copies, fmt.Sprint(i)))
		if err != nil {
			return nil, cleanUp, err
		}
		paths = append(paths, path)
	}
	return paths, cleanUp, nil
}

// fetched copies a folder of a bucket under dir, by its own name: readers of
// days read meaning out of folders' names. What is no folder is a file in one.
func fetched(ctx context.Context, name, dir string) (string, error) {
	base, err := bucket.Base(name)
	if err != nil {
		return "", usage(err, "write it as s3://bucket/folder")
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

// withBucket opens a bucket, to read or to write, for as long as do needs it.
func withBucket(ctx context.Context, open func(context.Context, string) (*bucket.Bucket, error), name string, do func(*bucket.Bucket) error) error {
	b, err := open(ctx, name)
	if err == nil {
		err = errors.Join(do(b), b.Close())
	} else if !errors.Is(err, fs.ErrNotExist) {
		return usage(err, "s3://bucket/folder?region=… and file:///folder are known; gs:// and azblob:// with the build tag clouds")
	}
	var told *failure
	switch {
	case err == nil, errors.As(err, &told):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return usage(fmt.Errorf("read %s: %w", name, err), "nothing lies there")
	default:
		return failed(err, "check the URL and the credentials in the environment (docs/publishing.md)")
	}
}

// noCorpus is what helps where a folder is no corpus.
const noCorpus = "a folder without manifest.json is no corpus; `arena build` makes one of a day, `arena import` of other traces"

// readCorpus reads a corpus where it lies, on disk or in a bucket.
func readCorpus(ctx context.Context, name string, read func(fsys corpus.FS, dir string) error) error {
	if !bucket.IsURL(name) {
		return read(corpus.Disk{}, name)
	}
	return withBucket(ctx, bucket.Open, name, func(b *bucket.Bucket) error { return read(b.Files(ctx), ".") })
}

// output is where a corpus goes: a folder, or a bucket by way of a folder.
type output struct {
	url string
	dir string
}

// stagedOutput is an output that, on its way to a bucket, lies in a folder for
// temporary files; cleanUp removes that.
func stagedOutput(name string) (out output, cleanUp func(), err error) {
	if !bucket.IsURL(name) {
		out, err = newOutput(name, "")
		return out, func() {}, err
	}
	staging, err := os.MkdirTemp("", "arena-upload-")
	cleanUp = func() { os.RemoveAll(staging) } //nolint:errcheck // a folder that stays behind is the system's to clear
	if err != nil {
		return output{}, cleanUp, fmt.Errorf("create a folder to upload from: %w", err)
	}
	out, err = newOutput(name, filepath.Join(staging, "out"))
	return out, cleanUp, err
}

// noStream refuses - where a folder is written: one of that name would be made.
func noStream(out string) error {
	if out == "-" {
		return usage(errors.New("a folder cannot go to standard output"), "give -o a folder, such as -o out")
	}
	return nil
}

// newOutput tells a bucket from a folder. A corpus for a bucket is written to
// staging first, or to a folder of its name in the working folder.
func newOutput(name, staging string) (output, error) {
	if err := noStream(name); err != nil {
		return output{}, err
	}
	if !bucket.IsURL(name) {
		return output{dir: filepath.Clean(name)}, nil
	}
	base, err := bucket.Base(name)
	if err != nil {
		return output{}, usage(err, "write it as s3://bucket/folder")
	}
	return output{url: name, dir: cmp.Or(staging, base)}, nil
}

// lock keeps the output for this process until release is called.
func (o output) lock() (release func(), err error) {
	release, err = corpus.Lock(o.dir)
	switch {
	case errors.Is(err, corpus.ErrBusy):
		return nil, failed(err, "wait for it, or give another -o")
	case err != nil:
		return nil, failed(err, "the folder around -o must take new files")
	}
	return release, nil
}

// take keeps the output for this process until release is called, and refuses
// to write over a corpus that is there.
func (o output) take(ctx context.Context, force bool) (release func(), err error) {
	if release, err = o.lock(); err != nil {
		return nil, err
	}
	if err = o.free(ctx, force); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

func (o output) free(ctx context.Context, force bool) error {
	there := false
	if o.url == "" {
		_, absent := corpus.ReadManifest(corpus.Disk{}, o.dir)
		there = absent == nil
	} else {
		err := withBucket(ctx, bucket.Create, o.url, func(b *bucket.Bucket) (err error) {
			there, err = b.Holds(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	if there && !force {
		return failed(fmt.Errorf("write %s: a corpus is there already", cmp.Or(o.url, o.dir)), "give --force to replace it, or another folder")
	}
	return nil
}

// publish puts the finished corpus into its bucket, if it goes to one.
func (o output) publish(ctx context.Context) error {
	if o.url == "" {
		return nil
	}
	return withBucket(ctx, bucket.Create, o.url, func(b *bucket.Bucket) error { return b.Publish(ctx, corpus.Disk{}, o.dir) })
}
