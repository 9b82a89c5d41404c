// Package environment plays episodes for trainers: the shop's tools behind a session,
// and at its end a reward in named parts by the rules that eval scores by. What fails
// of the environment's own never pays 0: the sample is masked and says why.
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
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/rollout"
)

// Environment is what all episodes share.
type Environment struct {
	Problems student.Problems
	Harness  arena.Harness
	// Player answers the calls. Its template and dialect are not used: a trainer asks
	// the model itself.
	Player *rollout.Environment
	// Payer pays what was played.
	*Rewarder
	// Refused says of the problems that may not be trained on why, by their id.
	Refused map[string]string
	// Record keeps finished episodes; nil for nowhere.
	Record *Record
	Limits Limits
	// Now is the time, NewID a name for an episode that nobody guesses.
	Now   func() time.Time
	NewID func() string

	mu       sync.Mutex
	episodes map[string]*Episode
	byID     map[string]int
}

// Limits bound what trainers can ask for.
type Limits struct {
	// Episodes is how many may be under way.
	Episodes int
	// Age is how long one may take, Idle how long it may be left alone.
	Age, Idle time.Duration
	// Calls is how many calls one may make.
	Calls int
}

// DefaultLimits are those of training on one machine.
func DefaultLimits() Limits {
	return Limits{Episodes: 8192, Age: time.Hour, Idle: 20 * time.Minute, Calls: 256}
}

// The errors of beginning an episode.
var (
	ErrUnknown = errors.New("there is no such problem")
	ErrRefused = errors.New("the problem may not be trained on")
	ErrTooMany = errors.New("too many episodes are under way")
)

// Start begins an episode at a problem.
func (e *Environment) Start(problem string) (*Episode, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byID == nil {
		e.byID, e.episodes = map[string]int{}, map[string]*Episode{}
		for i, id := range e.Problems.IDs {
			e.byID[id] = i
		}
	}
	i, known := e.byID[problem]
	if !known {
		return nil, fmt.Errorf("begin an episode at %q: %w", problem, ErrUnknown)
	}
	if why, refused := e.Refused[problem]; refused {
		return nil, fmt.Errorf("begin an episode at %q: %w: %s", problem, ErrRefused, why)
	}
	now := e.Now()
	if len(e.episodes) >= e.Limits.Episodes {
		maps.DeleteFunc(e.episodes, func(_ string, ep *Episode) bool { return ep.forgettable(now) })
	}
	if len(e.episodes) >= e.Limits.Episodes {
		return nil, ErrTooMany
	}
	ep := &Episode{ID: e.NewID(), environment: e, problem: i, began: now, used: now}
	e.episodes[ep.ID] = ep
	return ep, nil
}

// Find finds an episode under way.
func (e *Environment) Find(id string) (*Episode, *Fault) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if ep, known := e.episodes[id]; known {
		return ep, nil
	}
	return nil, &Fault{FaultUnknown, "there is no such episode: it ended, was left alone for too long, or the server began anew"}
}

// injectionSeed draws what is planted in the guard to see that it finds it.
const injectionSeed = 1

// RefusedProblems finds the problems that may not be trained on, and why: those of the bank's
// protected clusters, and those in which the guard finds a protected problem. It fails
// where nothing is protected.
func RefusedProblems(known *finish.Exclusions, p student.Problems) (map[string]string, error) {
	if known.Bank == nil {
		return nil, guard.ErrEmptyBank
	}
	protection, err := finish.NewProtection(finish.ProtectedInBank(known.Bank, known.HeldOut), guard.Config{MinDrop: known.MinScore}, injectionSeed)
	if err != nil {
		return nil, err
	}
	refused := map[string]string{}
	for i := range p.All {
		q := &p.All[i]
		c := guard.Candidate{ID: p.IDs[i], Text: q.Query}
		for _, r := range q.Rewards {
			c.ProductIDs = append(c.ProductIDs, r.ProductID)
		}
		if pool := known.Bank.Pool(guard.SpecHash(*q)); pool != "" && pool != guard.PoolTrain {
			refused[c.ID] = "its cluster is " + string(pool)
		} else if f := protection.Check(corpus.SplitTrain, c); f.Drop {
			refused[c.ID] = fmt.Sprintf("it is taken for a protected problem: %s", f.Evidence)
		}
	}
	return refused, nil
}

// Teachers are the calls of the best paid attempt at each problem that the train
// split of a corpus holds, by the problem's id.
func Teachers(s *finish.Source) (map[string][]arena.Call, error) {
	paid, teachers := map[string]float64{}, map[string][]arena.Call{}
	err := finish.Rows(s, corpus.ProfileHFJSON, corpus.SplitTrain, func(r *rows.SFT) error {
		if best, known := paid[r.ProblemID]; known && best >= r.Reward {
			return nil
		}
		messages, err := chat.Decode(r.Messages)
		if err != nil {
			return err
		}
		id := strings.Clone(r.ProblemID) // a row's texts live as long as its batch
		paid[id], teachers[id] = r.Reward, nil
		for _, t := range rows.MessageTurns(messages) {
			for _, c := range t.Calls {
				teachers[id] = append(teachers[id], arena.Call{Name: strings.Clone(c.Name), Arguments: arena.Raw(strings.Clone(string(c.Arguments)))})
			}
		}
		return nil
	})
	return teachers, err
}
