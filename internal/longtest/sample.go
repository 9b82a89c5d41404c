//go:build !long

package longtest

// Tests reports whether all cases of long tests run.
const Tests = false
