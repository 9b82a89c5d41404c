package hub_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/hub"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/verify"
)

// server is a Hub of one dataset, as huggingface_hub 2.4.0 speaks to it.
type server struct {
	*httptest.Server
	mu sync.Mutex
	// stored are large files by sha256, files the dataset as it is committed.
	stored map[string][]byte
	files  map[string][]byte
	puts   int
	// failing refuses uploads from this one on; 0 refuses none.
	failing int
	exists  bool
}

func serve(t *testing.T) *server {
	s := &server{stored: map[string][]byte{}, files: map[string][]byte{}}
	mux := http.NewServeMux()
	const dataset = "/api/datasets/org/name"
	mux.HandleFunc("POST /api/repos/create", s.create)
	mux.HandleFunc("GET "+dataset+"/tree/main", s.tree)
	mux.HandleFunc("POST "+dataset+"/preupload/main", s.preupload)
	mux.HandleFunc("POST /datasets/org/name.git/info/lfs/objects/batch", s.batch)
	mux.HandleFunc("PUT /store/{oid}", s.put)
	mux.HandleFunc("POST /verify", s.verify)
	mux.HandleFunc("POST "+dataset+"/commit/main", s.commit)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if own := !strings.HasPrefix(r.URL.Path, "/store/"); own != (r.Header.Get("Authorization") == "Bearer secret") {
			w.WriteHeader(http.StatusUnauthorized) // a store is given no token
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) create(w http.ResponseWriter, _ *http.Request) {
	if s.exists {
		w.WriteHeader(http.StatusConflict)
	}
	s.exists = true
}

func (s *server) tree(w http.ResponseWriter, r *http.Request) {
	names := slices.Sorted(maps.Keys(s.files))
	at := len(names) / 2 // two pages
	page := names[:at]
	if r.URL.Query().Get("cursor") != "" {
		page = names[at:]
	} else if len(names) > 0 {
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?recursive=true&cursor=2>; rel="next"`, s.URL, r.URL.Path))
	}
	out := []map[string]string{{"type": "directory", "path": "data"}}
	for _, name := range page {
		out = append(out, map[string]string{"type": "file", "path": name})
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (s *server) preupload(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Files []struct{ Path, Sample string }
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	var out struct {
		Files []map[string]any `json:"files"`
	}
	for _, f := range in.Files {
		mode := "regular"
		if head, err := base64.StdEncoding.DecodeString(f.Sample); err != nil || strings.HasPrefix(string(head), "PAR1") {
			mode = "lfs"
		}
		out.Files = append(out.Files, map[string]any{"path": f.Path, "uploadMode": mode})
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (s *server) batch(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Objects []struct {
			OID  string
			Size int64
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	out := []map[string]any{}
	for _, o := range in.Objects {
		told := map[string]any{"oid": o.OID, "size": o.Size}
		if s.stored[o.OID] == nil {
			told["actions"] = map[string]any{
				"upload": map[string]any{"href": s.URL + "/store/" + o.OID, "header": map[string]string{"X-Signed": "yes"}},
				"verify": map[string]any{"href": s.URL + "/verify"},
			}
		}
		out = append(out, told)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"objects": out})
}

func (s *server) put(w http.ResponseWriter, r *http.Request) {
	s.puts++
	b, _ := io.ReadAll(r.Body)
	sum := sha256.Sum256(b)
	switch oid := r.PathValue("oid"); {
	case s.failing > 0 && s.puts >= s.failing:
		w.WriteHeader(http.StatusForbidden)
	case hex.EncodeToString(sum[:]) != oid || r.Header.Get("X-Signed") != "yes":
		w.WriteHeader(http.StatusBadRequest)
	default:
		s.stored[oid] = b
	}
}

func (s *server) verify(w http.ResponseWriter, r *http.Request) {
	var o struct{ OID string }
	_ = json.NewDecoder(r.Body).Decode(&o)
	if s.stored[o.OID] == nil {
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *server) commit(w http.ResponseWriter, r *http.Request) {
	next := maps.Clone(s.files)
	for d := json.NewDecoder(r.Body); ; {
		var line struct {
			Key   string
			Value struct{ Path, Content, OID string }
		}
		if errors.Is(d.Decode(&line), io.EOF) {
			break
		}
		v := line.Value
		switch line.Key {
		case "file":
			next[v.Path], _ = base64.StdEncoding.DecodeString(v.Content)
		case "lfsFile":
			if next[v.Path] = s.stored[v.OID]; next[v.Path] == nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
		case "deletedFile":
			delete(next, v.Path)
		}
	}
	s.files = next
}

func corpusOf(t *testing.T, n int) string {
	t.Helper()
	root := t.TempDir()
	part, err := corpus.NewPart(corpus.Disk{}, filepath.Join(root, "part"), corpus.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		kto := corpus.NewShards[rows.KTO](part, corpus.Stream{Config: fmt.Sprint("kto", i), Profile: corpus.ProfileKTO, Split: corpus.SplitTrain})
		err = errors.Join(err, kto.Add(&rows.KTO{Prompt: []rows.Msg{{Role: "user", Content: fmt.Sprint("q", i)}}, Origin: rows.Origin{ProblemID: "p", Cluster: "c"}}), kto.Close())
	}
	dir := filepath.Join(root, "corpus")
	err = errors.Join(err, part.Close(), corpus.Assemble(t.Context(), corpus.Disk{}, dir, corpus.Assembly{Parts: []string{filepath.Join(root, "part")}, Manifest: corpus.Manifest{Configuration: []byte("{}")}}))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestUploadGoesOnAndVerifies stops an upload, lets it go on, and replaces what it
// made: a plain download of the dataset verifies.
func TestUploadGoesOnAndVerifies(t *testing.T) {
	t.Parallel()
	s := serve(t)
	d, err := hub.Open("hf://org/name", s.URL, "secret")
	if err != nil {
		t.Fatal(err)
	}
	made := corpusOf(t, 4)
	s.failing = 3
	if err = d.Upload(t.Context(), corpus.Disk{}, made); !errors.Is(err, hub.ErrStatus) || len(s.files) > 0 {
		t.Fatalf("an upload that was refused: %v, %d files", err, len(s.files))
	}
	s.failing, s.puts = 0, 0
	if err = d.Upload(t.Context(), corpus.Disk{}, made); err != nil || s.puts != 2 {
		t.Fatalf("it went on with %d files: %v", s.puts, err)
	}
	s.files[".gitattributes"] = []byte("* -text\n")
	for _, n := range []int{4, 2} {
		if err = d.Upload(t.Context(), corpus.Disk{}, corpusOf(t, n)); err != nil {
			t.Fatal(err)
		}
		back := t.TempDir()
		for name, b := range s.files {
			full := filepath.Join(back, filepath.FromSlash(name))
			if err = errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, b, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := verify.Corpus(t.Context(), corpus.Disk{}, back); err != nil || len(found) > 0 {
			t.Errorf("%d configs: %v %v", n, found, err)
		}
	}
	s.files = map[string][]byte{"thesis.txt": []byte("years of work")}
	if err = d.Upload(t.Context(), corpus.Disk{}, made); !errors.Is(err, corpus.ErrForeign) {
		t.Errorf("a dataset that is no corpus: %v", err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{"hf://name", "hf://a/b/c", "s3://a/b", "hf://a/b?x", "hf://../b"} {
		if _, err := hub.Open(ref, "", ""); err == nil {
			t.Errorf("%s is taken", ref)
		}
	}
}
