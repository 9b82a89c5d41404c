package evidence

import "github.com/trajectory-arena/arena"

// ReadListing returns the ids and titles of a result.
func ReadListing(result arena.Raw) [2][]string {
	l := new(scratch).readListing(result)
	return [...][]string{l.Shown, l.Titles}
}

// ReadIDs returns the products in a call's arguments.
func ReadIDs(args arena.Raw) []string {
	var a Act
	a.read(new(scratch), Role{Tool: ToolCommit}, args, false)
	return a.IDs
}

// FrameOf returns the last words before a value.
var FrameOf = frameOf
