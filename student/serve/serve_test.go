package serve

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTheServerEndsWithTheRun(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer web.Close()
	dir := t.TempDir()
	s, err := Start("sh -c 'echo up; touch "+dir+"/began; sleep 60'", filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	if err = s.Wait(t.Context(), web.URL+"/v1", time.Minute); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err = os.Stat(dir + "/began"); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	began := time.Now()
	if err = s.Stop(); err != nil {
		t.Fatal(err)
	}
	if time.Since(began) > 10*time.Second {
		t.Error("the server outlived its signal")
	}
	if b, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || !strings.Contains(string(b), "up") {
		t.Errorf("log %q, %v", b, err)
	}
}

func TestAServerThatEndsIsNoServer(t *testing.T) {
	t.Parallel()
	s, err := Start("false", filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	if err = s.Wait(t.Context(), "http://127.0.0.1:1/v1", time.Minute); err == nil || !strings.Contains(err.Error(), "it ended") {
		t.Errorf("%v", err)
	}
	if err = s.Stop(); err != nil {
		t.Error(err)
	}
}
