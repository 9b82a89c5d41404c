package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/inorder"
)

// unfinished is the name of an empty object that exists in a folder while a corpus is uploaded
// to it. If the process was killed, another upload may overwrite such a folder.
const unfinished = ".arena-upload"

// uploads is the maximum number of concurrent uploads. Most of the time of an upload is spent
// waiting for the network.
const uploads = 4

// Publish copies the corpus in dir into the bucket's folder and replaces an existing corpus. The
// manifest is written last, since readers need it to recognise a corpus. The error is
// corpus.ErrNotCorpus if the folder contains anything else. Two processes may publish the same
// corpus concurrently.
func (b *Bucket) Publish(
	ctx context.Context,
	fsys corpus.FS,
	dir string,
) error {
	m, err := corpus.ReadManifest(fsys, dir)
	if err != nil {
		return err
	}
	built, err := corpus.RawManifest(fsys, dir)
	if err != nil {
		return err
	}
	before, err := b.keys(ctx, "")
	if err != nil {
		return err
	}
	stored, err := corpus.RawManifest(b.Files(ctx), ".")
	if err != nil {
		return err
	}
	if len(before) > 0 && stored == nil && !slices.Contains(before, unfinished) {
		return fmt.Errorf("write %s: %w", b.name, corpus.ErrNotCorpus)
	}
	if err = b.put(ctx, unfinished, nil, false); err != nil {
		return err
	}
	if !bytes.Equal(stored, built) { // else another process publishes it too
		if err = b.remove(ctx, corpus.ManifestName); err != nil {
			return err
		}
	}
	now := map[string]bool{corpus.ManifestName: true, unfinished: true}
	for _, f := range m.Files {
		now[f.Path] = true
	}
	err = inorder.Each(ctx, uploads, len(m.Files), func(ctx context.Context, i int) error {
		path := m.Files[i].Path
		return b.upload(ctx, fsys, filepath.Join(dir, filepath.FromSlash(path)), path)
	})
	if err != nil {
		return err
	}
	if err = b.remove(ctx, slices.DeleteFunc(before, func(key string) bool { return now[key] })...); err != nil {
		return err
	}
	if err = b.upload(ctx, fsys, filepath.Join(dir, corpus.ManifestName), corpus.ManifestName); err != nil {
		return err
	}
	return b.remove(ctx, unfinished)
}

// upload writes the local file at path to the object named key.
func (b *Bucket) upload(
	ctx context.Context,
	fsys corpus.FS,
	path, key string,
) error {
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // opened to read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return b.write(ctx, key, f, info.Size(), false)
}

// put writes data to the bucket's object named key. If once is true and the object already exists,
// it is left unchanged and the error is fs.ErrExist.
func (b *Bucket) put(
	ctx context.Context,
	key string,
	data []byte,
	once bool,
) error {
	return b.write(
		ctx,
		key,
		bytes.NewReader(data),
		int64(len(data)),
		once,
	)
}

func (b *Bucket) write(
	ctx context.Context,
	key string,
	content io.ReaderAt,
	size int64,
	once bool,
) error {
	_, err := retried(ctx, func() (any, error) {
		return nil, b.store.put(
			ctx,
			key,
			io.NewSectionReader(content, 0, size),
			once,
		)
	})
	if err != nil {
		return fmt.Errorf("write %s/%s: %w", b.name, key, err)
	}
	return nil
}

func (b *Bucket) remove(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		_, err := retried(ctx, func() (any, error) {
			return nil, b.store.remove(ctx, key)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove %s/%s: %w", b.name, key, err)
		}
	}
	return nil
}
