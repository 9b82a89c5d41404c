package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/bucket"
	"github.com/trajectory-arena/arena/internal/digest"
)

// withoutEffect are the flags that change no byte of a corpus: they say how a command runs, who
// answers its requests, what is printed, and where publish uploads the corpus to.
var withoutEffect = strings.Fields(`
	api-key-env concurrency dry-run endpoint force gpu-hour-usd header jobs prices python quiet
	retries retry-infra serve serve-timeout timeout to wait-for-server
`)

// commandIdentity returns the hash of all that determines the output of c: the version of the program,
// the name of the command, the flags that the user set, and the contents of the files that arguments and
// flags name. Neither paths nor the order of arguments change the hash. A corpus is identified by
// its manifest, which holds the hashes of its files.
func commandIdentity(ctx context.Context, c *cobra.Command) (string, error) {
	parts := []string{Version(), c.CommandPath()}
	for _, arg := range c.Flags().Args() {
		part, err := argumentIdentity(ctx, c, arg)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}

	var firstErr error
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if firstErr != nil || slices.Contains(withoutEffect, f.Name) || isOutput(f) {
			return
		}
		for _, value := range flagValues(f) {
			if _, isRead := f.Annotations[noteReads]; isRead {
				value, firstErr = contentIdentity(ctx, value)
			}
			parts = append(parts, f.Name+"="+value)
		}
	})
	if firstErr != nil {
		return "", firstErr
	}
	slices.Sort(parts)
	return digest.SHA256([]byte(strings.Join(parts, "\x00"))), nil
}

// isOutput reports whether the value of a flag is a path that the command writes.
func isOutput(f *pflag.Flag) bool {
	for _, note := range []string{noteWrites, noteReplaces, noteStages} {
		if _, ok := f.Annotations[note]; ok {
			return true
		}
	}
	return false
}

// argumentIdentity returns a text that identifies an argument such as "corpus:0.5" of command c. If
// c reads the file or folder at the argument's path, the text has the hash of its content, a colon
// and the weight (0.5). Otherwise it has the argument itself.
func argumentIdentity(ctx context.Context, c *cobra.Command, arg string) (string, error) {
	if _, isRead := c.Annotations[noteReads]; !isRead {
		return "argument=" + arg, nil
	}
	name, weight, _ := SplitWeight(arg)
	content, err := contentIdentity(ctx, name)
	return "argument=" + content + ":" + weight, err
}

// contentIdentity returns a SHA-256 that identifies the content at name: of the manifest of a
// corpus, of a file, or of all files of a folder, regardless of their names. Anything but a
// corpus in a bucket is an error.
func contentIdentity(ctx context.Context, name string) (string, error) {
	var manifest []byte
	err := ReadCorpus(ctx, name, func(fsys corpus.FS, dir string) (err error) {
		manifest, err = corpus.ReadFile(fsys, filepath.Join(dir, corpus.ManifestName), corpus.MaxManifestBytes)
		return err
	})
	if err == nil {
		return digest.SHA256(manifest), nil
	}
	if bucket.IsURL(name) {
		return "", err
	}

	var hashes []string
	err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		hash, err := fileIdentity(ctx, path)
		hashes = append(hashes, hash)
		return err
	})
	slices.Sort(hashes)
	return digest.SHA256([]byte(strings.Join(hashes, ""))), err
}

// fileIdentity returns the SHA-256 of the content of a file, by which a repeated command recognises
// unchanged inputs.
func fileIdentity(ctx context.Context, path string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// isWrittenBy reports whether dir has a corpus that the command with this identity (a hash of all
// its inputs) wrote, and all files of the corpus still have the recorded sizes.
func isWrittenBy(fsys corpus.FS, dir, identity string) bool {
	m, err := corpus.ReadManifest(fsys, dir)
	if err != nil || identity == "" || m.CommandSHA256 != identity {
		return false
	}
	return !slices.ContainsFunc(m.Files, func(file corpus.FileEntry) bool {
		return fileSize(fsys, filepath.Join(dir, filepath.FromSlash(file.Path))) != file.Bytes
	})
}

// fileSize returns the size of a file in bytes, and -1 if it cannot be read.
func fileSize(fsys corpus.FS, path string) int64 {
	f, err := fsys.Open(path)
	if err != nil {
		return -1
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	if err != nil {
		return -1
	}
	return info.Size()
}
