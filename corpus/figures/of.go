package figures

import "github.com/trajectory-arena/arena/corpus/rows"

// OfSFT is what the figures take of an attempt.
func OfSFT(r *rows.SFT) Row {
	return Row{Tokens: r.NTokens, Counter: r.TokenCounter, Task: r.TaskType, Agent: r.AgentVersion}
}

// OfRL is what the figures take of a problem.
func OfRL(r *rows.RL) Row { return Row{Task: r.TaskType, Difficulty: r.Difficulty} }

// OfPref is what the figures take of a pair.
func OfPref(r *rows.Pref) Row {
	return Row{Tokens: r.ChosenTokens + r.RejectedTokens, Counter: rows.Bytes4{}.Name(), Task: r.TaskType}
}

// OfKTO is what the figures take of a labelled attempt.
func OfKTO(r *rows.KTO) Row {
	return Row{Tokens: r.NTokens, Counter: rows.Bytes4{}.Name(), Task: r.TaskType}
}
