//go:build unix

package cli

import (
	"math"

	"golang.org/x/sys/unix"
)

// OpenFiles is how many files the process may have open; Go itself has raised
// the limit as far as it may.
func OpenFiles() uint64 { return limit(unix.RLIMIT_NOFILE) }

// addressSpace is how many bytes of addresses the process may reserve.
func addressSpace() uint64 { return limit(unix.RLIMIT_AS) }

func limit(resource int) uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(resource, &l); err != nil {
		return math.MaxUint64
	}
	return uint64(l.Cur) //nolint:unconvert // signed on some systems
}
