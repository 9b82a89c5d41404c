package figures

import "github.com/trajectory-arena/arena/corpus/rows"

// Of is what the figures take of a row, given by a pointer, but for its config and
// split; empty for a profile that cards do not count.
func Of(row any) Row {
	switch r := row.(type) {
	case *rows.SFT:
		return Row{Tokens: r.NTokens, Counter: r.TokenCounter, Task: r.TaskType, Agent: r.AgentVersion}
	case *rows.RL:
		return Row{Task: r.TaskType, Difficulty: r.Difficulty}
	case *rows.Pref:
		return Row{Tokens: r.ChosenTokens + r.RejectedTokens, Counter: rows.Bytes4{}.Name(), Task: r.TaskType}
	case *rows.KTO:
		return Row{Tokens: r.NTokens, Counter: rows.Bytes4{}.Name(), Task: r.TaskType}
	default:
		return Row{}
	}
}
