package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/journal"
)

// Exchange is one request to a model and what came of it.
type Exchange struct {
	// Key is the hex sha256 of what was asked of whom: model, messages and
	// parameters. Ask is the hex sha256 of the question that the request was
	// one try at answering; several models may have been tried.
	Key string `json:"key"`
	Ask string `json:"ask"`
	// Model is the model that was asked, Served the one the reply names.
	Model        string `json:"model"`
	Served       string `json:"served"`
	PromptSHA256 string `json:"prompt_sha256"`
	// Outcome is scored where the reply could be read.
	Outcome arena.JudgeOutcome `json:"outcome"`
	// Try counts from 1 within one Ask and run.
	Try int `json:"try"`
	// Status is the HTTP status, 0 where no reply came.
	Status  int    `json:"status"`
	Request []byte `json:"-"`
	Reply   []byte `json:"-"`
	// PromptBytes is the size of the messages' text.
	PromptBytes int `json:"prompt_bytes"`
	// Verdicts is how many were asked for: one on an attempt, or one for each of
	// its steps.
	Verdicts int   `json:"verdicts"`
	Tokens   Spent `json:"-"`
	// Total is what the Ask has cost up to and with this exchange.
	Total     Spent `json:"-"`
	LatencyMS int64 `json:"latency_ms"`
	// Error says in words why there is no answer.
	Error string `json:"error"`
	// Payer names the budget that paid, where several processes spend it one after
	// another; empty for that of one run.
	Payer string `json:"payer,omitempty"`
	// Held is true where another process recorded the exchange. It is set on
	// reading.
	Held bool `json:"-"`
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
		sum.USD = new(*s.USD + *o.USD)
	}
	return sum
}

// Free is what an exchange costs that was never sent.
func Free() Spent {
	return Spent{USD: new(float64)}
}

// Bill is what all recorded exchanges cost together.
type Bill struct {
	Exchanges int
	// Unpriced counts exchanges that used tokens whose price was unknown; they
	// add nothing to USD.
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
	if b.USD == nil { // the first
		b.USD = new(float64)
	}
	return Bill{Exchanges: b.Exchanges + 1, Unpriced: b.Unpriced, Spent: b.Plus(cost)}
}

// Bill sums every exchange of every segment, this process's included.
func (l *Ledger) Bill() Bill {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bill
}

// Paid is what exchanges of a payer had cost when the ledger was opened.
func (l *Ledger) Paid(payer string) Bill { return l.paid[payer] }

// asked is a model with the prompt it was given.
type asked struct{ model, prompt string }

// Usage is what one model's answers to one prompt have cost in tokens, for
// predictions.
type Usage struct {
	// Answers counts exchanges with known token counts; the sums are theirs.
	Answers     int
	Verdicts    int
	PromptBytes int
	Prompt      int
	Completion  int
	// MaxCompletion is the most tokens of an answer per verdict, MaxRatio the
	// most prompt tokens per byte of messages.
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

// Usage gives the figures of one model with the prompt of that hash.
func (l *Ledger) Usage(model, promptSHA256 string) Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.usage[asked{model, promptSHA256}]
}

// claimEvery is how long a process waits before it looks again whether another one
// still asks: a model takes seconds.
const claimEvery = 50 * time.Millisecond

// Claim keeps the asking of a question for this process until release is called.
// It waits while another process asks it: look for the answer in the ledger once it
// is claimed. The claim ends with its process at the latest.
func (l *Ledger) Claim(ctx context.Context, ask string) (release func(), err error) {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, fmt.Errorf("claim question: %w", err)
	}
	path := filepath.Join(l.dir, "asking-"+ask[:min(len(ask), 32)]+".lock")
	for {
		lock := flock.New(path)
		held, err := lock.TryLock()
		if err == nil && !held {
			_, err = lock.TryLockContext(ctx, claimEvery)
		}
		if err != nil {
			return nil, errors.Join(context.Cause(ctx), fmt.Errorf("claim question: %w", err), lock.Close())
		}
		if journal.IsAt(lock, path) {
			return func() { _ = errors.Join(os.Remove(path), lock.Unlock()) }, nil // a file that stays behind locks nothing
		}
		_ = lock.Unlock()
	}
}
