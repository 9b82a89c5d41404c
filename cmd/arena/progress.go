package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/trajectory-arena/arena/pipeline"
)

// noise says how much a command tells while it works.
type noise struct {
	quiet   bool
	verbose bool
}

func (n *noise) flags(c *cobra.Command) {
	c.Flags().BoolVarP(&n.quiet, "quiet", "q", false, "no progress and no summary")
	c.Flags().BoolVarP(&n.verbose, "verbose", "v", false, "name every input that is worked on again, and why")
}

// plainEvery is how often progress is told where there is no terminal.
const plainEvery = 10 * time.Second

// display shows the progress of a run: a bar with rate and time left on a
// terminal, a plain line every ten seconds elsewhere.
type display struct {
	noise
	w        io.Writer
	terminal bool

	mu    sync.Mutex
	stage string
	bar   *progressbar.ProgressBar
	begun time.Time
	last  time.Time
	bytes int64
}

func (n noise) progress(s *streams) *display {
	f, ok := s.err.(*os.File)
	return &display{noise: n, w: s.err, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// event takes one piece of progress in.
func (d *display) event(e pipeline.Event) {
	if d.quiet {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.Stage != d.stage {
		d.start(e)
	}
	d.bytes += e.Bytes
	if d.verbose && e.Why != "" {
		fmt.Fprintf(d.w, "again: %s\n", e.Why)
	}
	if d.terminal {
		_ = d.bar.Set(e.Done) // a bar that cannot be drawn is no failure of the run
		return
	}
	d.plain(e)
}

func (d *display) start(e pipeline.Event) {
	d.end()
	d.stage, d.bytes, d.begun, d.last = e.Stage, 0, time.Now(), time.Now()
	if d.terminal {
		d.bar = progressbar.NewOptions(e.Total,
			progressbar.OptionSetWriter(d.w), progressbar.OptionSetDescription(e.Stage), progressbar.OptionShowCount(),
			progressbar.OptionShowIts(), progressbar.OptionSetItsString("files"), progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	}
}

func (d *display) plain(e pipeline.Event) {
	now := time.Now()
	if now.Sub(d.last) < plainEvery {
		return
	}
	d.last = now
	took := now.Sub(d.begun)
	left := time.Duration(float64(took) / float64(e.Done) * float64(e.Total-e.Done)).Round(time.Second)
	fmt.Fprintf(d.w, "%s: %d of %d files, %.0f MB/s as stored, %s left\n", e.Stage, e.Done, e.Total, float64(d.bytes)/1e6/took.Seconds(), left)
}

func (d *display) end() {
	if d.bar != nil {
		_ = d.bar.Finish() // likewise
		d.bar = nil
	}
}

func (d *display) done() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end()
}
