package llm

import (
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/prices"
)

const (
	// bytesPerToken is the number of bytes that count as one token until a server has counted
	// tokens.
	bytesPerToken = 4
	// expectedAnswer is the number of tokens expected of a model's answer on reasoning until one is
	// recorded. Answers have from about 20 tokens, without quotations, to 110, with three; 50 is
	// between, at most about twice too high or too low.
	expectedAnswer = 50
	// expectedVerdict is the number of tokens expected of a model's verdict on one step until one
	// is recorded. A verdict has about 22 tokens with an empty quote and reason, and 56 if each has
	// the twelve words that are allowed.
	expectedVerdict = 35
	// promptReserve is the factor by which the prompt tokens reserved in the budget for a request
	// exceed those predicted from earlier requests. The number follows closely from the prompt's
	// bytes, so a tenth more is enough.
	promptReserve = 1.1
	// completionReserve is the factor by which the completion tokens reserved in the budget for a
	// request exceed the longest completion recorded so far, since the length of the next one
	// cannot be predicted.
	completionReserve = 2
)

// Prediction is the expected cost of judging.
type Prediction struct {
	// Calls is the number of requests to send if none fails.
	Calls int
	// Cached is the number of answers in the ledger, which need no request.
	Cached int
	ledger.Spent
}

// Forecast sums the expected cost of judging many attempts. It counts the same
// question once.
type Forecast struct {
	Prediction
	judge   *Judge
	perStep bool       // the forecast is that of Steps
	mu      sync.Mutex // guards Prediction and seen
	seen    map[string]bool
}

// Forecast returns a new forecast of Judge.
func (j *Judge) Forecast() *Forecast { return j.forecast(false) }

// ForecastSteps returns a new forecast of Steps.
func (j *Judge) ForecastSteps() *Forecast { return j.forecast(true) }

func (j *Judge) forecast(perStep bool) *Forecast {
	return &Forecast{
		Prediction: Prediction{Spent: ledger.Free()},
		judge:      j,
		perStep:    perStep,
		seen:       map[string]bool{},
	}
}

// Add adds the expected cost of judging one attempt of a domain now. Token counts are calibrated
// on the model's exchanges in the ledger. Before the first one, four bytes are a
// token, and answers have the length that the prompt demands.
func (f *Forecast) Add(kind *domain.Domain, t *arena.Trace, d *arena.Dialogue) error {
	j := f.judge.In(kind)
	k := j.reasoning
	if f.perStep {
		k = j.steps
	}
	if !k.judgeable(t, d) {
		return nil
	}
	votes, err := j.questions(k, t, d)
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
	if f.seen[q.hash] {
		return nil
	}
	f.seen[q.hash] = true
	j := f.judge
	member := q.order[0]
	key, err := j.clients[member].Key(j.request(q, member))
	if err != nil {
		return err
	}
	_, answerErr := j.ledger.Answer(q.hash)
	_, replyErr := j.ledger.Reply(key)
	for _, err := range []error{answerErr, replyErr} {
		if err == nil {
			f.Cached++
		}
		if !errors.Is(err, ledger.ErrNotFound) {
			return err
		}
	}
	if j.ledger.Unread(q.hash) < j.cfg.Tries {
		f.Calls++
		f.Spent = f.Plus(j.expectedCost(q, member))
	}
	return nil
}

// expectedCost returns the likely cost of sending a question to a panel member, from the mean token
// counts of that model's recorded replies. Before there are any, it is estimated from bytesPerToken
// and the expected length of an answer.
func (j *Judge) expectedCost(q question, member int) ledger.Spent {
	model := j.cfg.Panel[member].Model
	s := ledger.Spent{
		Prompt:     estimateTokens(q.bytes),
		Completion: q.expectedTokens * q.verdicts,
	}
	if u := j.ledger.Usage(model, q.prompt.sha256); u.Answers > 0 {
		s.Prompt = int(math.Round(float64(q.bytes) * float64(u.Prompt) / float64(u.PromptBytes)))
		s.Completion = int(math.Round(float64(q.verdicts) * float64(u.Completion) / float64(u.Verdicts)))
	}
	s.USD = j.price(model, s)
	return s
}

// price returns the cost of tokens in US dollars, at the price of tokens that the server has not
// cached. It returns nil if the model's price is unknown.
func (j *Judge) price(model string, s ledger.Spent) *float64 {
	return j.options.Prices.Cost(model, prices.Tokens{
		Prompt:     s.Prompt,
		Completion: s.Completion,
	})
}

// maxCost returns an upper estimate of the cost of sending a question to a panel member, for the
// budget to reserve.
func (j *Judge) maxCost(q question, member int) amount {
	model := j.cfg.Panel[member].Model
	u := j.ledger.Usage(model, q.prompt.sha256)
	s := j.expectedCost(q, member)
	if u.Answers > 0 {
		s.Prompt = int(math.Ceil(float64(q.bytes) * u.MaxRatio * promptReserve))
		completion := completionReserve * u.MaxCompletion * float64(q.verdicts)
		s.Completion = min(j.cfg.MaxTokens, int(math.Ceil(completion)))
	}
	a := amount{
		tokens: s.Prompt + s.Completion,
		guess:  u.Answers == 0,
	}
	if usd := j.price(model, s); usd != nil {
		a.usd = *usd
	}
	return a
}
