package export_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/export"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/pipeline"
)

// imported reads traces from a folder or file into a corpus.
func imported(t *testing.T, source string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "corpus")
	config := pipeline.Defaults().AsRecorded()
	config.MaxUnreadable = 1
	config.Redact.Secrets = false
	r := pipeline.Run{
		Config: config, Out: dir, Work: dir + ".work", FS: corpus.Disk{}, Version: "v0",
		Sources: pipeline.Sources{Days: []string{source}, AnyNetwork: true},
	}
	if _, err := r.Build(context.Background()); err != nil {
		t.Fatalf("import %s: %v", source, err)
	}
	verified(t, dir)
	return dir
}

// sources are folders of other people's traces: our own samples, values that
// formats bend, and with the tag long the real ones where they are.
func sources(t *testing.T) []string {
	t.Helper()
	items := []string{filepath.Join("..", "..", "pipeline", "testdata", "import"), nastyTraces(t)}
	for _, name := range longtest.Pick([]string{"tau-bench", "atif", "oro-episode", "oro-sft"}, nil) {
		if longtest.SharedFolder() != "" {
			items = append(items, longtest.Shared(t, "data/real/"+name))
		}
	}
	return items
}

// recorded reads the conversations of a folder with code that is independent of the reader. It
// returns the expected rows by problem or session.
func recorded(t *testing.T, dir string) (out []Talk) {
	t.Helper()
	for _, doc := range documents(t, dir) {
		if vetoed(doc.Raw) {
			continue
		}
		var talk Talk
		switch {
		case doc.Get("traj").Exists():
			talk = messages(t, doc.Get("traj").Array())
		case doc.Get("messages").Exists():
			talk = messages(t, doc.Get("messages").Array())
		case strings.HasPrefix(doc.Get("schema_version").String(), "ATIF-v1") && !strings.Contains(doc.Raw, `"type": "image"`):
			talk = steps(t, doc.Get("steps").Array())
		default:
			continue
		}
		if talk = ended(talk); len(talk.Turns) > 0 {
			out = append(out, talk)
		}
	}
	return out
}

// ended is a talk as a row has it: up to the model's last turn, whose calls
// wait for no answer.
func ended(talk Talk) Talk {
	for n := len(talk.Turns); n > 0 && talk.Turns[n-1].User != ""; n-- {
		talk.Turns = talk.Turns[:n-1]
	}
	if n := len(talk.Turns); n > 0 {
		for i := range talk.Turns[n-1].Calls {
			talk.Turns[n-1].Calls[i].Result = ""
		}
	}
	return talk
}

func documents(t *testing.T, dir string) (out []gjson.Result) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.json*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		r := io.Reader(f)
		if strings.HasSuffix(name, ".gz") {
			if r, err = gzip.NewReader(f); err != nil {
				t.Fatal(err)
			}
		}
		for d := json.NewDecoder(r); ; {
			var doc json.RawMessage
			if err := d.Decode(&doc); err != nil {
				break
			}
			out = append(out, gjson.ParseBytes(doc))
		}
		_ = f.Close() // opened to read
	}
	return out
}

// TestImportedTracesExportToEveryProfile imports traces that other programs recorded, exports them
// in every profile, and compares each row with the source file. Results must follow their calls
// although ids repeat.
func TestImportedTracesExportToEveryProfile(t *testing.T) {
	t.Parallel()
	for _, dir := range sources(t) {
		source := imported(t, dir)
		out := filepath.Join(t.TempDir(), "out")
		counts, err := export.Run(context.Background(), corpus.Disk{}, source, out, export.All(), &export.Options{Sessions: 1000}, 2)
		if err != nil {
			t.Fatal(err)
		}
		verified(t, out)
		got := readExport(t, out)
		want := recorded(t, dir)
		for profile, talks := range got {
			if profile == "sft_turns" || profile == "sts" { // one row per turn, and redacted: package export tests both
				continue
			}
			everyOne(t, dir+" as "+profile, asProfile(profile, want), talks)
		}
		for _, c := range counts {
			if c.In != c.Out+dropped(c) {
				t.Errorf("%s: %s takes in %d and accounts for %d", dir, c.Profile, c.In, c.Out+dropped(c))
			}
		}
	}
}

