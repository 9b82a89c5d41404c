package bucket

import (
	"context"
	"crypto/md5" //nolint:gosec // what object stores compare uploads with
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"gocloud.dev/blob"
	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena/corpus"
)

// unfinished is the object that lies in a folder while a corpus is written to
// it: what a killed upload leaves may be written over.
const unfinished = ".arena-upload"

// uploads is how many objects are written side by side: the time of one is
// mostly the network's.
const uploads = 4

// Publish copies the corpus in dir into the folder, its manifest last: as long
// as there is none, readers see no corpus. A corpus that was there is replaced;
// a folder that holds anything else is refused.
func (b *Bucket) Publish(ctx context.Context, fsys corpus.FS, dir string) error {
	m, err := corpus.ReadManifest(fsys, dir)
	if err != nil {
		return err
	}
	before, err := b.keys(ctx)
	if err != nil {
		return err
	}
	finished, err := b.Holds(ctx)
	if err != nil {
		return err
	}
	if len(before) > 0 && !finished && !slices.Contains(before, unfinished) {
		return fmt.Errorf("write %s: %w", b.name, corpus.ErrForeign)
	}
	if err := b.blobs.WriteAll(ctx, unfinished, nil, nil); err != nil {
		return fmt.Errorf("write %s/%s: %w", b.name, unfinished, err)
	}
	if err := b.remove(ctx, corpus.ManifestName, before); err != nil {
		return err
	}
	if err := b.uploadAll(ctx, fsys, dir, m.Files); err != nil {
		return err
	}
	now := map[string]bool{corpus.ManifestName: true, unfinished: true}
	for _, f := range m.Files {
		now[f.Path] = true
	}
	for _, key := range before {
		if !now[key] {
			if err := b.remove(ctx, key, before); err != nil {
				return err
			}
		}
	}
	if err := b.upload(ctx, fsys, filepath.Join(dir, corpus.ManifestName), corpus.ManifestName); err != nil {
		return err
	}
	return b.remove(ctx, unfinished, []string{unfinished})
}

// Holds reports whether a finished corpus lies in the folder.
func (b *Bucket) Holds(ctx context.Context) (bool, error) {
	return corpus.IsCorpus(b.Files(ctx), ".")
}

func (b *Bucket) uploadAll(ctx context.Context, fsys corpus.FS, dir string, files []corpus.FileEntry) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(uploads)
	for _, f := range files {
		group.Go(func() error {
			return b.upload(ctx, fsys, filepath.Join(dir, filepath.FromSlash(f.Path)), f.Path)
		})
	}
	return group.Wait()
}

// upload writes one object; the store compares what arrived with its hash.
func (b *Bucket) upload(ctx context.Context, fsys corpus.FS, path, key string) error {
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // opened to read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	sum := md5.New() //nolint:gosec // as above
	if _, err = io.Copy(sum, io.NewSectionReader(f, 0, info.Size())); err != nil {
		return err
	}
	err = b.blobs.Upload(ctx, key, io.NewSectionReader(f, 0, info.Size()), &blob.WriterOptions{ContentMD5: sum.Sum(nil), ContentType: "application/octet-stream"})
	if err != nil {
		return fmt.Errorf("write %s/%s: %w", b.name, key, err)
	}
	return nil
}

// remove deletes an object that is among those that are there.
func (b *Bucket) remove(ctx context.Context, key string, there []string) error {
	if !slices.Contains(there, key) {
		return nil
	}
	if err := absent(b.blobs.Delete(ctx, key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s/%s: %w", b.name, key, err)
	}
	return nil
}
