package figures

// Bars is a bar chart of a card.
type Bars struct {
	// File is the picture's, X and Y name the axes.
	File, X, Y string
	// Names are those of the bars, each of one stack or of several on top of each other.
	Names  []string
	Stacks []Stack
}

// Stack is one kind of what bars count.
type Stack struct {
	Name   string
	Counts []float64
	// Rest reports whether these are what the others are not.
	Rest bool
}
