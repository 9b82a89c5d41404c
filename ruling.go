package arena

// Ruling is what the subnet's own verifier said of an episode in an
// environment pack. It is carried as it came and never computed again.
type Ruling struct {
	// Score is what was paid for the episode, 0 to 1; nil where the verifier gave
	// none.
	Score *float64
	// Success reports whether the request was met.
	Success bool
	// Category says in the verifier's word, in snake case, why it was not met, such as
	// "changes_missed"; empty where it was, or where the verifier does not say.
	Category string
	// Passed and Failed are the verifier's checks by name, sorted.
	Passed []string
	Failed []string
	// Flags are the verifier's notes, such as "possible_world_defect".
	Flags []string
	// Ending is how the session saw the episode end, such as "completed" or
	// "agent_error"; for a bare ledger the reason of its finish.
	Ending string
	// Void says why the episode is no attempt of the agent: "environment_error" or
	// "verifier_error". Such an episode has neither score nor success.
	Void string
	// Events counts the changes of the world that the ledger records.
	Events int
}
