package evidence

import "github.com/trajectory-arena/arena"

// Listed is what a result shows: ids, titles, prices, sales, and the ids when
// they are read alone.
func Listed(result arena.Raw) (all [4][]string, ids []string) {
	l := new(Pad).List(result)
	return [...][]string{l.Shown, l.Titles, l.Prices, l.Sales}, new(Pad).ShownIDs(result)
}

// IDsOf are the products that the filter reads from a call's arguments.
func IDsOf(args arena.Raw) []string {
	var a Act
	a.Read(new(Pad), Role{Tool: ToolRecommend}, args, false)
	return a.IDs
}
