//go:build long

package long

// Tests reports whether everything is to run.
const Tests = true
