package main

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
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
)

// hubServer is a Hub with one dataset. It implements the part of the protocol of huggingface_hub
// 2.4.0 that an upload uses.
type hubServer struct {
	*httptest.Server
	mu sync.Mutex
	// stored are large files by sha256; files are those of the committed dataset.
	stored map[string][]byte
	files  map[string][]byte
	puts   int
	// failing refuses uploads from this one on; 0 refuses none.
	failing int
}

func serveHub(t *testing.T) *hubServer {
	s := &hubServer{stored: map[string][]byte{}, files: map[string][]byte{}}
	mux := http.NewServeMux()
	const dataset = "/api/datasets/org/name"
	mux.HandleFunc("POST /api/repos/create", s.create)
	mux.HandleFunc("GET /api/agent-harnesses", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("[]")) })
	mux.HandleFunc("POST /api/validate-yaml", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"errors":[],"warnings":[]}`)) })
	mux.HandleFunc("GET "+dataset, s.info)
	mux.HandleFunc("GET "+dataset+"/revision/main", s.info)
	mux.HandleFunc("GET "+dataset+"/tree/main", s.tree)
	mux.HandleFunc("POST "+dataset+"/preupload/main", s.preupload)
	mux.HandleFunc("POST /datasets/org/name.git/info/lfs/objects/batch", s.batch)
	mux.HandleFunc("PUT /store/{oid}", s.put)
	mux.HandleFunc("POST /verify", s.verify)
	mux.HandleFunc("POST "+dataset+"/commit/main", s.commit)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if isHub := !strings.HasPrefix(r.URL.Path, "/store/"); isHub != (r.Header.Get("Authorization") == "Bearer hf_secret") {
			w.WriteHeader(http.StatusUnauthorized) // a store is given no token
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *hubServer) create(w http.ResponseWriter, _ *http.Request) {
	_ = json.NewEncoder(w).Encode(map[string]string{"url": s.URL + "/datasets/org/name", "name": "org/name"})
}

func (s *hubServer) info(w http.ResponseWriter, _ *http.Request) {
	files := []map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		files = append(files, map[string]string{"rfilename": name})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"id": "org/name", "sha": strings.Repeat("0", 40), "siblings": files})
}

func (s *hubServer) tree(w http.ResponseWriter, r *http.Request) {
	names := slices.Sorted(maps.Keys(s.files))
	half := len(names) / 2 // two pages
	page := names[:half]
	if r.URL.Query().Get("cursor") != "" {
		page = names[half:]
	} else if len(names) > 0 {
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?recursive=true&cursor=2>; rel="next"`, s.URL, r.URL.Path))
	}
	out := []map[string]any{{"type": "directory", "path": "data", "oid": "0"}}
	for _, name := range page {
		out = append(out, map[string]any{"type": "file", "path": name, "oid": "0", "size": len(s.files[name])})
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (s *hubServer) preupload(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Files []struct{ Path, Sample string }
	}
	_ = json.NewDecoder(r.Body).Decode(&request)
	var out struct {
		Files []map[string]any `json:"files"`
	}
	for _, f := range request.Files {
		mode := "regular"
		if head, err := base64.StdEncoding.DecodeString(f.Sample); err != nil || strings.HasPrefix(string(head), "PAR1") {
			mode = "lfs"
		}
		out.Files = append(out.Files, map[string]any{"path": f.Path, "uploadMode": mode, "shouldIgnore": false, "oid": nil})
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (s *hubServer) batch(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Objects []struct {
			OID  string
			Size int64
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&request)
	out := []map[string]any{}
	for _, o := range request.Objects {
		object := map[string]any{"oid": o.OID, "size": o.Size}
		if s.stored[o.OID] == nil {
			object["actions"] = map[string]any{
				"upload": map[string]any{"href": s.URL + "/store/" + o.OID},
				"verify": map[string]any{"href": s.URL + "/verify"},
			}
		}
		out = append(out, object)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"objects": out})
}

func (s *hubServer) put(w http.ResponseWriter, r *http.Request) {
	s.puts++
	b, _ := io.ReadAll(r.Body)
	sum := sha256.Sum256(b)
	switch oid := r.PathValue("oid"); {
	case s.failing > 0 && s.puts >= s.failing:
		w.WriteHeader(http.StatusForbidden)
	case hex.EncodeToString(sum[:]) != oid:
		w.WriteHeader(http.StatusBadRequest)
	default:
		s.stored[oid] = b
	}
}

func (s *hubServer) verify(w http.ResponseWriter, r *http.Request) {
	var o struct{ OID string }
	_ = json.NewDecoder(r.Body).Decode(&o)
	if s.stored[o.OID] == nil {
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *hubServer) commit(w http.ResponseWriter, r *http.Request) {
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
	_ = json.NewEncoder(w).Encode(map[string]string{"commitUrl": s.URL + "/datasets/org/name/commit/" + strings.Repeat("0", 40), "commitOid": strings.Repeat("0", 40)})
}

// TestPublishByTheHubsProgram uploads the public half of a corpus with the real hf, if it is
// installed, to a server of the Hub's protocol. A plain download verifies and has no protected
// text.
func TestPublishByTheHubsProgram(t *testing.T) {
	if _, err := exec.LookPath("hf"); err != nil {
		t.Skip("needs hf, the program of the Hub: .ci/interop publish installs it")
	}
	s := serveHub(t)
	for key, value := range map[string]string{"HF_ENDPOINT": s.URL, "HF_TOKEN": "hf_secret", "HF_HUB_DISABLE_XET": "1", "HF_HOME": t.TempDir()} {
		t.Setenv(key, value)
	}
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	buildTestDay(t, inDir("corpus"))
	s.failing = 2
	must(t, cli.ExitFailure, "publish", inDir("corpus"), "--to", "hf://org/name")
	if len(s.files) > 0 {
		t.Error("an upload that was refused left files")
	}
	s.failing = 0
	s.puts = 0
	s.files = map[string][]byte{".gitattributes": []byte("* -text\n"), "data/old.parquet": {1}}
	must(t, cli.ExitOK, "publish", inDir("corpus"), "--to", "hf://org/name")
	for name, b := range s.files {
		full := filepath.Join(inDir("back"), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must(t, cli.ExitOK, "verify", inDir("back"))
	must(t, cli.ExitOK, "verify", inDir("back"), "--public", "--held-out", inDir("corpus"))
}
