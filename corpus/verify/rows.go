package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/shard"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// maxGroup is the maximum size of a row group in bytes; the check reports a larger one. Row groups
// are written with at most 64 MiB before encoding. Even if encoding enlarges them, they are below
// maxGroup.
const maxGroup = 100 << 20

func (v *verifier) content(ctx context.Context, f *corpus.FileEntry) {
	if !v.whole[f.Path] || !strings.HasSuffix(f.Path, ".parquet") {
		return
	}
	err := corpus.OpenParquet(v.fs, v.full(f.Path), func(file *shard.File) error {
		return v.parquet(ctx, f, file)
	})
	if err != nil {
		v.say(f.Path, "%v", err)
	}
}

func (v *verifier) parquet(
	ctx context.Context,
	f *corpus.FileEntry,
	file *shard.File,
) error {
	if f.Rows == nil || *f.Rows != file.NumRows() {
		v.say(f.Path, "%d rows, not the manifest's number", file.NumRows())
	}
	name := cmp.Or(f.Config, strings.TrimSuffix(path.Base(f.Path), ".parquet"))
	if want := v.m.Schemas[name]; want != shard.Fingerprint(file.Schema()) {
		v.say(f.Path, "its schema is not the one that the manifest pins for %s", name)
	}
	index := true
	for i, g := range file.Metadata().RowGroups {
		if g.TotalByteSize > maxGroup {
			v.say(f.Path, "row group %d holds %d bytes, more than %d", i, g.TotalByteSize, maxGroup)
		}
		index = index && !slices.ContainsFunc(g.Columns, func(c format.ColumnChunk) bool {
			return c.OffsetIndexOffset == 0
		})
	}
	if !index {
		v.say(f.Path, "no page index")
	}
	if f.Config == "" {
		return nil
	}
	return v.rows(ctx, f, file)
}

// rows checks every row of a data file and adds a finding for each wrong one. The checks read only
// the row's text values, by the names of their columns. It returns an error only if reading fails
// or ctx ends.
func (v *verifier) rows(
	ctx context.Context,
	f *corpus.FileEntry,
	file *shard.File,
) error {
	schema := file.Schema()
	wanted := map[int]string{}
	for i, p := range schema.Columns() {
		wanted[i] = p[0]
		if p[0] == "reward_model" {
			wanted[i] = strings.Join(p, ".")
		}
	}
	n := 0
	return file.VisitRows(func(row parquet.Row) error {
		n++
		if err := v.row(f, cells(row, wanted)); err != nil {
			v.say(f.Path, "row %d: %v", n, err)
		}
		return ctx.Err()
	})
}

func cells(row parquet.Row, names map[int]string) map[string][]string {
	out := map[string][]string{}
	for _, x := range row {
		if name := names[x.Column()]; x.Kind() == parquet.ByteArray && !x.IsNull() {
			out[name] = append(out[name], string(x.ByteArray()))
		}
	}
	return out
}

func (v *verifier) row(f *corpus.FileEntry, c map[string][]string) error {
	problem := cmp.Or(c["problem_id"]...)
	cluster := cmp.Or(c["dedup_cluster"]...)
	if problem == "" || cluster == "" {
		return errors.New("problem_id or dedup_cluster is empty")
	}
	v.seen.add("problem", problem, f)
	v.seen.add("cluster", cluster, f)
	if f.Profile == corpus.ProfileVerlRL {
		for _, id := range gjson.Get(cmp.Or(c["reward_model.ground_truth"]...), "reward.#.product_id").ForEach {
			v.seen.add("gold item", id.String(), f)
		}
	}
	if f.Profile == corpus.ProfileHFJSON {
		return v.messages(c["messages"], c["tools"])
	}
	return nil
}

func (v *verifier) messages(messages, tools []string) error {
	ms, err := chat.Decode(messages)
	if err != nil {
		return err
	}
	if v.schema == nil || !slices.Equal(v.tools, tools) {
		v.tools, v.schema = tools, chat.ParseSchema(tools)
	}
	return chat.Check(ms, v.schema)
}

// sightings is the record of the split in which each problem, cluster of near-duplicate
// problems and gold item (a thing that solves a problem) occurs.
type sightings struct {
	at    map[string]*corpus.FileEntry
	leaks []Finding
}

func (s *sightings) add(kind, key string, f *corpus.FileEntry) {
	key = kind + " " + key
	before, ok := s.at[key]
	if !ok {
		s.at[key] = f
		return
	}
	if before.Split != f.Split {
		s.leaks = append(s.leaks, Finding{
			Path: f.Path,
			What: fmt.Sprintf("%s is in split %s and, in %s, in split %s", key, f.Split, before.Path, before.Split),
			Leak: true,
		})
	}
}

// pinned returns a finding for each cluster of similar problems, or gold item (a thing that solves
// a problem), whose rows are in another split than bank.json, the list of protected problems,
// assigns to it. pools maps "cluster ID" and "gold item ID" to that split. A cluster missing in
// pools is a finding too; a gold item may be missing.
func (s *sightings) pinned(pools map[string]string) (out []Finding) {
	for key, f := range s.at {
		pool, known := pools[key]
		if (known || strings.HasPrefix(key, "cluster ")) && pool != f.Split {
			out = append(out, Finding{
				Path: f.Path,
				What: fmt.Sprintf("%s is in split %s, the bank has it in %q", key, f.Split, pool),
				Leak: true,
			})
		}
	}
	return sorted(out)
}

// sorted sorts findings by text and removes duplicates.
func sorted(items []Finding) []Finding {
	slicesx.SortFunc(items, func(a, b Finding) int {
		return strings.Compare(a.String(), b.String())
	})
	return slices.Compact(items)
}
