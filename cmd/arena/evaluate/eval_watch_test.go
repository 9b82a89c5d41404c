package evaluate

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/rollout"
	"github.com/trajectory-arena/arena/student/telemetry"
)

func watchOf(t *testing.T, words *bytes.Buffer, total int) *evalWatch {
	t.Helper()
	f := &Flags{Asked: model.Config{URLs: []string{"http://127.0.0.1:1/v1"}, Concurrency: 8, Timeout: time.Second}}
	pool, err := model.NewPool(f.endpointConfig())
	if err != nil {
		t.Fatal(err)
	}
	return newEvalWatch(&cli.Streams{Err: words}, f, &student.Run{Spec: student.Spec{Problems: total, Samples: 1}, Environment: &rollout.Environment{}}, pool)
}

func TestTheLiveLine(t *testing.T) {
	t.Parallel()
	s := telemetry.Sample{
		Server: map[string]float64{"running": 12, "waiting": 3, "kv_cache_use": 0.41, "prefix_hit_rate": 0.9, "prompt_tokens": 7},
	}
	synctest.Test(t, func(t *testing.T) {
		var words bytes.Buffer
		w := watchOf(t, &words, 10)
		w.show(s)
		if words.Len() != 0 {
			t.Errorf("the first line without a terminal is printed at once, want it after ten seconds: %q", words.String())
		}
		time.Sleep(cli.PlainEvery)
		w.show(s)
		want := "limits [8], running 12, waiting 3, KV cache 41 %, prefix hits 90 %\n"
		if got := words.String(); !strings.HasPrefix(got, "0 of 10 rollouts, 0 solved, 0 infra, 0.0/s") || !strings.HasSuffix(got, want) {
			t.Errorf("%q", got)
		}
		words.Reset()
		time.Sleep(cli.PlainEvery)
		w.flags.Quiet = true
		if w.show(s); words.Len() != 0 {
			t.Errorf("-q printed %q", words.String())
		}
	})
}

// TestWhoseGPUs checks that the GPUs of this machine count only if the server runs on it.
func TestWhoseGPUs(t *testing.T) {
	t.Parallel()
	w := watchOf(t, &bytes.Buffer{}, 1)
	for base, want := range map[string]bool{
		"http://localhost:8000/v1": true, "http://127.0.0.5:8000/v1": true, "http://[::1]:8000/v1": true, "http://0.0.0.0:8000/v1": true,
		"http://10.0.0.7:8000/v1": false, "https://api.example.org/v1": false,
	} {
		if w.flags.Asked.URLs = []string{base}; w.localServer() != want {
			t.Errorf("%s: %v", base, !want)
		}
	}
}
