//go:build !unix

package evaluate

import "math"

// mostOpenFiles is no limit where the system has none to ask for.
func mostOpenFiles() uint64 { return math.MaxUint64 }
