package corpus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/trainers"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Assembly is the description of a corpus to assemble.
type Assembly struct {
	// Parts are the folders of finished parts, in the order of the shards.
	Parts []string
	// Extra are the files other than shards and tables, by their path in the corpus.
	Extra map[string][]byte
	// Manifest is the manifest without Version, Schemas and Files, which Assemble sets.
	Manifest Manifest
	Card     Card
	// Move reports whether shards are moved from the folders of the parts instead of copied. The
	// folders must then be on the volume of the corpus. They are incomplete afterwards.
	Move bool
	// Redact redacts the extra files and the card. Assemble also scans every shard whose rows
	// were not redacted when they were written, and returns an error for a secret in one. A nil
	// Redact leaves texts unchanged.
	Redact *redact.Redactor
}

// ErrDamagedPart is returned if a file of a part is missing, or its content differs from the
// record in the part's list. The part must then be written again.
var ErrDamagedPart = errors.New("it is not what was written there")

// Assemble assembles a corpus in a sibling folder of dir and moves it to dir when it is
// complete and durable. The manifest is written last. An existing corpus in dir is
// replaced; any other folder that is not empty is an error. On an error, dir is unchanged.
func Assemble(ctx context.Context, fsys FS, dir string, a Assembly) error {
	if err := CheckReplaceable(fsys, dir); err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	w := assembler{fs: fsys, dir: SiblingPath(dir, "partial")}
	err := w.build(ctx, &a)
	if err == nil {
		err = Swap(fsys, w.dir, dir)
	}
	if err != nil {
		_ = fsys.RemoveAll(w.dir) // report the first error
	}
	return err
}

// assembler writes the files of one corpus to dir, a temporary folder that becomes the corpus at
// the end. It collects the manifest entries of the written files.
type assembler struct {
	fs     FS
	dir    string
	files  []FileEntry
	shards []placed
}

func (w *assembler) build(ctx context.Context, a *Assembly) error {
	if err := w.fs.RemoveAll(w.dir); err != nil {
		return err
	}
	if err := w.placeShards(a.Parts); err != nil {
		return err
	}
	for _, s := range w.shards {
		if err := w.addShard(ctx, s, a.Move); err != nil {
			return err
		}
	}
	m := a.Manifest
	m.Version = ManifestVersion
	m.Schemas = schemas(w.shards)
	if a.Redact != nil {
		m.Redaction = newRedaction(a.Redact, w.shards)
	}
	if err := CheckFunnel(m.Funnel); err != nil {
		return err
	}
	hasBank := a.Extra[BankName] != nil
	extra := map[string][]byte{CardName: []byte(a.Card.render(&m, w.shards, hasBank))}
	if trainingSection(w.shards) != "" { // its blocks refer to both files
		extra[trainers.TemplateName] = trainers.ChatTemplate
		extra[trainers.CheckName] = trainers.Check
	}
	maps.Copy(extra, a.Extra)
	if err := w.addFiles(extra, a.Redact); err != nil {
		return err
	}
	slicesx.SortByKey(w.files, func(f FileEntry) string {
		return f.Path
	})
	m.Files = w.files
	if err := w.checkSecrets(ctx, a.Redact, &m); err != nil {
		return err
	}
	return w.writeManifest(&m)
}

// addFiles writes files, which maps paths in the corpus to contents, and appends the manifest
// entry of each file to w.files. Contents are redacted first, unless r is nil. A path that
// leaves the corpus is an error.
func (w *assembler) addFiles(files map[string][]byte, r *redact.Redactor) error {
	for _, name := range slicesx.SortedKeys(files) {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("write %s: the path leaves the corpus", name)
		}
		text := string(files[name])
		if r != nil {
			text = r.Text(text, redact.Counts{})
		}
		entry, err := w.writeFile(name, strings.NewReader(text))
		if err != nil {
			return err
		}
		w.files = append(w.files, entry)
	}
	return nil
}

func (w *assembler) writeFile(rel string, content io.Reader) (FileEntry, error) {
	f, err := Create(w.fs, filepath.Join(w.dir, filepath.FromSlash(rel)))
	if err != nil {
		return FileEntry{}, err
	}
	_, err = io.Copy(f, content)
	err = errors.Join(err, f.Close())
	return FileEntry{
		Path:   rel,
		Bytes:  f.N,
		SHA256: f.SHA256(),
	}, err
}

// checkSecrets returns an error if r finds a secret in the finished corpus. It scans the
// configuration, the instruments (judges and embeddings) and every file except shards whose rows
// were redacted when they were written. A nil r scans nothing.
func (w *assembler) checkSecrets(
	ctx context.Context,
	r *redact.Redactor,
	m *Manifest,
) error {
	if r == nil {
		return nil
	}
	isClean := map[string]bool{}
	for _, s := range w.shards {
		isClean[s.target] = s.Clean
	}
	for _, f := range w.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if isClean[f.Path] {
			continue
		}
		if err := CheckSecrets(w.fs, w.dir, f.Path, r); err != nil {
			return err
		}
	}
	if err := r.Left("instruments", string(m.Instruments)); err != nil {
		return err
	}
	return r.Left("configuration", string(m.Configuration))
}

// writeManifest flushes all folders to disk and then writes manifest.json. The presence of the
// manifest means that the corpus is complete.
func (w *assembler) writeManifest(m *Manifest) error {
	b, err := EncodeReport(m)
	if err != nil {
		return err
	}
	for _, d := range folders(m.Files) {
		if err := w.fs.SyncDir(filepath.Join(w.dir, filepath.FromSlash(d))); err != nil {
			return err
		}
	}
	if err := WriteFile(w.fs, filepath.Join(w.dir, ManifestName), b); err != nil {
		return err
	}
	return w.fs.SyncDir(w.dir)
}

// folders returns the folders that contain files and all their parents, up to "." for the corpus
// itself. The list is sorted and has no duplicates.
func folders(files []FileEntry) []string {
	out := []string{"."}
	for _, f := range files {
		for d := path.Dir(f.Path); d != "."; d = path.Dir(d) {
			out = append(out, d)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
