//go:build unix

package evaluate

import (
	"math"

	"golang.org/x/sys/unix"
)

// mostOpenFiles is the process's limit, which Go itself has raised as far as it may.
func mostOpenFiles() uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return math.MaxUint64
	}
	return uint64(l.Cur) //nolint:unconvert // signed on some systems
}
