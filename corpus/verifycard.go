package corpus

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/cursor"
)

// front is what a card's front matter promises.
type front struct {
	License string `yaml:"license"`
	Configs []struct {
		Name  string `yaml:"config_name"`
		Files []struct {
			Split string   `yaml:"split"`
			Paths []string `yaml:"path"`
		} `yaml:"data_files"`
	} `yaml:"configs"`
	Info []struct {
		Name   string `yaml:"config_name"`
		Splits []struct {
			Name string `yaml:"name"`
			Rows int64  `yaml:"num_examples"`
		} `yaml:"splits"`
		Download int64 `yaml:"download_size"`
	} `yaml:"dataset_info"`
}

// maxCard bounds what is read of a card.
const maxCard = 64 << 20

// card holds the card's configs, paths and counts against the shards. It is
// read even where its bytes differ from the manifest's, to say what was
// changed.
func (v *verifier) card() {
	b, err := ReadFile(v.fs, v.full(CardName), maxCard)
	if err != nil {
		return // missing or unreadable: already found
	}
	f, err := readFront(b)
	if err != nil {
		v.say(CardName, "its front matter is not readable: %v", err)
		return
	}
	v.cardPaths(f)
	v.cardCounts(f)
}

// maxOpened bounds what may open a list or a map inside another one, of which a
// card needs none: reading YAML takes the square of how deep they lie.
const maxOpened = 1000

// readFront reads a card that anybody may have written.
func readFront(b []byte) (*front, error) {
	rest, ok := bytes.CutPrefix(b, []byte("---\n"))
	head, _, found := bytes.Cut(rest, []byte("\n---"))
	if !ok || !found {
		return &front{}, nil
	}
	opened := 0
	for _, sign := range []string{"[", "{", "- -"} {
		opened += bytes.Count(head, []byte(sign))
	}
	if opened > maxOpened {
		return nil, fmt.Errorf("%d lists or maps inside others, more than %d", opened, maxOpened)
	}
	f := &front{}
	return f, yaml.Unmarshal(head, f)
}

func (v *verifier) cardPaths(f *front) {
	var named []string
	for _, c := range f.Configs {
		for _, d := range c.Files {
			for _, p := range d.Paths {
				named = append(named, p)
				if !slices.ContainsFunc(v.m.Files, func(e FileEntry) bool { return e.Path == p && e.Config == c.Name && e.Split == d.Split }) {
					v.say(CardName, "config %s, split %s names %s, which is no shard of it", c.Name, d.Split, p)
				}
			}
		}
	}
	for _, e := range v.m.Files {
		if e.Config != "" && ext(e.Path) == "parquet" && !slices.Contains(named, e.Path) {
			v.say(CardName, "no config names %s", e.Path)
		}
	}
}

func (v *verifier) cardCounts(f *front) {
	rows, bytes := map[Stream]int64{}, map[string]int64{}
	for _, e := range v.m.Files {
		if e.Config != "" && e.Rows != nil && ext(e.Path) == "parquet" {
			rows[Stream{Config: e.Config, Split: e.Split}] += *e.Rows
			bytes[e.Config] += e.Bytes
		}
	}
	for _, c := range f.Info {
		for _, s := range c.Splits {
			key := Stream{Config: c.Name, Split: s.Name}
			if rows[key] != s.Rows {
				v.say(CardName, "config %s, split %s: num_examples %d, the shards hold %d", c.Name, s.Name, s.Rows, rows[key])
			}
			delete(rows, key)
		}
		if bytes[c.Name] != c.Download {
			v.say(CardName, "config %s: download_size %d, the shards have %d", c.Name, c.Download, bytes[c.Name])
		}
	}
	for _, e := range v.m.Files {
		key := Stream{Config: e.Config, Split: e.Split}
		if _, left := rows[key]; left {
			v.say(CardName, "dataset_info lacks config %s, split %s", key.Config, key.Split)
			delete(rows, key)
		}
	}
}

// bankName is the file of clusters and their pools, where a build leaves it.
const bankName = "bank.json"

// bank holds each row's split against the pool that its cluster is pinned to.
func (v *verifier) bank() {
	if !v.whole[bankName] {
		return
	}
	b, err := ReadFile(v.fs, v.full(bankName), maxManifest)
	if err != nil || !cursor.Valid(string(b)) {
		v.say(bankName, "not readable as JSON")
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
