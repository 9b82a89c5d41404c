// Package verify checks from the files of a finished corpus that the corpus is valid.
package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Finding is a condition of a valid corpus that does not hold, or a missing file that its owner
// does not publish.
type Finding struct {
	// Path is the path of the file to which the finding refers, relative to the corpus.
	Path string
	// What describes what is wrong.
	What string
	// Leak reports whether a problem, cluster or gold item is in the wrong split or in two splits.
	Leak bool
	// Withheld reports whether the file is missing because owners do not publish it: it is the
	// bank, a report or a ledger table.
	Withheld bool
}

// String returns the path and the description of the finding.
func (f Finding) String() string { return f.Path + ": " + f.What }

// Corpus checks a corpus from its files alone: sizes, hashes, rows, schemas, the counts on the
// card, the sums of the funnel, the messages, and that no cluster, problem or gold item is in two
// splits. It returns all findings, sorted by path. The error is not nil if the corpus could not
// be checked.
func Corpus(
	ctx context.Context,
	fsys corpus.FS,
	dir string,
) ([]Finding, error) {
	m, err := corpus.ReadManifest(fsys, dir)
	if err != nil {
		return nil, err
	}
	v := verifier{
		fs:   fsys,
		dir:  dir,
		m:    m,
		seen: sightings{at: map[string]*corpus.FileEntry{}},
	}
	if err := v.all(ctx); err != nil {
		return nil, err
	}
	slicesx.SortByKey(v.found, func(f Finding) string {
		return f.Path
	})
	return v.found, nil
}

// verifier checks one corpus and collects the findings.
type verifier struct {
	fs    corpus.FS
	dir   string
	m     *corpus.Manifest
	found []Finding
	seen  sightings
	// whole has the paths of the files whose size and hash are those in the manifest. The
	// content of other files is not checked.
	whole map[string]bool
	// tools are the tools of the previous row, and schema is parsed from them. Both are cached,
	// since most rows have the same tools.
	tools  []string
	schema chat.Schema
}

func (v *verifier) all(ctx context.Context) error {
	if err := corpus.CheckFunnel(v.m.Funnel); err != nil {
		v.say(corpus.ManifestName, "%v", err)
	}
	v.whole = map[string]bool{}
	listed := map[string]bool{corpus.ManifestName: true}
	for i := range v.m.Files {
		f := &v.m.Files[i]
		listed[f.Path] = true
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := v.file(f); err != nil {
			return err
		}
		v.content(ctx, f)
	}
	err := corpus.VisitUnlisted(v.fs, v.dir, ".", listed, func(name string) error {
		v.say(name, "the manifest does not name this file") // loaders take files by patterns
		return nil
	})
	if err != nil {
		return err
	}
	v.card()
	v.bank()
	err = v.secrets(ctx)
	v.found = append(v.found, sorted(v.seen.leaks)...)
	return err
}

func (v *verifier) say(path, what string, args ...any) {
	v.found = append(v.found, Finding{
		Path: path,
		What: fmt.Sprintf(what, args...),
	})
}

func (v *verifier) full(rel string) string { return filepath.Join(v.dir, filepath.FromSlash(rel)) }

func (v *verifier) file(f *corpus.FileEntry) error {
	size, sum, err := corpus.HashFile(v.fs, v.full(f.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		private := f.Path == corpus.BankName || strings.HasPrefix(f.Path, "reports/") || strings.HasPrefix(f.Path, "tables/")
		v.found = append(v.found, Finding{
			Path:     f.Path,
			What:     "the file is missing",
			Withheld: private,
		})
	case err != nil:
		return err
	case size != f.Bytes:
		v.say(f.Path, "%d bytes, the manifest says %d", size, f.Bytes)
	case sum != f.SHA256:
		v.say(f.Path, "sha256 %s, the manifest says %s", sum, f.SHA256)
	default:
		v.whole[f.Path] = true
	}
	return nil
}

// secrets adds a finding for each file that contains a secret, if the manifest states that the
// corpus was redacted. Files with a wrong size or hash are skipped.
func (v *verifier) secrets(ctx context.Context) error {
	if v.m.Redaction == nil {
		return nil
	}
	r := redact.New(redact.Options{Hotkeys: v.m.Redaction.Hotkeys})
	for _, f := range v.m.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !v.whole[f.Path] {
			continue
		}
		if remaining := corpus.CheckSecrets(v.fs, v.dir, f.Path, r); remaining != nil {
			v.say(f.Path, "%v", remaining)
		}
	}
	return nil
}

