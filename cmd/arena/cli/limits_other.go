//go:build !unix

package cli

import "math"

// addressSpace is no limit where the system has none to ask for.
func addressSpace() uint64 { return math.MaxUint64 }
