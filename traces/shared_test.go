package traces

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trajectory-arena/arena"
)

// nan lets absent numbers equal each other.
var nan = cmpopts.EquateNaNs()

// readAll reads a day with the given options.
func readAll(tb testing.TB, day string, opt Options) (traces []*arena.Trace, faults []Fault, sum Summary) {
	tb.Helper()
	ins, err := Discover(day)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range ins {
		if err := ins[i].Hash(context.Background()); err != nil {
			tb.Fatal(err)
		}
		one, err := Read(context.Background(), ins[i], opt, func(item Item) error {
			if item.Fault != nil {
				faults = append(faults, *item.Fault)
			} else {
				traces = append(traces, item.Trace)
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
		sum.Traces, sum.Faults = sum.Traces+one.Traces, sum.Faults+one.Faults
		sum.Cut = sum.Cut || one.Cut
	}
	if sum.Traces != len(traces) || sum.Faults != len(faults) {
		tb.Errorf("the summary has %d traces and %d faults, emitted were %d and %d", sum.Traces, sum.Faults, len(traces), len(faults))
	}
	return traces, faults, sum
}

// readText reads text as one file of a fresh day.
func readText(tb testing.TB, name, text string) (traces []*arena.Trace, faults []Fault) {
	tb.Helper()
	return readTextWith(tb, name, text, named())
}

func readTextWith(tb testing.TB, name, text string, opt Options) (traces []*arena.Trace, faults []Fault) {
	tb.Helper()
	day := tb.TempDir()
	write(tb, filepath.Join(day, filepath.FromSlash(name)), text)
	traces, faults, _ = readAll(tb, day, opt)
	return traces, faults
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// one reads text that holds exactly one trace.
func one(tb testing.TB, text string) *arena.Trace {
	tb.Helper()
	traces, faults := readText(tb, "t.json", text)
	if len(traces) != 1 || len(faults) != 0 {
		tb.Fatalf("got %d traces and faults %v, want one trace", len(traces), faults)
	}
	return traces[0]
}

func reasons(faults []Fault) string {
	var words []string
	for _, f := range faults {
		words = append(words, string(f.Reason))
	}
	return strings.Join(words, " ")
}

func diff(tb testing.TB, want, got any, opts ...cmp.Option) {
	tb.Helper()
	if d := cmp.Diff(want, got, append(opts, nan)...); d != "" {
		tb.Errorf("want -, got +:\n%s", d)
	}
}

// named returns the options that name records without a run as standard input does.
func named() Options {
	opt := Defaults()
	opt.RunID = stdinRun
	return opt
}
