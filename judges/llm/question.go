package llm

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/judges/reply"
)

type question struct {
	*kind
	// ask names the question by all that its answer depends on.
	ask      string
	messages []model.Message
	// shown is the trace as it stands in the messages.
	shown  string
	bytes  int
	params map[string]any
	order  []int
	// verdicts is how many are asked for.
	verdicts int
}

// readReply reads a reply to the question. An answer that stands in the trace
// itself is the agent's, and is not counted.
func (q *question) readReply(text string) (answer, arena.JudgeOutcome) {
	a, outcome := q.read(text, q.verdicts)
	if outcome != arena.JudgeScored || q.each {
		return a, outcome
	}
	if reply.Echoes(text, q.shown) {
		return answer{}, arena.JudgeUnparsed
	}
	a.doubt = a.Doubt(q.shown)
	return a, outcome
}

func (j *Judge) questions(k *kind, t *arena.Trace, d *arena.Dialogue) ([][]question, error) {
	steps := len(shown(d))
	trace := k.render(t, d)
	messages := k.prompt.messages(trace, steps)
	size := 0
	for _, m := range messages {
		size += len(m.Content)
	}
	votes := make([][]question, j.cfg.Votes)
	for v := range votes {
		for s := range j.cfg.SelfConsistency {
			q := question{kind: k, messages: messages, shown: trace, bytes: size, order: j.panel.order(v), verdicts: 1}
			if k.each {
				q.verdicts = steps
			}
			q.params = j.params(v, s)
			ask, err := j.askOf(q)
			if err != nil {
				return nil, err
			}
			q.ask = ask
			votes[v] = append(votes[v], q)
		}
	}
	return votes, nil
}

// params are the request's parameters for a sample of a vote. A model's first is
// the answer at temperature 0, which a run with one sample has paid for; where it
// is asked more than once, a seed and a temperature make the others differ.
func (j *Judge) params(vote, sample int) map[string]any {
	p := map[string]any{"temperature": 0, "max_tokens": j.cfg.MaxTokens}
	if sample > 0 || vote > 0 && j.panel.repeats {
		p["temperature"], p["seed"] = j.cfg.SampleTemperature, vote*j.cfg.SelfConsistency+sample
	}
	return p
}

func (j *Judge) askOf(q question) (string, error) {
	type member struct {
		Model string
		Extra map[string]any
	}
	var order []member
	for _, m := range q.order {
		order = append(order, member{j.cfg.Panel[m].Model, j.cfg.endpoint(j.cfg.Panel[m]).ExtraBody})
	}
	b, err := json.Marshal([]any{q.messages, q.params, order})
	if err != nil {
		return "", fmt.Errorf("hash question: %w", err)
	}
	return digest.SHA256(b), nil
}

func (j *Judge) to(q question, member int) model.Question {
	return model.Question{
		Model: j.cfg.Panel[member].Model, Messages: q.messages, Params: maps.Clone(q.params),
		Schema: q.schema, Name: q.name, Timeout: j.cfg.RequestTimeout,
		Wanted: func() bool { return !j.panel.isAside(member) },
	}
}
