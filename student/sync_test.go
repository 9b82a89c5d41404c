package student

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trajectory-arena/arena/internal/script"
)

// TestAFullDiskStopsTheRun holds that a run whose journals cannot be synced ends at once, before
// its last rollout does, and that a resumed run continues from the stored turns.
func TestAFullDiskStopsTheRun(t *testing.T) {
	t.Parallel()
	server := &script.Server{Dialect: "oro", Plan: func(string, int64) script.Plan { return script.Plan{search, recommend, terminate} }}
	var stuck atomic.Bool
	stuck.Store(true)
	stored := make(chan struct{})
	var once sync.Once
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if stuck.Load() && len(server.Answered()) > 0 { // the second turn never arrives
			_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client ended
			once.Do(func() { close(stored) })
			<-r.Context().Done()
			return
		}
		server.ServeHTTP(w, r)
	}))
	defer web.Close()
	run := newRun(t, openShop(t), problemFile(t, []string{"one"}), web.URL, 1, filepath.Join(t.TempDir(), "run"))
	f, err := openFolder(run.Folder, run.Spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	f.sync = func() error {
		select {
		case <-stored:
			return full
		default:
			return nil
		}
	}
	if err = run.playAll(t.Context(), f); err != full { //nolint:errorlint // the error must be full itself, not joined with others
		t.Errorf("the run ended with %v", err)
	}
	if err = f.close(); err != nil {
		t.Fatal(err)
	}
	stuck.Store(false)
	summary, err := run.Play(t.Context())
	if err != nil || summary.Successes != 1 {
		t.Fatalf("%+v, %v", summary, err)
	}
	for turn, n := range server.Answered() {
		if n != 1 {
			t.Errorf("turn %v was answered %d times", turn, n)
		}
	}
}
