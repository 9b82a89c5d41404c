package cursor

// maxDepth is the deepest nesting of encoding/json.
const maxDepth = 10_000

// Valid tells whether text is one JSON value, nested no deeper than
// encoding/json allows. It needs no stack: validators that call themselves for
// every bracket end the process on a string of some millions of them.
func Valid(text string) bool {
	c := New(text, Limits{Depth: maxDepth, StringBytes: len(text)})
	c.Skip()
	return c.End() == nil
}
