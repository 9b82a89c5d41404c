package corpus

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// placed is a part's file with its final path.
type placed struct {
	PartFile
	from string
	to   string
}

// place reads the parts and numbers the shards of each stream over all of
// them.
func (w *assembler) place(parts []string) error {
	total := map[Stream]int{}
	for _, dir := range parts {
		files, err := ReadPart(w.fs, dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			total[f.Stream]++
			w.shards = append(w.shards, placed{PartFile: f, from: filepath.Join(dir, filepath.FromSlash(f.Path))})
		}
	}
	seen := map[Stream]int{}
	for i := range w.shards {
		s := &w.shards[i]
		if s.Config == "" && total[s.Stream] > 1 {
			return fmt.Errorf("place %s: two parts hold one", s.Path)
		}
		s.to = shardPath(s.Stream, seen[s.Stream], total[s.Stream], ext(s.Path))
		seen[s.Stream]++
	}
	return oneSchema(w.shards)
}

// oneSchema refuses shards of one config with different columns: readers fail
// or fill in nulls, by the order of the files.
func oneSchema(shards []placed) error {
	first := map[string]string{}
	for _, s := range shards {
		key := s.Config + "/" + s.Table
		if want, ok := first[key]; ok && want != s.Schema {
			return fmt.Errorf("place %s: two schemas in config %s", s.from, s.Config)
		}
		first[key] = s.Schema
	}
	return nil
}

// shardPath is a shard's name in the corpus. ShareGPT readers take one folder
// per split; JSONL lies outside the folders that the card names.
func shardPath(s Stream, i, n int, ext string) string {
	number := fmt.Sprintf("%05d-of-%05d.%s", i, n, ext)
	switch {
	case s.Place != "":
		return s.Place
	case s.Table != "":
		return path.Join("tables", s.Table+"."+ext)
	case s.Profile == ProfileShareGPT:
		return path.Join("data", s.Config, s.Split, number)
	case strings.HasPrefix(ext, "json"):
		return path.Join("jsonl", s.Config, s.Split+"-"+number)
	default:
		return path.Join("data", s.Config, s.Split+"-"+number)
	}
}

func schemas(shards []placed) map[string]string {
	out := map[string]string{"rows": SchemaVersion}
	for _, s := range shards {
		if s.Schema != "" {
			out[s.Config+s.Table] = s.Schema
		}
	}
	return out
}
