package cli

// Version is the program's own, as CHANGELOG.md has it. It is written into
// every row, so it changes only when the rows may.
func Version() string { return "0.1.0" }
