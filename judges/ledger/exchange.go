package ledger

import (
	"github.com/trajectory-arena/arena"
)

// Exchange is one request to a model and its result.
type Exchange struct {
	// Key is the SHA-256, in hex, of the request: model, messages and parameters. Ask is that of
	// the question that the request tried to answer. Several models may have been tried for one
	// question.
	Key string `json:"key"`
	Ask string `json:"ask"`
	// Model is the requested model. Served is the model that the reply names.
	Model        string `json:"model"`
	Served       string `json:"served"`
	PromptSHA256 string `json:"prompt_sha256"`
	// Outcome is JudgeScored if the reply could be parsed.
	Outcome arena.JudgeOutcome `json:"outcome"`
	// Try is the number of the request among those of one Ask and one run, counted from 1.
	Try int `json:"try"`
	// Status is the HTTP status, 0 if there was no reply.
	Status  int    `json:"status"`
	Request []byte `json:"-"`
	Reply   []byte `json:"-"`
	// PromptBytes is the size in bytes of the messages' text.
	PromptBytes int `json:"prompt_bytes"`
	// Verdicts is the number of requested verdicts: one for an attempt, or one for each of its
	// steps.
	Verdicts int   `json:"verdicts"`
	Tokens   Spent `json:"-"`
	// Total is the cost of all exchanges for the Ask so far, this one included.
	Total     Spent `json:"-"`
	LatencyMS int64 `json:"latency_ms"`
	// Error is the reason why there is no answer.
	Error string `json:"error"`
	// Payer names the budget that pays for the exchange, if several processes use it one after
	// another. It is empty for the budget of a single run.
	Payer string `json:"payer,omitempty"`
	// Cached reports whether another process recorded the exchange. It is set on reading.
	Cached bool `json:"-"`
}

// Spent is the cost of exchanges.
type Spent struct {
	Prompt     int
	Completion int
	// USD is the cost in US dollars, nil if a price is unknown.
	USD *float64
}

// Plus returns the sum of two costs. Its price is unknown if either price is.
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
	// Unpriced is the number of exchanges that used tokens of unknown price. They are not part
	// of USD.
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

// Bill returns the cost of every exchange in all files, this process's file included.
func (l *Ledger) Bill() Bill {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bill
}

// Paid returns the cost, at the time when the ledger was opened, of all exchanges of a payer.
func (l *Ledger) Paid(payer string) Bill { return l.paid[payer] }

// usageKey is the key of Ledger.usage: a model, and the hash of a prompt that it answered.
type usageKey struct{ model, prompt string }

// Usage is the number of tokens that one model needed for its answers to one prompt. It serves
// to predict costs.
type Usage struct {
	// Answers is the number of exchanges with known token counts. Verdicts, PromptBytes, Prompt
	// and Completion are sums over these exchanges.
	Answers     int
	Verdicts    int
	PromptBytes int
	Prompt      int
	Completion  int
	// MaxCompletion is the maximum number of completion tokens per verdict. MaxRatio is the
	// maximum number of prompt tokens per byte of messages.
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

// Usage returns the usage of a model with the prompt that has this hash.
func (l *Ledger) Usage(model, promptSHA256 string) Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.usage[usageKey{model, promptSHA256}]
}
