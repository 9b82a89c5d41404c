package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/trajectory-arena/arena/pipeline"
)

// Verbosity are the flags for how much a command prints while it works.
type Verbosity struct {
	Quiet   bool
	verbose bool
}

// Flags adds the flags to c.
func (n *Verbosity) Flags(c *cobra.Command) {
	c.Flags().BoolVarP(&n.Quiet, "quiet", "q", false, "no progress and no summary")
	c.Flags().BoolVarP(&n.verbose, "verbose", "v", false, "name every input that is read again, and why")
}

// Display shows the progress of a run: the current position, the rate and the remaining time.
type Display struct {
	Verbosity
	w    io.Writer
	line *Line

	mu      sync.Mutex
	stage   string
	started time.Time
	bytes   int64
	// units is the number of finished files of the stage or, if inBytes is true, of finished
	// bytes. total is the number of all, 0 if it is unknown. attempts is the number of attempts
	// read so far.
	units, total, attempts int
	inBytes                bool
	// Kind is the noun, in plural, for attempts in the display, such as rows.
	Kind string
	// remade is the number of inputs that were processed again.
	remade int
}

// Progress returns the display of a run. It writes to standard error.
func (n Verbosity) Progress(s *Streams) *Display {
	return &Display{
		Verbosity: n,
		w:         s.Err,
		line:      NewLine(s),
		Kind:      "attempts",
	}
}

// Event updates the display with an event of the pipeline.
func (d *Display) Event(e pipeline.Event) {
	d.unlessQuiet(func() {
		d.update(e)
	})
}

func (d *Display) unlessQuiet(f func()) {
	if d.Quiet {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

func (d *Display) update(e pipeline.Event) {
	if e.Stage != d.stage {
		d.end()
		d.stage = e.Stage
		d.bytes = 0
		d.attempts = 0
		d.started = time.Now()
		d.line.begin()
	}
	d.bytes, d.units, d.total = d.bytes+e.Bytes, e.Done, e.Total
	if e.Why != "" {
		if d.remade++; d.verbose || d.remade <= maxRemade {
			d.line.Clear()
			fmt.Fprintf(d.w, "again: %s\n", e.Why)
		}
	}
	if d.line.Show(d.text); d.units == d.total {
		d.line.Clear()
	}
}

// maxRemade is the maximum number of input files that are listed as processed again because they
// changed. The flag -v lists all of them.
const maxRemade = 3

// Begin starts a stage with the given number of files, 0 if progress is not measured by files.
// Finished and Attempt report progress in the stage.
func (d *Display) Begin(stage string, files int) {
	d.Event(pipeline.Event{
		Stage: stage,
		Total: files,
	})
}

// Reading starts a stage that reads the given number of bytes, 0 if it is unknown. The caller
// must call the returned function with the number of bytes of each read.
func (d *Display) Reading(stage string, bytes int64) (read func(bytes int)) {
	d.inBytes = true
	d.Event(pipeline.Event{Stage: stage, Total: int(bytes)})
	return func(n int) {
		d.unlessQuiet(func() {
			done := d.units + n
			if d.total > 0 {
				done = min(done, d.total) // ends of files are read more than once
			}
			d.update(pipeline.Event{
				Stage: stage,
				Done:  done,
				Total: d.total,
				Bytes: int64(n),
			})
		})
	}
}

// Finished records that one more file of the stage is finished.
func (d *Display) Finished(bytes int64) {
	d.unlessQuiet(func() {
		d.update(pipeline.Event{
			Stage: d.stage,
			Done:  d.units + 1,
			Total: d.total,
			Bytes: bytes,
		})
	})
}

// Attempt records that one more attempt was read, so that the display also changes within a long
// file.
func (d *Display) Attempt() {
	d.unlessQuiet(func() {
		d.attempts++
		d.line.Show(d.text)
	})
}

func (d *Display) text(now time.Time) string {
	elapsed := max(now.Sub(d.started), time.Millisecond)
	var parts []string
	switch {
	case d.inBytes && d.total == 0:
		parts = append(parts, fmt.Sprintf("%d MB read", d.units/1e6))
	case d.inBytes:
		parts = append(parts, fmt.Sprintf("%d of %d MB", d.units/1e6, d.total/1e6))
	case d.total > 0:
		parts = append(parts, fmt.Sprintf("%d of %d files", d.units, d.total))
	}
	if len(parts) > 0 {
		parts = append(parts, fmt.Sprintf("%.0f MB/s as stored", float64(d.bytes)/1e6/elapsed.Seconds()))
	}
	if d.attempts > 0 {
		rate := float64(d.attempts) / elapsed.Seconds()
		format := "%d %s, %.2g a second"
		if rate >= 10 {
			format = "%d %s, %.0f a second"
		}
		parts = append(parts, fmt.Sprintf(format, d.attempts, d.Kind, rate))
	}
	if d.units > 0 && d.total > 0 {
		parts = append(parts, fmt.Sprintf(
			"%s left",
			time.Duration(float64(elapsed)/float64(d.units)*float64(d.total-d.units)).Round(time.Second),
		))
	}
	return d.stage + ": " + strings.Join(parts, ", ")
}

func (d *Display) end() {
	d.line.Clear()
	if more := d.remade - maxRemade; more > 0 && !d.verbose {
		fmt.Fprintf(d.w, "again: and %d more (-v names them)\n", more)
	}
	d.remade = 0
}

// Done removes the display from the terminal.
func (d *Display) Done() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end()
}

// freshEvery is the time between two updates of the progress on a terminal. PlainEvery is the
// time between two lines of progress elsewhere.
const (
	freshEvery = 100 * time.Millisecond
	PlainEvery = 10 * time.Second
)

// Line is one line of progress. It is updated in place on a terminal. Elsewhere it is printed
// every PlainEvery.
type Line struct {
	w io.Writer
	// terminal receives the codes that move the cursor. It is nil if standard error is not a
	// terminal.
	terminal io.Writer
	columns  int
	shown    time.Time
	drawn    bool
}

// NewLine returns a line of progress. It is not shown yet.
func NewLine(s *Streams) *Line {
	l := &Line{w: s.Err}
	redacting, _ := s.Err.(redactingWriter)
	if f, ok := redacting.dst.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			l.terminal, l.columns = f, columns
		}
	}
	l.begin()
	return l
}

// begin sets when the progress line is printed for the first time: at once on a terminal, otherwise
// after the interval PlainEvery.
func (l *Line) begin() {
	if l.shown = time.Now(); l.terminal != nil {
		l.shown = time.Time{}
	}
}

// Show prints the result of words if enough time has passed since the last print.
func (l *Line) Show(words func(now time.Time) string) {
	now := time.Now()
	every := PlainEvery
	if l.terminal != nil {
		every = freshEvery
	}
	if now.Sub(l.shown) < every {
		return
	}
	l.shown = now
	text := words(now)
	if l.terminal == nil {
		fmt.Fprintln(l.w, text)
		return
	}
	fmt.Fprint(l.terminal, toStart)
	fmt.Fprint(l.w, text[:min(len(text), max(0, l.columns-1))])
	l.drawn = true
}

const toStart = "\r\x1b[K"

// Clear removes the line from the terminal.
func (l *Line) Clear() {
	if l.drawn {
		fmt.Fprint(l.terminal, toStart)
		l.drawn = false
	}
}
