package arena

// Harness is the setting that a student acts in: the system prompt it reads
// and the tools it may call. Corpora are rendered and students are evaluated
// with the same ones.
type Harness struct {
	// Name is the profile, such as "7-tool".
	Name   string
	System string
	// Tools are OpenAI tool definitions, one JSON object each.
	Tools []Raw
	// SHA256 is the hex hash over system prompt and tools.
	SHA256 string
}
