package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/trajectory-arena/arena/internal/longtest"
)

// brokenStore plays S3 on 127.0.0.1, and many of the faults that such stores have under
// load: errors, cut connections before and after a request took effect, objects of
// which half was written, answers cut off, listings of a while ago.
type brokenStore struct {
	*s3mem.Backend
	url    string
	inner  http.Handler
	mu     sync.Mutex
	draw   *rand.Rand
	share  float64
	faults int
	lists  map[string][]byte
}

func newBrokenStore(t *testing.T, seed uint64, share float64) *brokenStore {
	t.Helper()
	s := &brokenStore{Backend: s3mem.New(), draw: rand.New(rand.NewPCG(24, 2+seed)), share: share, lists: map[string][]byte{}}
	if err := s.CreateBucket("arena"); err != nil {
		t.Fatal(err)
	}
	s.inner = gofakes3.New(s.Backend).Server()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *brokenStore) storeURL(folder string) string {
	q := url.Values{"endpoint": {s.url}, "region": {"us-east-1"}, "use_path_style": {"true"}, "disable_https": {"true"}}
	return "s3://arena/" + folder + "?" + q.Encode()
}

// roll returns the fault of the next request, or 0 for none.
func (s *brokenStore) roll() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draw.Float64() >= s.share {
		return 0
	}
	s.faults++
	return 1 + s.draw.IntN(4)
}

func (s *brokenStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Query().Has("list-type") {
		s.list(w, r)
		return
	}
	switch s.roll() {
	case 0:
		s.inner.ServeHTTP(w, r)
	case 1:
		w.WriteHeader(http.StatusServiceUnavailable)
	case 2:
		cut(w)
	case 3: // the request takes effect, or half of the answer arrives, and the client learns of neither
		answer := httptest.NewRecorder()
		s.inner.ServeHTTP(answer, r)
		if r.Method == http.MethodGet && answer.Code == http.StatusOK {
			w.Header().Set("Content-Length", answer.Result().Header.Get("Content-Length"))
			_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
		}
		cut(w)
	default:
		s.half(r)
		cut(w)
	}
}

// half keeps half of an object that is uploaded.
func (s *brokenStore) half(r *http.Request) {
	key := strings.TrimPrefix(r.URL.Path, "/arena/")
	_, absent := s.HeadObject("arena", key)
	if r.Method != http.MethodPut || r.Header.Get("If-None-Match") != "" && absent == nil {
		return
	}
	body, _ := io.ReadAll(r.Body)
	body = body[:len(body)/2]
	metadata := map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)} // as every store has it
	_, _ = s.PutObject("arena", key, metadata, bytes.NewReader(body), int64(len(body)), nil)
}

// list answers a listing, in half of the requests with the earlier answer to the same query.
func (s *brokenStore) list(w http.ResponseWriter, r *http.Request) {
	answer := httptest.NewRecorder()
	s.inner.ServeHTTP(answer, r)
	now := answer.Body.Bytes()
	s.mu.Lock()
	before := s.lists[r.URL.RawQuery]
	s.lists[r.URL.RawQuery] = now
	if before != nil && s.share > 0 && s.draw.IntN(2) == 0 {
		now = before
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/xml")
	_, _ = w.Write(now)
}

func cut(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = c.Close()
	}
}

// objects are all objects under a folder, by their names there.
func (s *brokenStore) objects(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	prefix := gofakes3.NewFolderPrefix(folder)
	prefix.HasDelimiter = false
	list, err := s.ListBucket("arena", &prefix, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string][]byte{}
	for _, o := range list.Contents {
		got, err := s.GetObject("arena", o.Key, nil)
		if err != nil {
			t.Fatal(err)
		}
		if objects[strings.TrimPrefix(o.Key, folder+"/")], err = io.ReadAll(got.Contents); err != nil {
			t.Fatal(err)
		}
	}
	return objects
}

// TestTwinsOfAShardInABrokenBucket is TestTwinsOfAShard with the work folder and the corpus in a
// bucket. A process that was killed or that failed is started again, as workflow engines do. With
// the tag long eight buckets are used at once, since the processes mostly wait for them.
func TestTwinsOfAShardInABrokenBucket(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: the race detector cannot report from a killed process")
	}
	t.Parallel()
	const kills = 32
	buckets := longtest.Pick(8, 1)
	var workers sync.WaitGroup
	for i := range buckets {
		workers.Go(func() {
			t.Run(strconv.Itoa(i), func(t *testing.T) { twinsInABrokenBucket(t, uint64(i), longtest.Pick(kills/buckets, 1)) })
		})
	}
	workers.Wait()
}

