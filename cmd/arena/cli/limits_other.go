//go:build !unix

package cli

import "math"

// OpenFiles is no limit where the system has none to ask for.
func OpenFiles() uint64 { return math.MaxUint64 }

func addressSpace() uint64 { return math.MaxUint64 }
