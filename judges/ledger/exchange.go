package ledger

import (
	"github.com/trajectory-arena/arena"
)

// Exchange is one request to a model and its result.
type Exchange struct {
	// Key is the hex sha256 of the request: model, messages and parameters. Ask is
	// the hex sha256 of the question that the request was one try at answering;
	// several models may have been tried.
	Key string `json:"key"`
	Ask string `json:"ask"`
	// Model is the model that was asked, Served the one that the reply names.
	Model        string `json:"model"`
	Served       string `json:"served"`
	PromptSHA256 string `json:"prompt_sha256"`
	// Outcome is scored if the reply could be parsed.
	Outcome arena.JudgeOutcome `json:"outcome"`
	// Try counts from 1 within one Ask and run.
	Try int `json:"try"`
	// Status is the HTTP status, 0 if there was no reply.
	Status  int    `json:"status"`
	Request []byte `json:"-"`
	Reply   []byte `json:"-"`
	// PromptBytes is the size of the messages' text.
	PromptBytes int `json:"prompt_bytes"`
	// Verdicts is the number of verdicts requested: one on an attempt, or one for
	// each of its steps.
	Verdicts int   `json:"verdicts"`
	Tokens   Spent `json:"-"`
	// Total is the cost of the Ask up to and including this exchange.
	Total     Spent `json:"-"`
	LatencyMS int64 `json:"latency_ms"`
	// Error is the reason why there is no answer.
	Error string `json:"error"`
	// Payer names the budget that paid, if several processes spend it one after
	// another; empty for the budget of one run.
	Payer string `json:"payer,omitempty"`
	// Cached is true if another process recorded the exchange. It is set on reading.
	Cached bool `json:"-"`
}

// Spent is the cost of exchanges.
type Spent struct {
	Prompt     int
	Completion int
	// USD is nil if a price is unknown.
	USD *float64
}

// Plus returns the sum of both. Its price is unknown if either is.
func (s Spent) Plus(o Spent) Spent {
	sum := Spent{
		Prompt:     s.Prompt + o.Prompt,
		Completion: s.Completion + o.Completion,
	}
	if s.USD != nil && o.USD != nil {
		sum.USD = new(*s.USD + *o.USD)
	}
	return sum
}

// Free returns the cost of an exchange that was never sent.
func Free() Spent {
	return Spent{USD: new(float64)}
}

// Bill is the total cost of recorded exchanges.
type Bill struct {
	Exchanges int
	// Unpriced is the number of exchanges that used tokens of unknown price; they add
	// nothing to USD.
	Unpriced int
	Spent
}

func (b Bill) plus(e Exchange) Bill {
	cost := e.Tokens
	if cost.USD == nil {
		if cost.Prompt+cost.Completion > 0 {
			b.Unpriced++
		}
		cost.USD = new(float64)
	}
	if b.USD == nil { // the zero Bill
		b.USD = new(float64)
	}
	return Bill{
		Exchanges: b.Exchanges + 1,
		Unpriced:  b.Unpriced,
		Spent:     b.Plus(cost),
	}
}

// Bill returns the cost of every exchange of every file, including this process's.
func (l *Ledger) Bill() Bill {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bill
}

// Paid returns the cost of the exchanges of a payer when the ledger was opened.
func (l *Ledger) Paid(payer string) Bill { return l.paid[payer] }

// usageKey is the key of Ledger.usage: a model, and the hash of the prompt that it answered.
type usageKey struct{ model, prompt string }

// Usage is the tokens that one model's answers to one prompt have cost, for
// predictions.
type Usage struct {
	// Answers is the number of exchanges with known token counts, which the other
	// fields sum.
	Answers     int
	Verdicts    int
	PromptBytes int
	Prompt      int
	Completion  int
	// MaxCompletion is the maximum of completion tokens per verdict, MaxRatio that of
	// prompt tokens per byte of messages.
	MaxCompletion float64
	MaxRatio      float64
}

func (u Usage) plus(e Exchange) Usage {
	if e.Tokens.Prompt == 0 || e.PromptBytes == 0 || e.Verdicts == 0 {
		return u
	}
	u.Answers++
	u.Verdicts += e.Verdicts
	u.PromptBytes += e.PromptBytes
	u.Prompt += e.Tokens.Prompt
	u.Completion += e.Tokens.Completion
	u.MaxCompletion = max(u.MaxCompletion, float64(e.Tokens.Completion)/float64(e.Verdicts))
	u.MaxRatio = max(u.MaxRatio, float64(e.Tokens.Prompt)/float64(e.PromptBytes))
	return u
}

// Usage returns the usage of one model with the prompt of that hash.
func (l *Ledger) Usage(model, promptSHA256 string) Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.usage[usageKey{model, promptSHA256}]
}
