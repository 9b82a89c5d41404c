package ledger

import "github.com/trajectory-arena/arena"

// Exchange is one request to a model and what came of it.
type Exchange struct {
	// Key is the hex sha256 of what was asked of whom: model, messages and
	// parameters. Ask is the hex sha256 of the question that the request was
	// one try at answering; several models may have been tried.
	Key string
	Ask string
	// Model is the model that was asked, Served the one the reply names.
	Model        string
	Served       string
	PromptSHA256 string
	// Outcome is scored where the reply could be read.
	Outcome arena.JudgeOutcome
	// Try counts from 1 within one Ask and run.
	Try int
	// Status is the HTTP status, 0 where no reply came.
	Status  int
	Request []byte
	Reply   []byte
	// PromptBytes is the size of the messages' text.
	PromptBytes int
	// Verdicts is how many were asked for: one on an attempt, or one for each of
	// its steps.
	Verdicts int
	Tokens   Spent
	// Total is what the Ask has cost up to and with this exchange.
	Total     Spent
	LatencyMS int64
	// Error says in words why there is no answer.
	Error string
	// Held is true where another process recorded the exchange. It is set on
	// reading.
	Held bool
}

// Spent is what exchanges cost.
type Spent struct {
	Prompt     int
	Completion int
	// USD is nil where a price is unknown.
	USD *float64
}

// Plus is the sum of both; its price is unknown where either is.
func (s Spent) Plus(o Spent) Spent {
	sum := Spent{Prompt: s.Prompt + o.Prompt, Completion: s.Completion + o.Completion}
	if s.USD != nil && o.USD != nil {
		usd := *s.USD + *o.USD
		sum.USD = &usd
	}
	return sum
}

// Free is what an exchange costs that was never sent.
func Free() Spent {
	return Spent{USD: new(float64)}
}
