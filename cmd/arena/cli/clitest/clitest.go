// Package clitest holds what tests of several commands need.
package clitest

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
)

// Slowly runs work that waits at every row it reads, and gives what was told.
func Slowly(t *testing.T, work func(d *cli.Display, wait func()) error) string {
	t.Helper()
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		d := cli.Noise{}.Progress(&cli.Streams{Err: &out})
		if err := work(d, func() { time.Sleep(cli.PlainEvery) }); err != nil {
			t.Error(err)
		}
		d.Done()
	})
	return out.String()
}
