// Package longtest decides whether tests run completely or on a sample. With go test -tags long
// ./... they run whole simulations and every case of long tables.
package longtest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Pick returns full if the build tag long is set, otherwise sample.
func Pick[T any](full, sample T) T {
	if Tests {
		return full
	}
	return sample
}

// RunOnDay runs a package's tests. Without the build tag long, it first sets day, the path of
// the sample data, to a copy with four of the ten runs: agents of three dialects and a program.
func RunOnDay(m *testing.M, day *string) int {
	if Tests {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "day-")
	defer os.RemoveAll(dir) //nolint:errcheck // it lies among what is temporary
	err = errors.Join(err, os.CopyFS(dir, os.DirFS(*day)))
	runs, _ := filepath.Glob(filepath.Join(dir, "traces", "*"))
	for i := 4; i < len(runs); i++ {
		err = errors.Join(err, os.RemoveAll(runs[i]))
	}
	if *day = dir; err != nil {
		panic(err)
	}
	return m.Run()
}

// CPU returns the processor time of this process so far. Benchmarks use it since it does not
// depend on other processes on the machine.
func CPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // the arguments are right
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
