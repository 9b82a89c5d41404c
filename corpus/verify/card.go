package verify

import (
	"path"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// card holds the card's configs, paths and counts against the shards. It is
// read even where its bytes differ from the manifest's, to say what was
// changed.
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
	rows, bytes := map[corpus.Stream]int64{}, map[string]int64{}
	for _, e := range v.m.Files {
		if e.Config != "" && e.Rows != nil && path.Ext(e.Path) == ".parquet" {
			rows[corpus.Stream{Config: e.Config, Split: e.Split}] += *e.Rows
			bytes[e.Config] += e.Bytes
		}
	}
	for _, c := range f.Info {
		for _, s := range c.Splits {
			key := corpus.Stream{Config: c.Name, Split: s.Name}
			if rows[key] != s.Rows {
				v.say(corpus.CardName, "config %s, split %s: num_examples %d, the shards hold %d", c.Name, s.Name, s.Rows, rows[key])
			}
			delete(rows, key)
		}
		if bytes[c.Name] != c.Download {
			v.say(corpus.CardName, "config %s: download_size %d, the shards have %d", c.Name, c.Download, bytes[c.Name])
		}
	}
	for _, e := range v.m.Files {
		key := corpus.Stream{Config: e.Config, Split: e.Split}
		if _, left := rows[key]; left {
			v.say(corpus.CardName, "dataset_info lacks config %s, split %s", key.Config, key.Split)
			delete(rows, key)
		}
	}
}

const maxBank = 256 << 20

// bank holds each row's split against the pool that its cluster is pinned to.
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
	gjson.GetBytes(b, "clusters").ForEach(func(_, c gjson.Result) bool {
		pool := c.Get("pool").String()
		pools["cluster "+c.Get("id").String()] = pool
		c.Get("product_ids").ForEach(func(_, id gjson.Result) bool {
			pools["product "+id.String()] = pool
			return true
		})
		return true
	})
	v.found = append(v.found, v.seen.pinned(pools)...)
}
