// Package environment runs episodes for trainers: the tools of the shop, or of an MCP server in
// another domain, behind a session and, at its end, a reward in named parts. In the shop they follow
// the rules that `arena eval` scores by; in another domain what is not measured has no value. A
// failure of the environment itself never counts as a reward of 0: the sample is masked,
// with the reason.
package environment

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/environment/toolserver"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/rollout"
)

// Environment is the state that all episodes share.
type Environment struct {
	Problems student.Problems
	Harness  arena.Harness
	// Player answers the calls. Its template and dialect are not used, since the trainer
	// runs the model itself.
	Player *rollout.Environment
	// Tools answers the calls in another domain than the shop, in place of Player; nil for the
	// shop.
	Tools *toolserver.Server
	// Rewarder computes the rewards of finished episodes.
	Rewarder *Rewarder
	// Refused contains, by problem id, the reasons why problems must not be trained on.
	Refused map[string]string
	// Record stores finished episodes; nil for no record.
	Record *Record
	Limits Limits
	// Now returns the time, NewID an unguessable id for an episode.
	Now   func() time.Time
	NewID func() string

	mu       sync.Mutex
	episodes map[string]*Episode
	byID     map[string]int
}

// Limits bound what trainers can use.
type Limits struct {
	// Episodes is the maximum number of open episodes.
	Episodes int
	// Age is the maximum duration of an episode, Idle the maximum time between two calls.
	Age  time.Duration
	Idle time.Duration
	// Calls is the maximum number of calls of an episode.
	Calls int
}

// DefaultLimits returns limits for training on one machine.
func DefaultLimits() Limits {
	return Limits{
		Episodes: 8192,
		Age:      time.Hour,
		Idle:     20 * time.Minute,
		Calls:    256,
	}
}

// The errors of Start.
var (
	ErrUnknown = errors.New("there is no such problem")
	ErrRefused = errors.New("the problem may not be trained on")
	ErrTooMany = errors.New("too many episodes are under way")
)

// Start starts an episode at the problem of this id.
func (e *Environment) Start(problem string) (*Episode, error) {
	e.mu.Lock()
	defer e.mu.Unlock()

	if e.byID == nil {
		e.indexProblems()
	}
	i, ok := e.byID[problem]
	if !ok {
		return nil, fmt.Errorf("begin an episode at %q: %w", problem, ErrUnknown)
	}
	if reason, ok := e.Refused[problem]; ok {
		return nil, fmt.Errorf("begin an episode at %q: %w: %s", problem, ErrRefused, reason)
	}

	now := e.Now()
	if len(e.episodes) >= e.Limits.Episodes {
		maps.DeleteFunc(e.episodes, func(_ string, ep *Episode) bool {
			return ep.removeAbandoned(now)
		})
	}
	if len(e.episodes) >= e.Limits.Episodes {
		return nil, ErrTooMany
	}
	ep := &Episode{
		ID:          e.NewID(),
		environment: e,
		problem:     i,
		started:     now,
		lastUsed:    now,
	}
	e.episodes[ep.ID] = ep
	return ep, nil
}

func (e *Environment) indexProblems() {
	e.episodes = map[string]*Episode{}
	e.byID = map[string]int{}
	for i, id := range e.Problems.IDs {
		e.byID[id] = i
	}
}

// Find returns the open episode of this id, or a fault if there is none.
func (e *Environment) Find(id string) (*Episode, *Fault) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if ep, ok := e.episodes[id]; ok {
		return ep, nil
	}
	return nil, &Fault{
		Kind:   FaultUnknown,
		Reason: "there is no such episode: it ended, was left alone for too long, or the server began anew",
	}
}

// injectionSeed seeds the random choice of protected (held-out) problems that are reworded to
// measure how many of them the guard finds.
const injectionSeed = 1

// RefusedProblems returns the problems that must not be trained on, with the reasons:
// those of the bank's protected clusters, and those in which the guard finds a protected
// problem. It returns an error if nothing is protected.
func RefusedProblems(known *finish.Exclusions, p student.Problems) (map[string]string, error) {
	if known.Bank == nil {
		return nil, guard.ErrEmptyBank
	}
	protected := finish.ProtectedInBank(known.Bank, known.HeldOut)
	protection, err := finish.NewProtection(protected, known.GuardConfig(), injectionSeed)
	if err != nil {
		return nil, err
	}

	refused := map[string]string{}
	for i := range p.All {
		problem := &p.All[i]
		candidate := guard.Candidate{ID: p.IDs[i], Text: problem.Query}
		for _, r := range problem.Rewards {
			candidate.ItemIDs = append(candidate.ItemIDs, r.ProductID)
		}

		pool := known.Bank.Pool(guard.SpecHash(*problem))
		if pool != "" && pool != guard.PoolTrain {
			refused[candidate.ID] = "its cluster is " + string(pool)
			continue
		}
		if f := protection.Check(corpus.SplitTrain, candidate); f.Drop {
			refused[candidate.ID] = fmt.Sprintf("it is taken for a protected problem (tier %s)", f.Tier)
		}
	}
	return refused, nil
}

// Teachers returns, by problem id, the calls of the attempt with the highest reward in the
// train split of a corpus.
func Teachers(s *finish.Source) (map[string][]arena.Call, error) {
	rewards := map[string]float64{}
	teachers := map[string][]arena.Call{}
	err := finish.Rows(s, corpus.ProfileHFJSON, corpus.SplitTrain, func(r *rows.SFT) error {
		if best, ok := rewards[r.ProblemID]; ok && best >= r.Reward {
			return nil
		}
		messages, err := chat.Decode(r.Messages)
		if err != nil {
			return err
		}
		id := strings.Clone(r.ProblemID) // the row's texts are only valid for its batch
		rewards[id] = r.Reward
		teachers[id] = cloneCalls(messages)
		return nil
	})
	return teachers, err
}

// cloneCalls returns the tool calls in a conversation with copied names and arguments, without ids
// and results. They share no memory with the
// messages, which are only valid while their batch of rows is read.
func cloneCalls(messages []chat.Message) []arena.Call {
	var calls []arena.Call
	for _, t := range rows.MessageTurns(messages) {
		for _, c := range t.Calls {
			calls = append(calls, arena.Call{
				Name:      strings.Clone(c.Name),
				Arguments: arena.Raw(strings.Clone(string(c.Arguments))),
			})
		}
	}
	return calls
}
