package llm

import (
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/prices"
)

const (
	// bytesPerToken is what a token is taken for until a server has counted.
	bytesPerToken = 4
	// expectedAnswer is the length of an answer until one was seen. A bare
	// verdict has about 20 tokens, one with three quotes about 110; the figure
	// between (their geometric mean) is wrong by the least factor.
	expectedAnswer = 50
	// expectedVerdict is the same for one step: about 22 tokens with an empty
	// quote and reason, 56 with the twelve words that each may have.
	expectedVerdict = 35
	// The reserve of a budget over what a model's answers showed so far: a
	// tenth on the prompt, whose tokens follow from its bytes, and twice the
	// longest completion, which nobody can foresee.
	promptReserve     = 1.1
	completionReserve = 2
)

// Prediction is what judging would cost.
type Prediction struct {
	// Calls are requests to send if none fails; answers the ledger holds need
	// none.
	Calls int
	// Held counts answers that the ledger has.
	Held int
	ledger.Spent
}

// Forecast sums what judging many attempts would cost, the same question
// counted once.
type Forecast struct {
	Prediction
	judge *Judge
	kind  *kind
	mu    sync.Mutex // guards Prediction and asked: tasks are forecast side by side
	asked map[string]bool
}

// Forecast begins a sum of what Judge would cost.
func (j *Judge) Forecast() *Forecast { return j.forecast(j.whole) }

// ForecastSteps begins a sum of what Steps would cost.
func (j *Judge) ForecastSteps() *Forecast { return j.forecast(j.steps) }

func (j *Judge) forecast(k *kind) *Forecast {
	return &Forecast{Prediction: Prediction{Spent: ledger.Free()}, judge: j, kind: k, asked: map[string]bool{}}
}

// Add adds what judging one attempt would cost now. Token counts are calibrated
// on the model's exchanges in the ledger; before the first, four bytes make a
// token, and answers are as long as the prompt asks for.
func (f *Forecast) Add(t *arena.Trace, d *arena.Dialogue) error {
	if !f.kind.judgeable(t, d) {
		return nil
	}
	votes, err := f.judge.questions(f.kind, t, d)
	if err != nil {
		return err
	}
	for _, q := range slices.Concat(votes...) {
		if err := f.add(q); err != nil {
			return err
		}
	}
	return nil
}

func (f *Forecast) add(q question) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked[q.ask] {
		return nil
	}
	f.asked[q.ask] = true
	j, member := f.judge, q.order[0]
	key, err := j.clients[member].Key(j.to(q, member))
	if err != nil {
		return err
	}
	_, byAsk := j.ledger.Answer(q.ask)
	_, byKey := j.ledger.Reply(key)
	for _, err := range []error{byAsk, byKey} {
		if err == nil {
			f.Held++
		}
		if !errors.Is(err, ledger.ErrNotHeld) {
			return err
		}
	}
	if j.ledger.Unread(q.ask) < j.cfg.Tries {
		f.Calls++
		f.Spent = f.Plus(j.expect(q, member))
	}
	return nil
}

// expect is what a question is likely to cost.
func (j *Judge) expect(q question, member int) ledger.Spent {
	model := j.cfg.Panel[member].Model
	s := ledger.Spent{Prompt: tokensOf(q.bytes), Completion: q.expected * q.verdicts}
	if u := j.ledger.Usage(model, q.prompt.sha256); u.Answers > 0 {
		s.Prompt = int(math.Round(float64(q.bytes) * float64(u.Prompt) / float64(u.PromptBytes)))
		s.Completion = int(math.Round(float64(q.verdicts) * float64(u.Completion) / float64(u.Verdicts)))
	}
	s.USD = j.price(model, s)
	return s
}

// price takes no token of the prompt for cached: nobody can know.
func (j *Judge) price(model string, s ledger.Spent) *float64 {
	return j.options.Prices.Cost(model, prices.Tokens{Prompt: s.Prompt, Completion: s.Completion})
}

// most is what a question may cost for all that is known.
func (j *Judge) most(q question, member int) amount {
	model := j.cfg.Panel[member].Model
	u := j.ledger.Usage(model, q.prompt.sha256)
	s := j.expect(q, member)
	if u.Answers > 0 {
		s.Prompt = int(math.Ceil(float64(q.bytes) * u.MaxRatio * promptReserve))
		s.Completion = min(j.cfg.MaxTokens, int(math.Ceil(completionReserve*u.MaxCompletion*float64(q.verdicts))))
	}
	a := amount{tokens: s.Prompt + s.Completion, guess: u.Answers == 0}
	if usd := j.price(model, s); usd != nil {
		a.usd = *usd
	}
	return a
}
