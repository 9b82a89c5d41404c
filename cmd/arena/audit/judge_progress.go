package audit

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
)

// progress shows how far the run is until it is stopped: a count with its rate
// on a terminal, a plain line every ten seconds elsewhere. How many attempts a
// day holds is not known before it is read.
func (d *judgeDay) progress(tally *judgeTally) (stop func()) {
	if d.flags.quiet {
		return func() {}
	}
	every, show := cli.PlainEvery, d.plainProgress(tally)
	if f := cli.Terminal(d.streams.Err); f != nil {
		every, show = 200*time.Millisecond, barProgress(f, tally)
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				show(false)
			case <-end:
				show(true)
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}

func (d *judgeDay) plainProgress(tally *judgeTally) func(done bool) {
	start := time.Now()
	return func(done bool) {
		if !done {
			tally.progress(d.streams.Err, time.Since(start))
		}
	}
}

func barProgress(f *os.File, tally *judgeTally) func(done bool) {
	bar := progressbar.NewOptions(-1, progressbar.OptionSetWriter(f), progressbar.OptionSetDescription("judge"),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("attempts"),
		progressbar.OptionClearOnFinish())
	return func(done bool) {
		// A bar that cannot be drawn is no failure of the run.
		_ = bar.Set(tally.seen())
		if done {
			_ = bar.Finish()
		}
	}
}
