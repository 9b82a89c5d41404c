package cli

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
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Local gives the paths of what a user named: a path is itself, of a bucket a
// copy is made that cleanUp removes.
func Local(ctx context.Context, names []string) (paths []string, cleanUp func(), err error) {
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

// withBucket opens a bucket, to read or to write, for as long as do needs it.
func withBucket(ctx context.Context, open func(context.Context, string) (*bucket.Bucket, error), name string, do func(*bucket.Bucket) error) error {
	b, err := open(ctx, name)
	if err == nil {
		err = errors.Join(do(b), b.Close())
	} else if !errors.Is(err, fs.ErrNotExist) {
		return Usage(err, "s3://bucket/folder?region=… and file:///folder are known; gs:// and azblob:// with the build tag clouds")
	}
	var failure *Failure
	switch {
	case err == nil, errors.As(err, &failure):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return Usage(fmt.Errorf("read %s: %w", name, err), "nothing lies there")
	default:
		return Failed(err, "check the URL and the credentials in the environment (docs/publishing.md)")
	}
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

// Output is where a corpus goes: a folder, or a bucket by way of a folder.
type Output struct {
	url string
	Dir string
}

// StagedOutput is an output that, on its way to a bucket, lies in a folder for
// temporary files; cleanUp removes that.
func StagedOutput(name string) (out Output, cleanUp func(), err error) {
	if !bucket.IsURL(name) {
		out, err = NewOutput(name, "")
		return out, func() {}, err
	}
	staging, err := os.MkdirTemp("", "arena-upload-")
	cleanUp = func() { os.RemoveAll(staging) } //nolint:errcheck // a folder that stays behind is the system's to clear
	if err != nil {
		return Output{}, cleanUp, fmt.Errorf("create a folder to upload from: %w", err)
	}
	out, err = NewOutput(name, filepath.Join(staging, "out"))
	return out, cleanUp, err
}

// NoStream refuses - where a folder is written: one of that name would be made.
func NoStream(out string) error {
	if out == "-" {
		return Usage(errors.New("a folder cannot go to standard output"), "give -o a folder, such as -o out")
	}
	return nil
}

// NewOutput tells a bucket from a folder. A corpus for a bucket is written to
// staging first, or to a folder of its name in the working folder.
func NewOutput(name, staging string) (Output, error) {
	if err := NoStream(name); err != nil {
		return Output{}, err
	}
	if !bucket.IsURL(name) {
		return Output{Dir: filepath.Clean(name)}, nil
	}
	base, err := bucket.Base(name)
	if err != nil {
		return Output{}, Usage(err, "write it as s3://bucket/folder")
	}
	return Output{url: name, Dir: cmp.Or(staging, base)}, nil
}

// Lock keeps the output for this process until release is called.
func (o Output) Lock() (release func(), err error) {
	release, err = corpus.Lock(o.Dir)
	switch {
	case errors.Is(err, corpus.ErrBusy):
		return nil, Failed(err, "wait for it, or give another -o")
	case err != nil:
		return nil, Failed(err, "the folder around -o must take new files")
	}
	return release, nil
}

// Take keeps the output for this process until release is called, and refuses
// to write over a corpus that is there.
func (o Output) Take(ctx context.Context, force bool) (release func(), err error) {
	if release, err = o.Lock(); err != nil {
		return nil, err
	}
	if err = o.Free(ctx, force); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// Free refuses an output where a corpus is already, unless it may be replaced.
func (o Output) Free(ctx context.Context, force bool) error {
	there := false
	if o.url == "" {
		_, absent := corpus.ReadManifest(corpus.Disk{}, o.Dir)
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
		return Failed(fmt.Errorf("write %s: a corpus is there already", cmp.Or(o.url, o.Dir)), "give --force to replace it, or another folder")
	}
	if o.url != "" || !there {
		return nil
	}
	if err := corpus.Replaceable(corpus.Disk{}, o.Dir); err != nil {
		return Failed(err, MoveStranger)
	}
	return nil
}

// MoveStranger is what helps where a file in a corpus's folder is not the corpus's.
const MoveStranger = "move it out of the folder, or give another -o"

// Publish puts the finished corpus into its bucket, if it goes to one.
func (o Output) Publish(ctx context.Context) error {
	if o.url == "" {
		return nil
	}
	made, err := finish.Open(corpus.Disk{}, o.Dir)
	if err != nil {
		return err
	}
	bank, err := made.Bank()
	if err != nil {
		return err
	}
	return withBucket(ctx, bucket.Create, o.url, func(b *bucket.Bucket) error {
		err := finish.Keeps(b.Files(ctx), ".", bank, nil)
		if refused := NotProtected(err); refused != nil {
			return refused
		}
		if err != nil {
			return err
		}
		return b.Publish(ctx, corpus.Disk{}, o.Dir)
	})
}
