package bucket_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/bucket"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/verify"
)

// server plays an object store on 127.0.0.1 and fails every write from the
// n-th on, if n is set.
type server struct {
	*httptest.Server
	failFrom, writes atomic.Int64
}

func serve(t *testing.T) *server {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	store := s3mem.New()
	if err := store.CreateBucket("days"); err != nil {
		t.Fatal(err)
	}
	inner := gofakes3.New(store).Server()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := s.failFrom.Load(); r.Method == http.MethodPut && s.writes.Add(1) >= n && n > 0 {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) url(folder string) string {
	q := url.Values{"endpoint": {s.URL}, "region": {"us-east-1"}, "use_path_style": {"true"}, "disable_https": {"true"}}
	return "s3://days/" + folder + "?" + q.Encode()
}

func open(t *testing.T, name string) *bucket.Bucket {
	t.Helper()
	b, err := bucket.Create(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// corpusOf writes a corpus of n rows.
func corpusOf(t *testing.T, n int) string {
	t.Helper()
	root := t.TempDir()
	part, err := corpus.NewPart(corpus.Disk{}, filepath.Join(root, "part"), corpus.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	kto := corpus.NewShards[rows.KTO](part, corpus.Stream{Config: "kto", Profile: corpus.ProfileKTO, Split: corpus.SplitTrain})
	for range n {
		row := rows.KTO{Prompt: []rows.Msg{{Role: "user", Content: "q"}}, Origin: rows.Origin{ProblemID: "p", Cluster: "c"}}
		if err := kto.Add(&row); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(kto.Close(), part.Close()); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "corpus")
	a := corpus.Assembly{Parts: []string{filepath.Join(root, "part")}, Manifest: corpus.Manifest{Configuration: []byte("{}")}}
	if n > 1 {
		a.Extra = map[string][]byte{"reports/more.json": []byte("{}")}
	}
	if err := corpus.Assemble(context.Background(), corpus.Disk{}, dir, a); err != nil {
		t.Fatal(err)
	}
	return dir
}

// stores are the URLs that every test of a bucket holds for.
func stores(t *testing.T) map[string]string {
	return map[string]string{"s3": serve(t).url("made/today"), "file": "file://" + filepath.ToSlash(filepath.Join(t.TempDir(), "made"))}
}

func TestPublishedCorpusVerifies(t *testing.T) {
	for kind, name := range stores(t) {
		b := open(t, name)
		ctx := context.Background()
		for _, rows := range []int{3, 1} { // the second replaces the first and leaves nothing of it
			if err := b.Publish(ctx, corpus.Disk{}, corpusOf(t, rows)); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			findings, err := verify.Corpus(ctx, b.Files(ctx), ".")
			if err != nil || len(findings) > 0 {
				t.Errorf("%s: %v %v", kind, findings, err)
			}
		}
		n := 0
		err := corpus.ReadRows(b.Files(ctx), "data/kto/train-00000-of-00001.parquet", func(*rows.KTO) error { n++; return nil })
		if err != nil || n != 1 {
			t.Errorf("%s: %d rows, %v", kind, n, err)
		}
		if _, err := b.Files(ctx).Open("none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v for a missing object", kind, err)
		}
		back := t.TempDir()
		if err := b.Fetch(ctx, back); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if findings, err := verify.Corpus(ctx, corpus.Disk{}, back); err != nil || len(findings) > 0 {
			t.Errorf("%s fetched: %v %v", kind, findings, err)
		}
	}
}

// TestEveryBrokenUploadLeavesNoCorpus lets the writes of an upload fail from the second one on,
// from the third one on, and so forth: there is no manifest afterwards, even if there was one
// before, and the next upload completes.
func TestEveryBrokenUploadLeavesNoCorpus(t *testing.T) {
	s := serve(t)
	ctx := context.Background()
	b := open(t, s.url("made"))
	old := corpusOf(t, 1)
	built := corpusOf(t, 3)
	for fail := int64(2); ; fail++ {
		if err := b.Publish(ctx, corpus.Disk{}, old); err != nil {
			t.Fatal(err)
		}
		s.writes.Store(0)
		s.failFrom.Store(fail)
		err := b.Publish(ctx, corpus.Disk{}, built)
		s.failFrom.Store(0)
		if err == nil {
			if fail < 5 {
				t.Fatalf("only %d writes in an upload", fail)
			}
			return
		}
		if isCorpus, err := corpus.IsCorpus(b.Files(ctx), "."); isCorpus || err != nil {
			t.Errorf("write %d failed, and there is a manifest (%v)", fail, err)
		}
	}
}

func TestForeignFoldersAreRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.txt"), []byte("years of work"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := open(t, "file://"+filepath.ToSlash(dir)).Publish(context.Background(), corpus.Disk{}, corpusOf(t, 1))
	if err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("got %v", err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"s3://b": "b", "s3://b/": "b", "s3://b/x/corpus/?region=r": "corpus", "file:///tmp/made": "made"} {
		if got, err := bucket.Base(name); err != nil || got != want || !bucket.IsURL(name) {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	for _, name := range []string{"corpus", "./a://b", "../x", "-"} {
		if bucket.IsURL(name) {
			t.Errorf("%s is taken for a URL", name)
		}
	}
	if _, err := bucket.Base("s3://"); err == nil {
		t.Error("a URL without a name passes")
	}
}
