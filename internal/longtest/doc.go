// Package longtest tells tests whether to run whole simulations and every case of a
// long table. With go test -tags long ./... they do; without the tag they take a
// sample.
package longtest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Pick returns full if the tag long is set, and sample otherwise.
func Pick[T any](full, sample T) T {
	if Tests {
		return full
	}
	return sample
}

// RunOnDay runs a package's tests. Without the tag, it sets day, the path of the sample day,
// to a copy that holds four of its ten runs: agents of three dialects and a program.
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

// CPU returns the processor time of this process so far, which benchmarks of whole days
// measure: other processes on the machine do not change it.
func CPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // the arguments are right
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
