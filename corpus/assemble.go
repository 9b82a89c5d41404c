package corpus

import (
	"cmp"
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
)

// Assembly is all that a finished corpus is put together from.
type Assembly struct {
	// Parts are the folders of finished parts. Their order is the order of the
	// shards, whoever wrote them.
	Parts []string
	// Extra are the files beside shards and tables, by path in the corpus.
	Extra map[string][]byte
	// Manifest lacks Version, Schemas and Files, which Assemble fills in.
	Manifest Manifest
	Card     Card
	// Move reports whether nobody needs the parts again, which lie on the corpus's own
	// volume: their files are moved into place, not copied.
	Move bool
	// Redact cleans the extra files and the card, and is held against every text
	// of every file that did not pass a redactor row by row: a finding stops the
	// corpus. Nil leaves all as it is.
	Redact *redact.Redactor
}

// ErrPart says that a part is not what was written: it must be written again.
var ErrPart = errors.New("it is not what was written there")

// Assemble puts a corpus together beside dir and moves it into place when all
// of it is good and durable, the manifest written last. A corpus that was
// there is replaced; any other folder that is not empty is refused. On an
// error dir is as it was.
func Assemble(ctx context.Context, fsys FS, dir string, a Assembly) error {
	if err := Replaceable(fsys, dir); err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	w := assembler{fs: fsys, dir: Beside(dir, "partial")}
	err := w.build(ctx, &a)
	if err == nil {
		err = Swap(fsys, w.dir, dir)
	}
	if err != nil {
		_ = fsys.RemoveAll(w.dir) // the first error is the one to tell
	}
	return err
}

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
	if err := w.place(a.Parts); err != nil {
		return err
	}
	for _, s := range w.shards {
		if err := w.shard(ctx, s, a.Move); err != nil {
			return err
		}
	}
	m := a.Manifest
	m.Version, m.Schemas = ManifestVersion, schemas(w.shards)
	if a.Redact != nil {
		m.Redaction = redaction(a.Redact, w.shards)
	}
	if err := Balance(m.Funnel); err != nil {
		return err
	}
	extra := map[string][]byte{CardName: []byte(a.Card.render(&m, w.shards, a.Extra[BankName] != nil))}
	if training(w.shards) != "" { // the files that its blocks name
		extra[trainers.TemplateName], extra[trainers.CheckName] = trainers.ChatTemplate, trainers.Check
	}
	maps.Copy(extra, a.Extra)
	if err := w.extras(extra, a.Redact); err != nil {
		return err
	}
	slices.SortFunc(w.files, func(x, y FileEntry) int { return cmp.Compare(x.Path, y.Path) })
	m.Files = w.files
	if err := w.scan(ctx, a.Redact, m.Configuration); err != nil {
		return err
	}
	return w.manifest(&m)
}

func (w *assembler) extras(extra map[string][]byte, r *redact.Redactor) error {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("write %s: the path leaves the corpus", name)
		}
		text := string(extra[name])
		if r != nil {
			text = r.Text(text, redact.Counts{})
		}
		sum, err := w.write(name, strings.NewReader(text))
		if err != nil {
			return err
		}
		w.files = append(w.files, sum)
	}
	return nil
}

func (w *assembler) write(rel string, from io.Reader) (FileEntry, error) {
	f, err := Create(w.fs, filepath.Join(w.dir, filepath.FromSlash(rel)))
	if err != nil {
		return FileEntry{}, err
	}
	_, err = io.Copy(f, from)
	err = errors.Join(err, f.Close())
	return FileEntry{Path: rel, Bytes: f.N, SHA256: f.SHA256()}, err
}

// scan holds a redactor against the configuration and against every text of
// the finished files that did not pass one on its way.
func (w *assembler) scan(ctx context.Context, r *redact.Redactor, configuration []byte) error {
	if r == nil {
		return nil
	}
	passed := map[string]bool{}
	for _, s := range w.shards {
		passed[s.to] = s.Clean
	}
	for _, f := range w.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if passed[f.Path] {
			continue
		}
		if err := SecretsLeft(w.fs, w.dir, f.Path, r); err != nil {
			return err
		}
	}
	return r.Left("configuration", string(configuration))
}

func (w *assembler) manifest(m *Manifest) error {
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
