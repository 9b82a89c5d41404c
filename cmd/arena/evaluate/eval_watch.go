package evaluate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/webclient"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/rollout"
	"github.com/trajectory-arena/arena/student/telemetry"
)

// evalWatch runs during an evaluation: it samples the telemetry of server and machine, and
// prints progress.
type evalWatch struct {
	streams *cli.Streams
	flags   *Flags
	pool    *model.Pool
	total   int
	began   time.Time
	gpus    *telemetry.GPUs
	servers []telemetry.Identity
	line    *cli.Line
	// refused has the fields of replies that a server refuses, as a model.Returned.
	refused *atomic.Int32
	// template returns the requests' template, which the preflight replaces.
	template func() *model.Template

	done, successes, lost atomic.Int64
}

func newEvalWatch(
	s *cli.Streams,
	f *Flags,
	run *student.Run,
	pool *model.Pool,
) *evalWatch {
	return &evalWatch{
		streams: s,
		flags:   f,
		pool:    pool,
		total:   run.Spec.Problems * run.Spec.Samples,
		began:   time.Now(),
		line:    cli.NewLine(s),
		refused: run.Environment.Refused,
		template: func() *model.Template {
			return run.Environment.Template
		},
	}
}

func (w *evalWatch) ended(r *rollout.Result) {
	w.done.Add(1)
	if r.Outcome == rollout.Infra {
		w.lost.Add(1)
	} else if *r.Success {
		w.successes.Add(1)
	}
}

func (w *evalWatch) rollouts() int { return int(w.done.Load()) }

// watchEvery is the interval between samples of telemetry: long enough not to load a server, short
// enough to record changes of a few seconds.
const watchEvery = 2 * time.Second

func (w *evalWatch) play(ctx context.Context, run *student.Run) (*evaluation.Summary, error) {
	stop := w.start(ctx)
	summary, err := run.Play(ctx)
	return summary, errors.Join(err, stop(summary))
}

// start starts sampling telemetry. The returned function stops it and, if summary is not nil,
// writes telemetry.json. The summary is nil if the run did not finish.
func (w *evalWatch) start(ctx context.Context) (stop func(*evaluation.Summary) error) {
	ctx, cancel := context.WithCancel(ctx)
	w.gpus = &telemetry.GPUs{}
	if w.localServer() {
		w.gpus = telemetry.OpenGPUs(ctx, w.visibleGPUs())
	}
	watcher := telemetry.Watcher{
		Bases: w.flags.Asked.URLs, Key: os.Getenv(w.flags.keyEnv), GPUs: w.gpus, Path: w.file(student.TelemetrySeries), Now: time.Now,
		Loaded: time.Since(w.began), Every: watchEvery, Rollouts: w.rollouts, Seen: w.show,
	}
	w.began = time.Now()
	watched := make(chan error, 1)
	go func() { watched <- watcher.Watch(ctx) }()
	return func(summary *evaluation.Summary) error {
		cancel()
		err := <-watched
		if summary != nil {
			err = errors.Join(err, w.account(summary))
		}
		w.gpus.Close()
		return err
	}
}

// visibleGPUs returns the GPUs that the model server may use, in the form of CUDA_VISIBLE_DEVICES.
// It takes them from the command of --serve, from the description of a server that was already
// running, or else from the environment of this process.
func (w *evalWatch) visibleGPUs() string {
	if match := visibleDevices.FindStringSubmatch(w.flags.serve); match != nil {
		return match[1]
	}
	gpus := slicesx.FilterMap(w.servers, func(s telemetry.Identity) (string, bool) {
		return s.GPUs, s.GPUs != ""
	})
	if w.flags.serve == "" && gpus != nil {
		return strings.Join(gpus, ",")
	}
	return os.Getenv("CUDA_VISIBLE_DEVICES")
}

var visibleDevices = regexp.MustCompile(`\bCUDA_VISIBLE_DEVICES=["']?([^\s"';]*)`)

// localServer reports whether the model server runs on this machine, so that it uses this machine's
// GPUs.
func (w *evalWatch) localServer() bool {
	return w.flags.serve != "" || slices.ContainsFunc(w.flags.Asked.URLs, func(base string) bool {
		u, err := url.Parse(base)
		return err == nil && (webclient.Local(u.Host) || net.ParseIP(u.Hostname()).IsUnspecified())
	})
}

func (w *evalWatch) file(name string) string { return filepath.Join(w.flags.Out, name) }

func (w *evalWatch) show(s telemetry.Sample) {
	if w.flags.Quiet {
		return
	}
	w.line.Show(func(now time.Time) string {
		return w.progress(now) + serverWords(s.Server)
	})
	if w.rollouts() == w.total {
		w.line.Clear()
	}
}

func (w *evalWatch) progress(now time.Time) string {
	done := w.rollouts()
	eta := ""
	rate := float64(done) / now.Sub(w.began).Seconds()
	if rate > 0 {
		eta = fmt.Sprintf(
			", about %s left",
			time.Duration(float64(w.total-done)/rate*float64(time.Second)).Round(time.Second),
		)
	}
	return fmt.Sprintf(
		"%d of %d rollouts, %d solved, %d infra, %.1f/s%s, limits %v",
		done,
		w.total,
		w.successes.Load(),
		w.lost.Load(),
		rate,
		eta,
		w.pool.Limits(),
	)
}

func serverWords(m map[string]float64) (words string) {
	for _, k := range []struct {
		key, format string
		scale       float64
	}{
		{"running", ", running %.0f", 1},
		{"waiting", ", waiting %.0f", 1},
		{"kv_cache_use", ", KV cache %.0f %%", 100},
		{"prefix_hit_rate", ", prefix hits %.0f %%", 100},
	} {
		if v, known := m[k.key]; known {
			words += fmt.Sprintf(k.format, k.scale*v)
		}
	}
	return words
}
