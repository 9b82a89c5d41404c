package export

import (
	"context"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/cli/clitest"
	"github.com/trajectory-arena/arena/traces"
	"github.com/trajectory-arena/arena/traces/convert"
)

func TestConvertTellsOfTraces(t *testing.T) {
	in, err := traces.Discover("../../../testdata/day")
	if err != nil || len(in) == 0 {
		t.Fatal(err)
	}
	told := clitest.Slowly(t, func(d *cli.Display, wait func()) error {
		d.Begin("convert", 1)
		c := conversion{format: convert.ATIF, runID: "r", inputs: in[:1], progress: d, lost: map[convert.Loss]int{}}
		return c.each(context.Background(), func(*arena.Trace, []byte) error { wait(); return nil })
	})
	if want := "convert: 0 of 1 files, 0 MB/s as stored, 2 attempts, 0.2 a second\n"; !strings.HasPrefix(told, want) {
		t.Errorf("told %.200q, want %q first", told, want)
	}
}
