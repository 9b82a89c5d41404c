package daygen

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// small is the configuration of testdata/day.
var small = Config{
	Seed:      3,
	Attempts:  180,
	Problems:  18,
	Products:  240,
	Sentences: 3,
	Pages:     2,
	Agentic:   0.6,
	Gzip:      true,
}

func TestCommittedDayIsItsSeed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	summary, err := Write(t.Context(), dir, small)
	if err != nil {
		t.Fatal(err)
	}
	if summary.Runs != 10 || summary.Attempts != small.Attempts {
		t.Errorf("made %+v", summary)
	}
	got := readDay(t, dir)
	want := readDay(t, "../../testdata/day")
	delete(want, "README.md")
	if len(got) != len(want) {
		t.Errorf("made %d files, committed are %d", len(got), len(want))
	}
	for name, text := range want {
		if !bytes.Equal(got[name], text) {
			t.Errorf("%s is not what the seed makes", name)
		}
	}
}

// readDay reads every file of a day, uncompressed.
func readDay(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".gz") {
			z, bad := gzip.NewReader(bytes.NewReader(text))
			if bad != nil {
				return bad
			}
			if text, bad = io.ReadAll(z); bad != nil {
				return bad
			}
		}
		name, err := filepath.Rel(dir, path)
		files[name] = text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestWriteRefusesWhatItCannotMake(t *testing.T) {
	t.Parallel()
	_, err := Write(t.Context(), t.TempDir(), Config{
		Attempts: -1,
		Agentic:  2,
	})
	for _, want := range []string{"attempts is -1", "problems is 0", "agentic is 2", "products is 0"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not name %q", err, want)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "catalog.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(t.Context(), dir, small); err == nil {
		t.Error("an existing day was written over")
	}
}

// step has the fields on which a reader of the sandbox's format relies.
type step struct {
	Completion struct {
		Message struct {
			Calls []struct {
				Name   string
				Result json.RawMessage
			} `json:"tool_call"`
		}
	}
	Extra struct {
		Timestamp int64
		Proxy     []proxied `json:"proxy_calls"`
	} `json:"extra_info"`
}

type proxied struct {
	Path      string
	Timestamp int64
	Response  json.RawMessage
	Cut       bool `json:"response_truncated"`
	Length    int  `json:"response_length"`
}

// TestProxyCallsAreFiledAsByTheSandbox checks that calls are filed by time, that a response is
// stored up to its limit and cut beyond, and that the proxy's response equals the result in the
// step.
func TestProxyCallsAreFiledAsByTheSandbox(t *testing.T) {
	t.Parallel()
	for name, text := range readDay(t, "../../testdata/day") {
		if !strings.HasSuffix(name, ".jsonl.gz") {
			continue
		}
		for line := range bytes.Lines(text) {
			var e struct{ Dialogue []step }
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			checkFiling(t, e.Dialogue)
		}
	}
}

func checkFiling(t *testing.T, dialogue []step) {
	t.Helper()
	results := map[string]bool{}
	for _, s := range dialogue {
		for _, c := range s.Completion.Message.Calls {
			results[string(c.Result)] = true
		}
	}
	for i, s := range dialogue {
		for _, c := range s.Extra.Proxy {
			early := i > 0 && c.Timestamp < s.Extra.Timestamp
			late := i+1 < len(dialogue) && c.Timestamp >= dialogue[i+1].Extra.Timestamp
			if early || late {
				t.Errorf("call at %d is filed under the step of %d", c.Timestamp, s.Extra.Timestamp)
			}
			isCutShort := c.Cut && c.Length <= recordLimit
			if c.Cut == (c.Response != nil) || isCutShort || len(c.Response) > recordLimit {
				t.Errorf("cut %v with a response of %d, length %d", c.Cut, len(c.Response), c.Length)
			}
			if strings.HasPrefix(c.Path, "/search/") && c.Response != nil && !results[string(c.Response)] {
				t.Errorf("the step recorded another result than the proxy: %s", c.Response)
			}
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	c := Config{
		Seed:      1,
		Attempts:  200,
		Problems:  50,
		Products:  4000,
		Sentences: 18,
		Pages:     4,
		Agentic:   0.2,
	}
	b.ReportAllocs()
	for b.Loop() {
		summary, err := Write(
			b.Context(),
			filepath.Join(b.TempDir(), "day"),
			c,
		)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(summary.Bytes)
	}
}
