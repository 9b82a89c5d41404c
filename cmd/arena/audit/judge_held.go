package audit

import (
	"fmt"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/frames"
)

// clients counts each agent's attempts by who wrote their thinking. As a build does, it counts of several
// records with the ID of one attempt the one that filters.CompareCopies puts first.
type clients map[string]evidence

// evidence is what one attempt shows about its agent's client.
type evidence struct {
	record, agent string
	origin        arena.Origin
}

func evidenceOf(t *arena.Trace, thinking *filters.Thinking) evidence {
	return evidence{t.RecordSHA256, filters.AgentOf(t.Agent, t.RunID), thinking.Origin}
}

func (c clients) add(id string, e evidence) {
	counted, ok := c[id]
	if ok && filters.CompareCopies([]byte(counted.record), counted.agent, []byte(e.record), e.agent) <= 0 {
		return
	}
	e.agent = strings.Clone(e.agent) // it may be a part of its record
	c[strings.Clone(id)] = e
}

// adding returns the agents whose clients add sentences to most attempts.
func (c clients) adding() map[string]bool {
	origins := map[string]*frames.Origins{}
	for _, e := range c {
		if origins[e.agent] == nil {
			origins[e.agent] = &frames.Origins{}
		}
		origins[e.agent].Add(e.origin)
	}
	adding := map[string]bool{}
	for agent, o := range origins {
		adding[agent] = o.AreAdding()
	}
	return adding
}

// release writes judgements in their order. It holds the first one whose grade the rest of the days may
// withhold, and all after it, until the days are read.
type release struct {
	clients clients
	write   func(*judged) error
	held    []*judged
}

func (r *release) take(j *judged) error {
	r.clients.add(j.id, j.evidence)
	if len(r.held) == 0 && j.withheld == nil {
		return r.write(j)
	}
	j.slim()
	if j.withheld != nil {
		j.withheld.slim()
	}
	r.held = append(r.held, j)
	return nil
}

// slim removes all that neither the line nor the counts need. Quotations are parts of the record, and
// would keep the whole of it in memory.
func (j *judged) slim() {
	j.id = strings.Clone(j.id)
	j.agent = strings.Clone(j.agent)
	j.StepJudgement = arena.StepJudgement{Judgement: arena.Judgement{
		Outcome: j.Outcome,
		Doubt:   j.Doubt,
		Detail:  strings.Clone(j.Detail),
	}}
}

// finish writes the judgements that are held. err is the error with which reading or judging ended, nil
// if all was read. After an error, it leaves out those whose grades the rest might withhold, and says so.
func (r *release) finish(err error) error {
	adding := r.clients.adding()
	open := 0
	for _, j := range r.held {
		switch {
		case j.withheld == nil:
		case err != nil:
			open++
			continue
		case judges.IsUndecided(j.origin, adding[j.agent]):
			j = j.withheld
		}
		if writeErr := r.write(j); writeErr != nil {
			return writeErr
		}
	}
	if open > 0 {
		return fmt.Errorf("%w; %d judged attempts have no line, since attempts that were not judged may withhold their grades", err, open)
	}
	return err
}
