package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/bucket"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Target is where a command writes a corpus, and what its flags say of that.
type Target struct {
	// Name is a folder, or the URL of one in a bucket.
	Name string
	// License is what only the publisher of a corpus can say in its card.
	License string
	// Force allows to replace a corpus.
	Force bool
	// Dir is where the corpus is made, on its way to a bucket too; Stage and In set it.
	Dir string
}

// Flags adds -o and --license.
func (t *Target) Flags(c *cobra.Command) {
	c.Flags().StringVarP(&t.Name, "output", "o", "", "folder of the corpus, or the URL of one in a bucket (required)")
	Replaces(c, "output")
	c.Flags().StringVar(&t.License, "license", "", "terms that the card names, in the Hub's words, such as cc-by-4.0")
}

// Replacing adds --force as well.
func (t *Target) Replacing(c *cobra.Command) {
	t.Flags(c)
	c.Flags().BoolVar(&t.Force, "force", false, "replace a corpus that is already there")
}

// hubLicense is what the Hub itself takes: it becomes a word of YAML.
var hubLicense = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,63}$`)

// Check refuses what nothing can be written by.
func (t *Target) Check() error {
	switch {
	case t.Name == "":
		return Usage(errors.New("no output folder"), "say where the corpus goes, such as -o out")
	case t.License != "" && !hubLicense.MatchString(t.License):
		return Usage(fmt.Errorf("read --license: %q is no word of the Hub for a licence", t.License), "such as apache-2.0, cc-by-4.0, mit or other")
	}
	return nil
}

// Stage checks the target and sets Dir, for a bucket to a folder for temporary files.
func (t *Target) Stage(s *Streams) error {
	if err := t.Check(); err != nil {
		return err
	}
	staging := ""
	if bucket.IsURL(t.Name) {
		dir, err := s.Temporary("arena-upload-")
		if err != nil {
			return err
		}
		staging = filepath.Join(dir, "out")
	}
	return t.In(staging)
}

// In sets Dir: for a bucket to staging, or to a folder of its name in the working folder.
func (t *Target) In(staging string) error {
	if t.Dir = filepath.Clean(t.Name); !bucket.IsURL(t.Name) {
		return NoStream(t.Name)
	}
	base, err := bucket.Base(t.Name)
	if err != nil {
		return Usage(err, "write it as s3://bucket/folder")
	}
	t.Dir = cmp.Or(staging, base)
	return nil
}

// Make keeps the output for this process, has do write a corpus there, and puts that into
// its bucket, if it goes to one.
func (t *Target) Make(ctx context.Context, s *Streams, do func(finish.Target) error) error {
	if err := t.Stage(s); err != nil {
		return err
	}
	if err := t.Take(ctx, s); err != nil {
		return err
	}
	if err := do(t.At(t.Dir)); err != nil {
		return err
	}
	return t.Publish(ctx)
}

// At is what a corpus in a folder is assembled by.
func (t *Target) At(dir string) finish.Target {
	return finish.Target{FS: corpus.Disk{}, Out: dir, Version: Version(), License: t.License}
}

// NoStream refuses - where a folder is written: one of that name would be made.
func NoStream(out string) error {
	if out == "-" {
		return Usage(errors.New("a folder cannot go to standard output"), "give -o a folder, such as -o out")
	}
	return nil
}

// Lock keeps a folder for this process until the run ends.
func Lock(s *Streams, dir string) error {
	release, err := corpus.Lock(dir)
	if err != nil {
		return Otherwise(err, "the folder around -o must take new files")
	}
	s.AtEnd(release)
	return nil
}

// Take keeps the output for this process until the run ends, and refuses to write
// over a corpus that is there.
func (t *Target) Take(ctx context.Context, s *Streams) error {
	if err := Lock(s, t.Dir); err != nil {
		return err
	}
	return t.Free(ctx)
}

// Free refuses an output where a corpus is already, unless it may be replaced.
func (t *Target) Free(ctx context.Context) (err error) {
	there, name, remote := false, t.Dir, bucket.IsURL(t.Name)
	if remote {
		name = t.Name
		err = withBucket(ctx, bucket.Create, t.Name, func(b *bucket.Bucket) (err error) {
			there, err = corpus.IsCorpus(b.Files(ctx), ".")
			return err
		})
	} else {
		_, absent := corpus.ReadManifest(corpus.Disk{}, t.Dir)
		there = absent == nil
	}
	switch {
	case err != nil:
		return err
	case there && !t.Force:
		return Failed(fmt.Errorf("write %s: a corpus is there already", name), "give --force to replace it, or another folder")
	case remote || !there:
		return nil
	}
	return corpus.CheckReplaceable(corpus.Disk{}, t.Dir)
}

// Publish puts the finished corpus into its bucket, if it goes to one.
func (t *Target) Publish(ctx context.Context) error {
	if !bucket.IsURL(t.Name) {
		return nil
	}
	made, err := finish.Open(corpus.Disk{}, t.Dir)
	if err != nil {
		return err
	}
	bank, err := made.Bank()
	if err != nil {
		return err
	}
	return withBucket(ctx, bucket.Create, t.Name, func(b *bucket.Bucket) error {
		if err := finish.CheckStillExcluded(b.Files(ctx), ".", bank, made.GuardDigests()); err != nil {
			return err
		}
		return b.Publish(ctx, corpus.Disk{}, t.Dir)
	})
}

// Temporary makes a folder that is removed when the run ends.
func (s *Streams) Temporary(name string) (string, error) {
	dir, err := os.MkdirTemp("", name)
	if err != nil {
		return "", fmt.Errorf("create a folder for temporary files: %w", err)
	}
	s.AtEnd(func() { os.RemoveAll(dir) }) //nolint:errcheck // a folder that stays behind is the system's to clear
	return dir, nil
}
