package report

import "github.com/trajectory-arena/arena/corpus"

// Agent is one agent's kept attempts.
type Agent struct {
	Name string
	Kept int
}

// Level counts the attempts at one level of the judge.
type Level struct {
	Score    float64
	Attempts int
	Kept     int
}

// Lengths are turns and tokens of each attempt of a split, ascending.
type Lengths struct {
	Split         string
	Steps, Tokens []int
}

// Build is what the plots of a finished corpus show.
type Build struct {
	Funnel []corpus.Stage
	Agents []Agent
	Levels []Level
	// Lengths are those of the splits that hold attempts.
	Lengths []Lengths
}
