package audit

import (
	"fmt"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/frames"
)

// clients counts each agent's attempts by who wrote their thinking. Like a build, it counts no record
// twice.
type clients struct {
	origins map[string]*frames.Origins
	records map[string]bool
}

func newClients() clients {
	return clients{map[string]*frames.Origins{}, map[string]bool{}}
}

func (c *clients) add(agent, record string, origin arena.Origin) {
	if c.records[record] {
		return
	}
	c.records[record] = true
	o := c.origins[agent]
	if o == nil {
		o = &frames.Origins{}
		c.origins[strings.Clone(agent)] = o // agent may be a part of its record
	}
	o.Add(origin)
}

func (c *clients) isUndecided(agent string, origin arena.Origin) bool {
	return judges.IsUndecided(origin, c.origins[agent].AreAdding())
}

// release writes judgements in their order. It holds the first one whose grade the rest of the days may
// withhold, and all after it, until the days are read.
type release struct {
	clients clients
	write   func(*judged) error
	held    []*judged
}

func (r *release) take(j *judged) error {
	r.clients.add(j.agent, j.record, j.origin)
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
	open := 0
	for _, j := range r.held {
		switch {
		case j.withheld == nil:
		case err != nil:
			open++
			continue
		case r.clients.isUndecided(j.agent, j.origin):
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
