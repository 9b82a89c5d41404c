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

// Display shows the progress of a run: how far it is, its rate and the time left.
type Display struct {
	Noise
	w    io.Writer
	line *Line

	mu    sync.Mutex
	stage string
	begun time.Time
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
	return &Display{Noise: n, w: s.Err, line: NewLine(s), Kind: "attempts"}
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
		d.end()
		d.stage, d.bytes, d.attempts, d.begun = e.Stage, 0, 0, time.Now()
		d.line.begin()
	}
	d.bytes, d.units, d.total = d.bytes+e.Bytes, e.Done, e.Total
	if e.Why != "" {
		if d.again++; d.verbose || d.again <= maxAgain {
			d.line.Clear()
			fmt.Fprintf(d.w, "again: %s\n", e.Why)
		}
	}
	if d.line.Show(d.words); d.units == d.total {
		d.line.Clear()
	}
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
		d.line.Show(d.words)
	})
}

func (d *Display) words(now time.Time) string {
	took := max(now.Sub(d.begun), time.Millisecond)
	var said []string
	switch {
	case d.inBytes && d.total == 0:
		said = append(said, fmt.Sprintf("%d MB read", d.units/1e6))
	case d.inBytes:
		said = append(said, fmt.Sprintf("%d of %d MB", d.units/1e6, d.total/1e6))
	case d.total > 0:
		said = append(said, fmt.Sprintf("%d of %d files", d.units, d.total))
	}
	if len(said) > 0 {
		said = append(said, fmt.Sprintf("%.0f MB/s as stored", float64(d.bytes)/1e6/took.Seconds()))
	}
	if d.attempts > 0 {
		rate := float64(d.attempts) / took.Seconds()
		format := "%d %s, %.2g a second"
		if rate >= 10 {
			format = "%d %s, %.0f a second"
		}
		said = append(said, fmt.Sprintf(format, d.attempts, d.Kind, rate))
	}
	if d.units > 0 && d.total > 0 {
		said = append(said, fmt.Sprintf("%s left", time.Duration(float64(took)/float64(d.units)*float64(d.total-d.units)).Round(time.Second)))
	}
	return d.stage + ": " + strings.Join(said, ", ")
}

func (d *Display) end() {
	d.line.Clear()
	if more := d.again - maxAgain; more > 0 && !d.verbose {
		fmt.Fprintf(d.w, "again: and %d more (-v names them)\n", more)
	}
	d.again = 0
}

// Done takes the display off the terminal.
func (d *Display) Done() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end()
}

// How often progress is told on a terminal, and where there is none.
const (
	freshEvery = 100 * time.Millisecond
	PlainEvery = 10 * time.Second
)

// Line is one line about what goes on: kept fresh on a terminal, printed now and then
// elsewhere.
type Line struct {
	w io.Writer
	// terminal takes the cursor back; nil where there is none.
	terminal io.Writer
	columns  int
	shown    time.Time
	drawn    bool
}

// NewLine makes one that is told first when it is due.
func NewLine(s *Streams) *Line {
	l := &Line{w: s.Err}
	to, _ := s.Err.(words)
	if f, ok := to.to.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			l.terminal, l.columns = f, columns
		}
	}
	l.begin()
	return l
}

// begin has a terminal tell at once, and all else after a while.
func (l *Line) begin() {
	if l.shown = time.Now(); l.terminal != nil {
		l.shown = time.Time{}
	}
}

// Show tells the words where they are due.
func (l *Line) Show(words func(now time.Time) string) {
	now, every := time.Now(), PlainEvery
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

// Clear takes the line off the terminal.
func (l *Line) Clear() {
	if l.drawn {
		fmt.Fprint(l.terminal, toStart)
		l.drawn = false
	}
}
