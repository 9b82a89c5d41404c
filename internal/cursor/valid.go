package cursor

// maxDepth is the deepest nesting of encoding/json.
const maxDepth = 10_000

// Valid reports whether text is one JSON value, nested no deeper than
// encoding/json allows. It needs no stack: validators that call themselves for
// every bracket end the process on a string of some millions of them.
func Valid(text string) bool {
	return stepOver(text).End() == nil
}

// Finite reports whether text is Valid, and every number in it one that a float64
// holds: of 1e400 readers make infinity, or an error.
func Finite(text string) bool {
	c := stepOver(text)
	return c.End() == nil && !c.infinite
}

func stepOver(text string) *Cursor {
	c := New(text, Limits{Depth: maxDepth, StringBytes: len(text)})
	c.Skip()
	return c
}
