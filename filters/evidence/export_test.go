package evidence

import "github.com/trajectory-arena/arena"

// Listed is what a result shows: ids and titles.
func Listed(result arena.Raw) [2][]string {
	l := new(Pad).List(result)
	return [...][]string{l.Shown, l.Titles}
}

// IDsOf are the products that the filter reads from a call's arguments.
func IDsOf(args arena.Raw) []string {
	var a Act
	a.Read(new(Pad), Role{Tool: ToolRecommend}, args, false)
	return a.IDs
}

// Frame is the last words before a value.
var Frame = frame
