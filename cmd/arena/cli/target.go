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

// Staged checks the target and gives the output, which on its way to a bucket lies in
// a folder for temporary files.
func (t *Target) Staged(s *Streams) (Output, error) {
	if err := t.Check(); err != nil {
		return Output{}, err
	}
	if !bucket.IsURL(t.Name) {
		return NewOutput(t.Name, "")
	}
	staging, err := s.Temporary("arena-upload-")
	if err != nil {
		return Output{}, err
	}
	return NewOutput(t.Name, filepath.Join(staging, "out"))
}

// Make keeps the output for this process, has do write a corpus there, and puts that into
// its bucket, if it goes to one.
func (t *Target) Make(ctx context.Context, s *Streams, do func(finish.Target) error) error {
	out, err := t.Staged(s)
	if err != nil {
		return err
	}
	if err = out.Take(ctx, s, t.Force); err != nil {
		return err
	}
	if err = do(t.At(out)); err != nil {
		return err
	}
	return out.Publish(ctx)
}

// At is what a corpus in the output is assembled by.
func (t *Target) At(out Output) finish.Target {
	return finish.Target{FS: corpus.Disk{}, Out: out.Dir, Version: Version(), License: t.License}
}

// Output is where a corpus goes: a folder, or a bucket by way of a folder.
type Output struct {
	url string
	Dir string
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

// NoStream refuses - where a folder is written: one of that name would be made.
func NoStream(out string) error {
	if out == "-" {
		return Usage(errors.New("a folder cannot go to standard output"), "give -o a folder, such as -o out")
	}
	return nil
}

// Lock keeps the output for this process until the run ends.
func (o Output) Lock(s *Streams) error {
	release, err := corpus.Lock(o.Dir)
	if err != nil {
		return Otherwise(err, "the folder around -o must take new files")
	}
	s.AtEnd(release)
	return nil
}

// Take keeps the output for this process until the run ends, and refuses to write
// over a corpus that is there.
func (o Output) Take(ctx context.Context, s *Streams, force bool) error {
	if err := o.Lock(s); err != nil {
		return err
	}
	return o.Free(ctx, force)
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
	return corpus.Replaceable(corpus.Disk{}, o.Dir)
}

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
		if err := finish.Keeps(b.Files(ctx), ".", bank, made.Given()); err != nil {
			return err
		}
		return b.Publish(ctx, corpus.Disk{}, o.Dir)
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