// card compares the configs, paths and counts on the dataset card with the shards in the manifest.
// It does so even if the card's hash is wrong, to report what was changed.
func (v *verifier) card() {
	b, err := corpus.ReadCard(v.fs, v.dir)
	if err != nil {
		return // missing or unreadable: already found
	}
	f, err := corpus.ParseFront(b)
	if err != nil {
		v.say(corpus.CardName, "its front matter is not readable: %v", err)
		return
	}
	v.cardPaths(f)
	v.cardCounts(f)
}

func (v *verifier) cardPaths(f *corpus.Front) {
	var named []string
	for _, c := range f.Configs {
		for _, d := range c.Files {
			for _, p := range d.Paths {
				named = append(named, p)
				if !slices.ContainsFunc(v.m.Files, func(e corpus.FileEntry) bool { return e.Path == p && e.Config == c.Name && e.Split == d.Split }) {
					v.say(corpus.CardName, "config %s, split %s names %s, which is no shard of it", c.Name, d.Split, p)
				}
			}
		}
	}
	for _, e := range v.m.Files {
		if e.Config != "" && path.Ext(e.Path) == ".parquet" && !slices.Contains(named, e.Path) {
			v.say(corpus.CardName, "no config names %s", e.Path)
		}
	}
}

func (v *verifier) cardCounts(f *corpus.Front) {
	rows := map[corpus.Stream]int64{}
	bytes := map[string]int64{}
	for _, e := range v.m.Files {
		if e.Config != "" && e.Rows != nil && path.Ext(e.Path) == ".parquet" {
			rows[corpus.Stream{
				Config: e.Config,
				Split:  e.Split,
			}] += *e.Rows
			bytes[e.Config] += e.Bytes
		}
	}
	for _, c := range f.Info {
		for _, s := range c.Splits {
			key := corpus.Stream{Config: c.Name, Split: s.Name}
			if rows[key] != s.Rows {
				v.say(
					corpus.CardName,
					"config %s, split %s: num_examples %d, the shards hold %d",
					c.Name,
					s.Name,
					s.Rows,
					rows[key],
				)
			}
			delete(rows, key)
		}
		if bytes[c.Name] != c.Download {
			v.say(corpus.CardName, "config %s: download_size %d, the shards have %d", c.Name, c.Download, bytes[c.Name])
		}
	}
	for _, e := range v.m.Files {
		key := corpus.Stream{Config: e.Config, Split: e.Split}
		if _, remaining := rows[key]; remaining {
			v.say(corpus.CardName, "dataset_info lacks config %s, split %s", key.Config, key.Split)
			delete(rows, key)
		}
	}
}

// maxBank is the maximum size of bank.json that is read, in bytes.
const maxBank = 256 << 20

// bank adds a finding for each cluster of similar problems or gold item (a thing that solves a
// problem) whose rows are in another split than bank.json, the list of protected problems, says. It
// does nothing if bank.json is missing or was changed.
func (v *verifier) bank() {
	if !v.whole[corpus.BankName] {
		return
	}
	b, err := corpus.ReadFile(v.fs, v.full(corpus.BankName), maxBank)
	if err != nil || !cursor.Valid(string(b)) {
		v.say(corpus.BankName, "not readable as JSON")
		return
	}
	pools := map[string]string{}
	for _, c := range gjson.GetBytes(b, "clusters").ForEach {
		pool := c.Get("pool").String()
		pools["cluster "+c.Get("id").String()] = pool
		for _, id := range c.Get("product_ids").ForEach {
			pools["gold item "+id.String()] = pool
		}
	}
	v.found = append(v.found, v.seen.pinned(pools)...)
}