// asProfile are the talks that a profile has a place for, as it has them.
func asProfile(profile string, talks []Talk) []Talk {
	if profile != "sharegpt" {
		return talks
	}
	var out []Talk
	for _, talk := range talks {
		if fitsShareGPT(talk) {
			out = append(out, inThinking(talk))
		}
	}
	return out
}

// everyOne checks that each expected talk is among the exported ones.
func everyOne(t *testing.T, where string, expected, got []Talk) {
	t.Helper()
	sources := map[string]bool{}
	for _, g := range got {
		sources[encoded(t, g)] = true
	}
	for _, want := range expected {
		if !sources[encoded(t, want)] {
			t.Errorf("%s: no row equals the trace about %.60q: %.2000s", where, want.Turns[0].User, nearest(want, got))
		}
	}
}

func encoded(t *testing.T, talk Talk) string {
	t.Helper()
	b, err := json.Marshal(talk)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func dropped(c export.Count) (n int64) {
	for _, k := range c.Dropped {
		n += k
	}
	return n
}

// nearest returns the difference between a talk and the exported one with the same first message.
func nearest(want Talk, got []Talk) string {
	for _, g := range got {
		if len(g.Turns) == len(want.Turns) && g.Turns[0].User == want.Turns[0].User {
			return cmp.Diff(want, g)
		}
	}
	return "none begins alike"
}

// TestImportExportImport writes an imported corpus as ATIF and as lines of messages and imports
// those, and its own Parquet, again: the rows are equal, except for the names of their files.
func TestImportExportImport(t *testing.T) {
	t.Parallel()
	for _, dir := range sources(t) {
		source := imported(t, dir)
		parquet := imported(t, filepath.Join(source, "data/sft"))
		if diff := cmp.Diff(comparable(t, source, "parquet"), comparable(t, parquet, "parquet")); diff != "" {
			t.Errorf("%s by way of Parquet: %.3000s", dir, diff)
		}
		for name, file := range map[string]string{
			"atif": "atif/train.jsonl", "openai-jsonl-zst": "jsonl/openai-jsonl-zst",
		} {
			p, _, _ := export.ByName(name)
			out := filepath.Join(t.TempDir(), "out")
			if _, err := export.Run(context.Background(), corpus.Disk{}, source, out, []export.Profile{p}, &export.Options{}, 1); err != nil {
				t.Fatal(err)
			}
			again := imported(t, filepath.Join(out, file))
			if diff := cmp.Diff(comparable(t, source, name), comparable(t, again, name)); diff != "" {
				t.Errorf("%s by way of %s: %.3000s", dir, name, diff)
			}
		}
	}
}

// comparable returns the rows of a corpus without the fields that a second reading cannot have: the
// file, the record, and those for which lines of messages have no place.
func comparable(t *testing.T, dir, key string) []rows.SFT {
	t.Helper()
	shards, err := filepath.Glob(filepath.Join(dir, "data/sft/train-*.parquet"))
	ok(t, err)
	var items []rows.SFT
	for _, shard := range shards {
		items = append(items, readRows[rows.SFT](t, shard)...)
	}
	for i := range items {
		r := &items[i]
		reward := gjson.Get(r.Metadata, "declared_reward").Raw
		r.SourceSHA256 = ""
		r.Metadata = reward
		r.TaskType = "" // the domain may be recognised by the format
		if len(r.ProblemID) == len(r.Cluster) {
			r.SessionID = "" // a trace that names no problem is named by its record
		}
		r.Cluster = ""       // no file of rows has the instruction to a simulated customer
		r.OutcomeScore = nil // no file of rows has a verifier's ruling
		if key != "atif" {
			r.AgentVersion = ""
			r.AgentHotkey = ""
			r.RunDate = nil
			r.StopCondition = ""
			r.HasError = false
			r.IsTruncated = false
		}
	}
	slices.SortFunc(items, func(a, b rows.SFT) int {
		return strings.Compare(a.SessionID+strings.Join(a.Messages, ""), b.SessionID+strings.Join(b.Messages, ""))
	})
	return items
}
