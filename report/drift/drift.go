// Package drift compares a day with an earlier one: which agents are new or gone, which shares
// changed, and how much they may change.
package drift

import (
	"cmp"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Limits are the maximum changes of figures from one day to the next, each in the figure's own
// unit. A larger change needs a person's attention. The tag of a field names its figure.
type Limits struct {
	Agentic  float64 `yaml:"agentic"`
	Scripted float64 `yaml:"scripted"`
	Unknown  float64 `yaml:"unknown"`
	Solved   float64 `yaml:"solved"`
	Grade    float64 `yaml:"grade"`
	Leaks    float64 `yaml:"leaks"`
	Kept     float64 `yaml:"kept"`
}

// Defaults returns limits of 0.1 for each figure.
func Defaults() Limits { return Limits{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1} }

// Day is the set of figures of one corpus, by agent.
type Day struct {
	Name   string
	agents map[string]*agent
	judges map[string]bool
}

// agent has the figures of one agent on one day, each as a sum and a count. An agent is identified
// by its hotkey (the key of its owner on the subnet) or, if that is unknown, by its version or run.
type agent struct {
	attempts int
	figures  map[string]ratio
}

type ratio struct{ part, total float64 }

// NewDay sums up the lines of a ledger by agent.
func NewDay(name string, lines []*where.Line) *Day {
	d := &Day{
		Name:   name,
		agents: map[string]*agent{},
		judges: map[string]bool{},
	}
	for _, line := range lines {
		if line.Attempt.Stage == "read" {
			continue // unread, or a copy
		}
		who := cmp.Or(line.Attempt.AgentHotkey, line.Attempt.AgentVersion, line.Attempt.RunID)
		a := d.agents[who]
		if a == nil {
			a = &agent{figures: map[string]ratio{}}
			d.agents[who] = a
		}
		a.attempts++
		a.add(line)
		if line.Judgement != nil {
			d.judges[line.Judgement.Judge] = true
		}
	}
	return d
}

func (a *agent) add(line *where.Line) {
	count := func(name string, part, weight float64) {
		r := a.figures[name]
		a.figures[name] = ratio{r.part + float64(part*weight), r.total + weight}
	}
	countIf := func(name string, ok bool) {
		part := 0.0
		if ok {
			part = 1
		}
		count(name, part, 1)
	}
	if v := line.Verdict; v != nil {
		for _, axis := range []string{"agentic", "scripted", "unknown"} {
			countIf(axis, v.Axis == axis)
		}
	}
	if o := line.Outcome; o != nil && o.Scored {
		countIf("solved", o.Success)
	}
	if j := line.Judgement; j != nil && j.Score != nil {
		count("grade", *j.Score, j.Counts())
	}
	leaked := strings.HasPrefix(line.Attempt.Reason, "leak_")
	if leaked || line.Place != nil {
		countIf("leaks", leaked)
	}
	countIf("kept", line.Attempt.Fate == rows.FateKept)
}

// Shift is the change of one figure between two days. Unknown values are NaN.
type Shift struct {
	Name          string
	Before, After float64
	// Difference is After minus Before. Low and High are the ends of its 95 % interval, which
	// treats agents as independent.
	Difference, Low, High float64
	Limit                 float64
	// Passed reports whether the change is significant and beyond its limit: the difference
	// exceeds Limit, and its interval does not contain 0.
	Passed bool
}

// Drift is the comparison of a day with an earlier one.
type Drift struct {
	Before, After *Day
	Shifts        []Shift
	// New and Gone are the agents that are present on only one of the days, those with the most
	// attempts first. Moved are the agents whose agentic share changed significantly and beyond
	// its limit.
	New, Gone, Moved []string
}

// Between compares the day after with the earlier day before.
func Between(before, after *Day, limits Limits) *Drift {
	d := &Drift{
		Before: before,
		After:  after,
		New:    after.without(before),
		Gone:   before.without(after),
	}
	for f, limit := range reflect.ValueOf(limits).Fields() {
		d.Shifts = append(d.Shifts, shift(
			before,
			after,
			f.Tag.Get("yaml"),
			limit.Float(),
		))
	}
	d.Moved = slicesx.FilterMap(slicesx.SortedKeys(after.agents), func(who string) (string, bool) {
		was := before.agents[who]
		return who, was != nil && moved(
			was.figures["agentic"],
			after.agents[who].figures["agentic"],
			limits.Agentic,
		)
	})
	return d
}

func (d *Day) without(other *Day) []string {
	var out []string
	for who := range d.agents {
		if other.agents[who] == nil {
			out = append(out, who)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(d.agents[b].attempts, d.agents[a].attempts), strings.Compare(a, b))
	})
	return out
}

func (d *Day) rate(name string) (rate, total float64) {
	part := 0.0
	for _, who := range slicesx.SortedKeys(d.agents) {
		r := d.agents[who].figures[name]
		part, total = part+r.part, total+r.total
	}
	return part / total, total
}

// residual returns how much one agent (who) contributes to the sampling error of a figure (name), a
// rate of a day: the agent's sum minus rate times its count, divided by total, the count over all
// agents. It returns 0 for an agent without attempts on that day.
func (d *Day) residual(who, name string, rate, total float64) float64 {
	if a := d.agents[who]; a != nil {
		return (a.figures[name].part - float64(rate*a.figures[name].total)) / total
	}
	return 0
}

// shift compares one figure, such as the share of solved attempts, on two days. Attempts of one
// agent are not independent, so the standard error is that of a ratio, linearised over agents
// (Cochran 1977, section 6.4). An agent with attempts on both days counts once, with the difference
// of its residuals. Grades of different judges are not compared: their difference is NaN.
func shift(before, after *Day, name string, limit float64) Shift {
	was, wasOf := before.rate(name)
	is, isOf := after.rate(name)
	agents := maps.Clone(before.agents)
	maps.Copy(agents, after.agents)
	sum := 0.0
	n := float64(len(agents))
	for _, who := range slicesx.SortedKeys(agents) {
		e := after.residual(who, name, is, isOf) - before.residual(who, name, was, wasOf)
		sum += float64(e * e)
	}
	s := Shift{
		Name:       name,
		Before:     was,
		After:      is,
		Difference: is - was,
		Limit:      limit,
	}
	if name == "grade" && otherJudge(before, after) {
		s.Difference = math.NaN()
	}
	i := stats.T95(
		s.Difference,
		math.Sqrt(n/(n-1)*sum),
		len(agents),
	)
	s.Low, s.High = i.Low, i.High
	s.Passed = math.Abs(s.Difference) > limit && (s.Low > 0 || s.High < 0)
	return s
}

// moved reports whether a share of one agent changed by more than limit, and significantly: the
// 95 % intervals of the two days do not overlap.
func moved(was, is ratio, limit float64) bool {
	if was.total == 0 || is.total == 0 || math.Abs(is.part/is.total-was.part/was.total) <= limit {
		return false
	}
	a := stats.Wilson(int(was.part), int(was.total))
	b := stats.Wilson(int(is.part), int(is.total))
	return a.High < b.Low || b.High < a.Low
}
