//go:build long

package longtest

// Tests reports whether everything is to run.
const Tests = true
