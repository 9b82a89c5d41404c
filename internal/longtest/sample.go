//go:build !long

package longtest

// Tests reports whether long tests run all their cases.
const Tests = false
