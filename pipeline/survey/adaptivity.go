package survey

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// minAgents is the minimum number of agents of each kind, models and programs, for which adaptivity
// is measured. With fewer, a single agent would change the result too much.
const minAgents = 4

// agents are the attempts by which adaptivity is measured.
type agents struct {
	filter   *filters.Filter
	attempts []*filters.Checked
}

func newAgents(d *domain.Domain) (*agents, error) {
	base, err := filters.New(filters.Defaults())
	if err != nil {
		return nil, err
	}
	return &agents{filter: base.For(d, true, true)}, nil
}

func (a *agents) add(t *arena.Trace, d *arena.Dialogue) {
	_, sample := a.filter.Check(t, d)
	a.attempts = append(a.attempts, &filters.Checked{
		ID:     t.ID,
		Record: t.RecordSHA256,
		Agent:  filters.AgentOf(t.Agent, t.RunID),
		Sample: sample,
	})
}

// matches reports whether a name of an agent matches a pattern of path.Match.
func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// adaptivity returns how well the adaptivity of agents distinguishes models from programs (AUC). An
// agent is a program if its name matches a pattern of programs. If there are too few agents of one
// kind, the result has a reason instead.
func (a *agents) adaptivity(formula string, programs []string) Result {
	out := Result{Instrument: domain.Adaptivity}
	var measured []stats.Graded
	attempts := 0
	numbers := map[bool]int{} // by whether the agents are models
	days := a.filter.Day(a.attempts).Agents
	names := slicesx.SortedKeys(days)
	isProgram := func(name string) bool {
		return slices.ContainsFunc(programs, func(pattern string) bool { return matches(pattern, name) })
	}
	for _, pattern := range programs {
		if !slices.ContainsFunc(names, func(name string) bool { return matches(pattern, name) }) {
			out.Why = fmt.Sprintf("no agent's name matches %s; the agents are %s", pattern, someNames(names))
			return out
		}
	}
	for _, name := range names {
		e := days[name].AdaptivityBy(formula)
		if e == nil {
			continue
		}
		isModel := !isProgram(name)
		measured = append(measured, stats.Graded{Cluster: name, Grade: e.Point, Solved: isModel})
		attempts += days[name].Attempts
		numbers[isModel]++
	}
	kinds := fmt.Sprintf("%d models and %d programs", numbers[true], numbers[false])
	if min(numbers[true], numbers[false]) < minAgents {
		out.Why = fmt.Sprintf("%s have enough attempts: at least %d of each are needed", kinds, minAgents)
		return out
	}
	auc, interval := stats.AUC(measured)
	out.Measurement = &domain.Measurement{
		Version: formula,
		Figure:  "auc",
		Value:   auc,
		Low:     interval.Low,
		High:    interval.High,
		N:       attempts,
		On:      kinds + ", ",
	}
	return out
}

// someNames returns the first few names as text.
func someNames(names []string) string {
	const shown = 5
	text := strings.Join(names[:min(len(names), shown)], ", ")
	if len(names) > shown {
		text += fmt.Sprintf(" and %d others", len(names)-shown)
	}
	return text
}
