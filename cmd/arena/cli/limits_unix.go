//go:build unix

package cli

import (
	"math"

	"golang.org/x/sys/unix"
)

// addressSpace is how many bytes of addresses the process may reserve.
func addressSpace() uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &l); err != nil {
		return math.MaxUint64
	}
	return uint64(l.Cur) //nolint:unconvert // signed on some systems
}
