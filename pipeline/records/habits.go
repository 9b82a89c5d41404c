package records

import (
	"context"
	"iter"

	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
)

// sampled is what is read of an attempt to find the habits of its agent.
type sampled struct {
	Position
	packed []byte
}

// samples returns an iterator over samples, each of which is valid until the next one.
func samples(list []sampled) iter.Seq[*habits.Sample] {
	return func(yield func(*habits.Sample) bool) {
		x := &habits.Sample{}
		for i := range list {
			habits.NewUnpacker(list[i].packed).Sample(x)
			if !yield(x) {
				return
			}
		}
	}
}

// addHabits writes the habits of the agents in one partition (what is typical of an agent over all its
// attempts), which agents have cited passages (the texts on which the judge's grades rest) that
// follow one template, and the odds of their attempts: the evidence on whether a model made the
// calls. Copies of attempts do not count; an agent that has only copies has habits without samples.
func (c *Comparison) addHabits(_ context.Context, part int, out *shuffle.Store) error {
	var passages []frames.Passage
	marks := map[Position]frames.Marks{}
	err := c.Each(markStream, part, func(u *habits.Unpacker) {
		pos := UnpackPosition(u)
		marks[pos] = marks[pos].Or(frames.Marks{IsShared: u.Flag(), IsCopied: u.Flag()})
	})
	if err != nil {
		return err
	}
	all := map[string][]sampled{}
	counted := map[string][]sampled{}
	err = c.Each(sampleStream, part, func(u *habits.Unpacker) {
		pos := UnpackPosition(u)
		p := unpackPassage(u)
		p.Marks = marks[pos]
		x := sampled{pos, u.Packed()}
		all[p.Agent] = append(all[p.Agent], x)
		if c.CopyOf(pos) != Original {
			return
		}
		counted[p.Agent] = append(counted[p.Agent], x)
		passages = append(passages, p)
	})
	for _, name := range slicesx.SortedKeys(all) {
		agent := c.Filter.Agent(name, samples(counted[name]), c.index)
		c.addAgent(part, name, agent, all[name], out)
	}
	for _, f := range frames.Flags(passages) {
		out.Add(flagStream, part, func(b []byte) []byte {
			return habits.AppendText(b, asjson.Bytes(f))
		})
	}
	return err
}

// addAgent writes the habits of an agent, and the odds of its attempts, which are list.
func (c *Comparison) addAgent(part int, name string, agent *habits.Agent, list []sampled, out *shuffle.Store) {
	packed := asjson.Bytes(agent)
	digest := finish.Digest([]byte(name), packed)
	out.Add(agentStream, part, func(b []byte) []byte {
		return habits.AppendText(habits.AppendText(b, name), packed)
	})
	hashed := map[int]bool{} // inputs
	i := 0
	for s := range samples(list) {
		pos := list[i].Position
		if !hashed[pos.Input] {
			hashed[pos.Input] = true
			out.Add(habitStream, c.Partition(pos), func(b []byte) []byte {
				return habits.AppendText(AppendInts(b, pos.Input), digest)
			})
		}
		out.Add(oddsStream, c.Partition(pos), func(b []byte) []byte {
			return agent.Odds(s).Append(pos.Append(b))
		})
		i++
	}
}

// loadHabits reads the habits of all agents, and which of them are flagged for their thinking.
func (c *Comparison) loadHabits() error {
	err := c.All(agentStream, func(u *habits.Unpacker) {
		name := u.Text()
		agent := &habits.Agent{}
		u.JSON(agent)
		c.Agents[name] = agent
	})
	if err != nil {
		return err
	}
	err = c.All(flagStream, func(u *habits.Unpacker) {
		var f frames.Flag
		u.JSON(&f)
		c.Flags = append(c.Flags, f)
	})
	slicesx.SortByKey(c.Flags, func(f frames.Flag) string { return f.Agent })
	return err
}

// Odds returns the filter's evidence on who made the calls of each attempt (a model or a program), from
// all attempts of its agent, for the inputs in a partition, by input and entry.
func (c *Comparison) Odds(part int) (odds map[int][]habits.Odds, err error) {
	odds = map[int][]habits.Odds{}
	err = c.Each(oddsStream, part, func(u *habits.Unpacker) {
		pos := UnpackPosition(u)
		odds[pos.Input] = slicesx.Extended(odds[pos.Input], pos.Entry)
		odds[pos.Input][pos.Entry] = u.Odds()
	})
	return odds, err
}

// Digests returns the hashes of the habits of the agents of each input in a partition.
func (c *Comparison) Digests(part int) (digests map[int][]string, err error) {
	digests = map[int][]string{}
	err = c.Each(habitStream, part, func(u *habits.Unpacker) {
		i := u.Int()
		digests[i] = append(digests[i], u.Text())
	})
	return digests, err
}
