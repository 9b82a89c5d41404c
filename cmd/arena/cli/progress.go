package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/trajectory-arena/arena/pipeline"
)

// Noise says how much a command tells while it works.
type Noise struct {
	Quiet   bool
	verbose bool
}

// Flags adds the flags to c.
func (n *Noise) Flags(c *cobra.Command) {
	c.Flags().BoolVarP(&n.Quiet, "quiet", "q", false, "no progress and no summary")
	c.Flags().BoolVarP(&n.verbose, "verbose", "v", false, "name every input that is worked on again, and why")
}

// PlainEvery is how often progress is told where there is no terminal.
const PlainEvery = 10 * time.Second

// Display shows the progress of a run: a bar with rate and time left on a
// terminal, a plain line every ten seconds elsewhere.
type Display struct {
	Noise
	w io.Writer
	// terminal is what bars are drawn on; nil where there is none.
	terminal *os.File

	mu    sync.Mutex
	stage string
	bar   *progressbar.ProgressBar
	begun time.Time
	last  time.Time
	bytes int64
	// units of the stage, and the attempts seen in them so far. Units are files, or
	// bytes where inBytes; a total of 0 is unknown.
	units, total, attempts int
	inBytes                bool
	// Kind is what attempts are where they are something else, such as rows.
	Kind string
	// again counts inputs that were worked on again.
	again int
}

// Progress makes the display of a run.
func (n Noise) Progress(s *Streams) *Display {
	return &Display{Noise: n, w: s.Err, terminal: Terminal(s.Err), Kind: "attempts"}
}

// Terminal is the terminal that words go to; nil where they go elsewhere.
func Terminal(w io.Writer) *os.File {
	to, _ := w.(words)
	if f, ok := to.to.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// Event takes one piece of progress in.
func (d *Display) Event(e pipeline.Event) { d.unlessQuiet(func() { d.take(e) }) }

func (d *Display) unlessQuiet(tell func()) {
	if d.Quiet {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	tell()
}

func (d *Display) take(e pipeline.Event) {
	if e.Stage != d.stage {
		d.start(e)
	}
	d.bytes, d.units, d.total = d.bytes+e.Bytes, e.Done, e.Total
	if e.Why != "" {
		if d.again++; d.verbose || d.again <= maxAgain {
			fmt.Fprintf(d.w, "again: %s\n", e.Why)
		}
	}
	d.show()
}

// maxAgain is how many inputs that are worked on again are named without being
// asked for: what changed is told, and a change to all of a day in few lines.
const maxAgain = 3

// Begin starts a stage of so many files, 0 where they say nothing of how far it is. What works through them says how far
// it is by Finished and Attempt.
func (d *Display) Begin(stage string, files int) { d.Event(pipeline.Event{Stage: stage, Total: files}) }

// Reading starts a stage that reads so many bytes, 0 where nobody knows. It
// gives what says that some more were read.
func (d *Display) Reading(stage string, bytes int64) (read func(bytes int)) {
	d.inBytes = true
	d.Event(pipeline.Event{Stage: stage, Total: int(bytes)})
	return func(n int) {
		d.unlessQuiet(func() {
			done := d.units + n
			if d.total > 0 {
				done = min(done, d.total) // ends of files are read more than once
			}
			d.take(pipeline.Event{Stage: stage, Done: done, Total: d.total, Bytes: int64(n)})
		})
	}
}

// Finished says that one more file of the stage is done.
func (d *Display) Finished(bytes int64) {
	d.unlessQuiet(func() {
		d.take(pipeline.Event{Stage: d.stage, Done: d.units + 1, Total: d.total, Bytes: bytes})
	})
}

// Attempt says that one more attempt was read, so that a single long file is no
// standstill.
func (d *Display) Attempt() {
	d.unlessQuiet(func() {
		d.attempts++
		d.show()
	})
}

func (d *Display) show() {
	if d.terminal == nil {
		d.plain()
		return
	}
	if d.attempts > 0 {
		d.bar.Describe(fmt.Sprintf("%s, %d %s", d.stage, d.attempts, d.Kind))
	}
	_ = d.bar.Set(d.units) // a bar that cannot be drawn is no failure of the run
}

func (d *Display) start(e pipeline.Event) {
	d.end()
	d.stage, d.bytes, d.attempts, d.begun, d.last = e.Stage, 0, 0, time.Now(), time.Now()
	if d.terminal == nil {
		return
	}
	total := e.Total
	if total == 0 {
		total = -1 // of the bar, what has no end
	}
	rate := []progressbar.Option{progressbar.OptionShowIts(), progressbar.OptionSetItsString("files")}
	if d.inBytes {
		rate = []progressbar.Option{progressbar.OptionShowBytes(true)}
	}
	d.bar = progressbar.NewOptions(total, append(rate,
		progressbar.OptionSetWriter(d.terminal), progressbar.OptionSetDescription(e.Stage), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))...)
}

func (d *Display) plain() {
	now := time.Now()
	if now.Sub(d.last) < PlainEvery {
		return
	}
	d.last = now
	took := now.Sub(d.begun)
	var said []string
	if d.inBytes || d.total > 0 {
		said = append(said, d.sofar(), fmt.Sprintf("%.0f MB/s as stored", float64(d.bytes)/1e6/took.Seconds()))
	}
	if d.attempts > 0 {
		said = append(said, fmt.Sprintf("%d %s, %.2g a second", d.attempts, d.Kind, float64(d.attempts)/took.Seconds()))
	}
	if d.units > 0 && d.total > 0 {
		said = append(said, fmt.Sprintf("%s left", time.Duration(float64(took)/float64(d.units)*float64(d.total-d.units)).Round(time.Second)))
	}
	fmt.Fprintf(d.w, "%s: %s\n", d.stage, strings.Join(said, ", "))
}

func (d *Display) sofar() string {
	switch {
	case d.inBytes && d.total == 0:
		return fmt.Sprintf("%d MB read", d.units/1e6)
	case d.inBytes:
		return fmt.Sprintf("%d of %d MB", d.units/1e6, d.total/1e6)
	default:
		return fmt.Sprintf("%d of %d files", d.units, d.total)
	}
}

func (d *Display) end() {
	if more := d.again - maxAgain; more > 0 && !d.verbose {
		fmt.Fprintf(d.w, "again: and %d more (-v names them)\n", more)
	}
	d.again = 0
	if d.bar != nil {
		_ = d.bar.Finish() // likewise
		d.bar = nil
	}
}

// Done takes the display off the terminal.
func (d *Display) Done() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end()
}
