package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/bucket"
	"github.com/trajectory-arena/arena/internal/journal"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// Target is the destination to which a command writes a corpus, with the flags for it.
type Target struct {
	// Name is the path of a folder, or the URL of a folder in a bucket.
	Name string
	// License is the licence on the dataset card, which only the publisher knows.
	License string
	// Force allows replacing an existing corpus.
	Force bool
	// Dir is the local folder in which the corpus is written, also if the target is in a bucket.
	// Stage and SetDir set it.
	Dir string

	command *cobra.Command
	// identity is the hash of the command, empty if it is unknown.
	identity string
}

// Flags adds the flags -o and --license to c.
func (t *Target) Flags(c *cobra.Command) {
	t.command = c
	c.Flags().StringVarP(&t.Name, "output", "o", "", "folder of the corpus, or the URL of one in a bucket (required)")
	Replaces(c, "output")
	c.Flags().StringVar(&t.License, "license", "", "licence that the card names, in the Hub's words, such as cc-by-4.0")
}

// Replacing adds the flags -o, --license and --force to c.
func (t *Target) Replacing(c *cobra.Command) {
	t.Flags(c)
	c.Flags().BoolVar(&t.Force, "force", false, "replace an existing corpus")
}

// hubLicense matches an identifier that the Hugging Face Hub accepts as a licence. Its value is
// written to YAML, so that no other characters are allowed.
var hubLicense = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,63}$`)

// Check returns an error if there is no output folder or the licence is invalid.
func (t *Target) Check() error {
	switch {
	case t.Name == "":
		return Misuse("no output folder", "say where the corpus goes, such as -o out")
	case t.License != "" && !hubLicense.MatchString(t.License):
		return Usage(fmt.Errorf("read --license: %q is no word of the Hub for a licence", t.License), "such as apache-2.0, cc-by-4.0, mit or other")
	}
	return nil
}

// Stage checks the target and sets Dir. For a target in a bucket, Dir is a temporary folder.
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
	return t.SetDir(staging)
}

// SetDir sets Dir. For a target in a bucket, Dir is staging or, if staging is empty, a folder of
// the target's name in the working folder.
func (t *Target) SetDir(staging string) error {
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

// Make locks the output, calls write to write a corpus, and uploads the corpus if the target is
// in a bucket.
func (t *Target) Make(
	ctx context.Context,
	s *Streams,
	write func(finish.Target) error,
) error {
	if err := t.Stage(s); err != nil {
		return err
	}
	if done, err := t.Acquire(ctx, s); done || err != nil {
		return err
	}
	if err := write(t.FinishTarget(t.Dir)); err != nil {
		return err
	}
	return t.Publish(ctx)
}

// FinishTarget returns the target for assembling a corpus in dir.
func (t *Target) FinishTarget(dir string) finish.Target {
	return finish.Target{
		FS:      corpus.Disk{},
		Out:     dir,
		Version: Version(),
		License: t.License,
		Command: t.identity,
	}
}

// NoStream returns an error if out is "-", since a corpus is a folder and cannot be written to
// standard output.
func NoStream(out string) error {
	if out == "-" {
		return Misuse("a folder cannot go to standard output", "give -o a folder, such as -o out")
	}
	return nil
}

// Lock locks the output folder dir until the run ends.
func Lock(s *Streams, dir string) error {
	release, err := corpus.Lock(dir)
	if err != nil {
		return DefaultHint(err, "the folder around -o must take new files")
	}
	s.AtEnd(release)
	return nil
}

// Acquire locks the output until the run ends. done reports that the output is a finished corpus
// that the same command wrote, so that there is nothing to do. It returns an error if another corpus
// is there.
func (t *Target) Acquire(ctx context.Context, s *Streams) (done bool, err error) {
	if err = Lock(s, t.Dir); err != nil {
		return false, err
	}
	return t.CheckFree(ctx, s)
}

// CheckFree reports whether the output is a finished corpus that the same command wrote, and says
// so. It returns an error if a corpus is there that may not be replaced.
func (t *Target) CheckFree(ctx context.Context, s *Streams) (done bool, err error) {
	// An input that cannot be read has no hash. The command reports it when it opens the input.
	t.identity, _ = commandIdentity(ctx, t.command)
	if err = ctx.Err(); err != nil {
		return false, err
	}

	name := t.Dir
	exists := false
	remote := bucket.IsURL(t.Name)
	if remote {
		name = t.Name
		err = withBucket(ctx, bucket.Create, t.Name, func(b *bucket.Bucket) (err error) {
			fsys := b.Files(ctx)
			exists, err = corpus.IsCorpus(fsys, ".")
			done = err == nil && exists && isWrittenBy(fsys, ".", t.identity)
			return err
		})
	} else {
		_, readErr := corpus.ReadManifest(corpus.Disk{}, t.Dir)
		if errors.Is(readErr, syscall.ENOTDIR) { // before any work
			return false, readErr
		}
		exists = readErr == nil
		done = exists && isWrittenBy(corpus.Disk{}, t.Dir, t.identity)
	}

	switch {
	case err != nil:
		return false, err
	case done && !t.Force:
		s.Notef("this command wrote %s before: nothing to do (--force writes it again)\n", name)
		return true, nil
	case exists && !t.Force:
		return false, Failed(fmt.Errorf("write %s: a corpus is there already", name), "give --force to replace it, or another folder")
	case remote || !exists:
		return false, nil
	}
	return false, corpus.CheckReplaceable(corpus.Disk{}, t.Dir)
}

// Publish copies the finished corpus to its bucket. It does nothing if the target is a local
// folder.
func (t *Target) Publish(ctx context.Context) error {
	if !bucket.IsURL(t.Name) {
		return nil
	}
	built, err := finish.Open(corpus.Disk{}, t.Dir)
	if err != nil {
		return err
	}
	bank, err := built.Bank()
	if err != nil {
		return err
	}
	return withBucket(ctx, bucket.Create, t.Name, func(b *bucket.Bucket) error {
		if err := finish.CheckStillExcluded(b.Files(ctx), ".", bank, built.GuardDigests()); err != nil {
			return err
		}
		return b.Publish(ctx, corpus.Disk{}, t.Dir)
	})
}

// Temporary creates a temporary folder that is removed when the run ends, or by the next run if this
// one is killed. name is the start of its name, such as "arena-view-".
func (s *Streams) Temporary(name string) (string, error) {
	dir, remove, err := journal.TemporaryFolder(name)
	if err != nil {
		return "", err
	}
	s.AtEnd(remove)
	return dir, nil
}
