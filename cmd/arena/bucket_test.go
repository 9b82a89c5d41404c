package main

import (
	"bytes"
	"context"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestBucketsAreInputAndOutput uploads a day to a bucket, builds a corpus from it into another
// folder of the bucket, and verifies, inspects and exports that corpus.
func TestBucketsAreInputAndOutput(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	store := s3mem.New()
	if err := store.CreateBucket("arena"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(store).Server())
	t.Cleanup(server.Close)
	q := url.Values{"endpoint": {server.URL}, "region": {"us-east-1"}, "use_path_style": {"true"}, "disable_https": {"true"}}
	storeURL := func(folder string) string { return "s3://arena/" + folder + "?" + q.Encode() }
	day, err := filepath.Abs(testDay)
	if err != nil {
		t.Fatal(err)
	}
	stow(t, server.URL+"/arena/day/", day)
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"build", storeURL("day"), "-o", storeURL("made/corpus"), "-q"},
		{"build", day, "-o", "here", "-q"},
		{"verify", storeURL("made/corpus")},
		{"export", storeURL("made/corpus"), "-p", "text", "-o", storeURL("made/text"), "-q"},
		{"verify", storeURL("made/text")},
		{"export", storeURL("made/corpus"), "-p", "text", "-o", "text", "-q"},
		{"filter", storeURL("day"), "-o", "verdicts.jsonl"},
		{"dedup", storeURL("made/corpus/tables/attempts.parquet"), "-o", "clusters.jsonl"},
		{"inspect", storeURL("made/corpus")},
		{"mix", storeURL("made/corpus") + ":2", "-o", storeURL("made/mixed"), "-q"},
		{"import", storeURL("day"), "-o", storeURL("made/imported"), "--unguarded", "-q"},
		{"verify", storeURL("made/mixed")},
		{"verify", storeURL("made/imported")},
		{"inspect", storeURL("made/corpus"), "--where", "n_steps > 3"},
		{"inspect", storeURL("made/corpus/tables/attempts.parquet"), "--head", "1"},
	}[:longtest.Pick(15, 11)] {
		if output, code := runOutput(args...); code != 0 {
			t.Fatalf("arena %s: exit %d: %s", strings.Join(args, " "), code, output)
		}
	}
	one := manifest(t, "corpus")
	two := manifest(t, "here")
	if !bytes.Equal(one, two) {
		t.Error("the corpus of a day in a bucket is another than that of the day on disk")
	}
	output, code := runOutput("export", storeURL("made/corpus"), "-p", "text", "-o", storeURL("made/text"))
	if code != cli.ExitOK || !strings.Contains(output, "nothing to do") {
		t.Errorf("the same export to a bucket once more: exit %d: %s", code, output)
	}
	output, code = runOutput("export", storeURL("made/corpus"), "-p", "hf-json", "-o", storeURL("made/text"))
	if code != cli.ExitFailure || !strings.Contains(output, "a corpus is there already") {
		t.Errorf("a corpus in a bucket is written over: %s", output)
	}
	if output, code = runOutput("verify", storeURL("nothing")); code != cli.ExitFailure || !strings.Contains(output, "arena: hint:") {
		t.Errorf("exit %d: %s", code, output)
	}
}

func runOutput(args ...string) (string, int) {
	var out, err bytes.Buffer
	code := run(context.Background(), args, strings.NewReader(""), &out, &err)
	return err.String(), code
}

func manifest(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, corpus.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// stow uploads the files of a folder below a URL.
func stow(t *testing.T, base, dir string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, base+path, bytes.NewReader(text))
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			t.Errorf("put %s: %s", path, response.Status)
		}
		return response.Body.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}
