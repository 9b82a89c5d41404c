package filters

import (
	"cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/habits"
)

// AgentOf names the agent whose day an attempt belongs to, by the most precise
// thing that is known of it.
func AgentOf(a arena.Agent, runID string) string { return cmp.Or(a.VersionID, a.Hotkey, runID) }

// Checked is an attempt after the first pass, as the second needs it.
type Checked struct {
	// ID names the attempt; copies of one attempt share it. Record is the hash of
	// the copy's own bytes.
	ID, Record string
	// Agent is whose day the attempt belongs to, as AgentOf names it.
	Agent  string
	Sample habits.Sample
}

// before orders the copies of one attempt, whatever the order they are read in.
func (c *Checked) before(o *Checked) bool {
	return cmp.Or(cmp.Compare(c.Record, o.Record), cmp.Compare(c.Agent, o.Agent)) < 0
}

// Day is what all attempts of a day show about their agents.
type Day struct {
	// stays is, by attempt, the position of the copy that counts.
	stays  map[string]int
	agents map[string]*habits.Agent
}

// Day measures every agent's habits over all its attempts. Of the copies of one
// attempt, the one with the smallest hash of its record counts and no other, so
// that the order in which files are read changes nothing.
func (f *Filter) Day(all []*Checked) *Day {
	d := &Day{stays: map[string]int{}, agents: map[string]*habits.Agent{}}
	for i, c := range all {
		if w, known := d.stays[c.ID]; !known || c.before(all[w]) {
			d.stays[c.ID] = i
		}
	}
	samples, found := map[string][]habits.Sample{}, habits.Found{}
	for i, c := range all {
		own := samples[c.Agent] // of an agent with copies alone none
		if d.stays[c.ID] == i {
			found.Add(&c.Sample)
			own = append(own, c.Sample)
		}
		samples[c.Agent] = own
	}
	for agent, s := range samples {
		d.agents[agent] = habits.Of(s, found, f.cfg.MinAttempts)
	}
	return d
}

// Stays gives the position, among all of the day, of the copy of an attempt that counts.
func (d *Day) Stays(id string) int { return d.stays[id] }

// Adaptivity is that of every agent whose day is long enough to tell.
func (d *Day) Adaptivity() map[string]habits.Estimate {
	all := map[string]habits.Estimate{}
	for name, a := range d.agents {
		if a.Known {
			all[name] = a.Adaptivity
		}
	}
	return all
}

// Agent gives the habits of an agent.
func (d *Day) Agent(name string) *habits.Agent { return d.agents[name] }
