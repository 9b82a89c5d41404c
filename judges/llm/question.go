package llm

import (
	"encoding/json"
	"maps"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/judges/reply"
)

// question is one question to the panel, such as one sample of a vote.
type question struct {
	*questionType
	// hash is the hex sha256 of everything that the answer depends on.
	hash     string
	messages []model.Message
	// trace is the rendered trace in the messages.
	trace string
	// bytes is the size of the messages.
	bytes  int
	params map[string]any
	// order are the members of the panel to ask.
	order []int
	// verdicts is the number of verdicts that a reply must have.
	verdicts int
}

// parseReply parses a reply to the question. An answer that is part of the trace is
// the agent's, and is not counted.
func (q *question) parseReply(text string) (answer, arena.JudgeOutcome) {
	a, outcome := q.parse(text, q.verdicts)
	if outcome != arena.JudgeScored || q.perStep {
		return a, outcome
	}
	if reply.Echoes(text, q.trace) {
		return answer{}, arena.JudgeUnparsed
	}
	a.doubt = a.Doubt(q.trace)
	return a, outcome
}

// questions returns the questions of a type about an attempt, by vote and sample.
func (j *Judge) questions(
	k *questionType,
	t *arena.Trace,
	d *arena.Dialogue,
) ([][]question, error) {
	steps := len(renderedTurns(d))
	trace := k.render(t, d)
	messages := k.prompt.messages(trace, steps)
	size := 0
	for _, m := range messages {
		size += len(m.Content)
	}
	verdicts := 1
	if k.perStep {
		verdicts = steps
	}
	votes := make([][]question, j.cfg.Votes)
	for vote := range votes {
		for sample := range j.cfg.SelfConsistency {
			q := question{
				questionType: k, messages: messages, trace: trace, bytes: size,
				params: j.params(vote, sample), order: j.panel.order(vote), verdicts: verdicts,
			}
			if err := j.setHash(&q); err != nil {
				return nil, err
			}
			votes[vote] = append(votes[vote], q)
		}
	}
	return votes, nil
}

// params returns the request's parameters for a sample of a vote. The first sample of
// a model is at temperature 0, the answer of a run with one sample. If a model is
// asked more than once, a seed and a temperature make the others differ.
func (j *Judge) params(vote, sample int) map[string]any {
	p := map[string]any{"temperature": 0, "max_tokens": j.cfg.MaxTokens}
	if sample > 0 || vote > 0 && j.panel.repeats {
		p["temperature"] = j.cfg.SampleTemperature
		p["seed"] = vote*j.cfg.SelfConsistency + sample
	}
	return p
}

func (j *Judge) setHash(q *question) error {
	// The names of the fields are part of the hash.
	type member struct {
		Model string
		Extra map[string]any
	}
	var order []member
	for _, m := range q.order {
		order = append(order, member{j.cfg.Panel[m].Model, j.cfg.endpoint(j.cfg.Panel[m]).ExtraBody})
	}
	b, err := json.Marshal([]any{q.messages, q.params, order})
	q.hash = digest.SHA256(b)
	return wrong.Wrap("hash question", err)
}

// request returns the question as a request to a member.
func (j *Judge) request(q question, member int) model.Question {
	return model.Question{
		Model: j.cfg.Panel[member].Model, Messages: q.messages, Params: maps.Clone(q.params),
		Schema: q.schema, Name: q.name, Timeout: j.cfg.RequestTimeout,
		StillWanted: func() bool { return !j.panel.isSetAside(member) },
	}
}