func twinsInABrokenBucket(t *testing.T, seed uint64, minWins int) {
	s := stages{t, program(t), t.TempDir(), ""}
	buildTestDay(t, s.inDir("whole"))
	store := newBrokenStore(t, seed, 0.04)
	s.work = store.storeURL("work")
	s.plan(store.storeURL("made/corpus"), 2)
	kills := 0
	passes := 0
	draw := rand.New(rand.NewPCG(24, 3+seed))
	for ; kills < minWins; passes++ {
		for key := range store.objects(t, "") {
			if _, err := store.DeleteObject("arena", key); err != nil {
				t.Fatal(err)
			}
		}
		for _, call := range [][2]string{{"map", "1/2"}, {"map", "0/2"}, {"group", "0/1"}, {"write", "1/2"}, {"write", "0/2"}} {
			twin := s.step(call[0], call[1])
			if err := twin.Start(); err != nil {
				t.Fatal(err)
			}
			if s.killed(s.step(call[0], call[1]), time.Duration(draw.IntN(1000))*time.Millisecond) {
				kills++
			}
			if err := twin.Wait(); err != nil {
				kills++
			}
			s.untilDone(call[0], call[1])
		}
		share := store.breaks(0) // the next build of a quiet day
		s.must(s.step("write", "0/2"))
		s.asInTheBucket(store)
		store.breaks(share)
	}
	t.Logf("%d passes, %d processes killed or given up, %d faults", passes, kills, store.faults)
}

// breaks sets the share of requests that fail and returns the former share.
func (s *brokenStore) breaks(share float64) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.share
	s.share = share
	return before
}

// untilDone runs a step as an engine does: five times at most.
func (s stages) untilDone(step, shard string) {
	s.t.Helper()
	var b []byte
	for range 5 {
		var err error
		if b, err = s.step(step, shard).CombinedOutput(); err == nil {
			return
		}
	}
	s.t.Fatalf("%s %s: %s", step, shard, b)
}

// asInTheBucket compares the objects in the bucket with the files of one build, and the units of
// the work folder with their markers.
func (s stages) asInTheBucket(store *brokenStore) {
	s.t.Helper()
	objects := store.objects(s.t, "made/corpus")
	err := filepath.WalkDir(s.inDir("whole"), func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		want, err := os.ReadFile(name)
		rel, _ := filepath.Rel(s.inDir("whole"), name)
		if key := filepath.ToSlash(rel); !bytes.Equal(objects[key], want) {
			s.t.Errorf("%s in the bucket differs from that of one build", key)
		} else {
			delete(objects, key)
		}
		return err
	})
	if err != nil || len(objects) > 0 {
		s.t.Errorf("%v; left over in the corpus: %v", err, objects)
	}
	work := store.objects(s.t, "work")
	named := map[string]bool{}
	for key, b := range work {
		if path.Base(key) != "marker.json" {
			continue
		}
		m := map[string]string{}
		if err := json.Unmarshal(b, &m); err != nil {
			s.t.Errorf("%s: %v", key, err)
		}
		named[key] = true
		for _, sum := range m {
			named[path.Join(path.Dir(key), sum)] = true
		}
	}
	for key := range work {
		if !named[key] {
			s.t.Errorf("left over: %s", key)
		}
	}
}

// TestTwinsAssembleOneFolder runs two processes, with the tag long three, that share a bucket only.
// All assemble one corpus into a folder at the same time.
func TestTwinsAssembleOneFolder(t *testing.T) {
	s := newStages(t, 1)
	s.work = newBrokenStore(t, 0, 0).storeURL("work")
	s.must(s.step("map", "0/1"))
	s.must(s.step("group", ""))
	processes := make([]*exec.Cmd, longtest.Pick(3, 2))
	for i := range processes {
		processes[i] = s.step("write", "0/1")
	}
	words := make([]bytes.Buffer, len(processes))
	for i, twin := range processes {
		twin.Stderr = &words[i]
		if err := twin.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, twin := range processes {
		if err := twin.Wait(); err != nil {
			t.Errorf("%v: %v: %s", twin.Args, err, &words[i])
		}
	}
	s.asOneBuild()
	if leftovers, err := filepath.Glob(s.inDir(".stages*")); err != nil || len(leftovers) > 0 {
		t.Errorf("left over: %v, %v", leftovers, err)
	}
}
