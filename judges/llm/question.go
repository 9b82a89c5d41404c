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

// question is one prompt that the panel has to answer once. A vote on an attempt may consist of
// several questions with the same prompt (samples), whose answers are joined.
type question struct {
	*questionType
	// hash is the hex sha256 of everything that the answer depends on.
	hash     string
	messages []model.Message
	// trace is the rendered trace, which is a part of the messages.
	trace string
	// bytes is the size of the messages' text.
	bytes  int
	params map[string]any
	// order are the indexes of the panel members to ask, the first one first.
	order []int
	// verdicts is the number of verdicts that a reply must have: 1, or one for each step.
	verdicts int
}

// parseReply parses a model's reply to the question. A reply on reasoning counts as unparsed if its
// object is also in the trace, since the agent wrote it there and the model repeated it, or if a
// quote is missing or not in the trace, since the grade then has no evidence.
func (q *question) parseReply(text string) (answer, arena.JudgeOutcome) {
	a, outcome := q.parse(text, q.verdicts)
	if outcome != arena.JudgeScored || q.perStep {
		return a, outcome
	}
	if reply.Echoes(text, q.trace) {
		return answer{}, arena.JudgeUnparsed
	}
	if doubt := a.Doubt(q.trace); doubt != "" {
		return answer{doubt: doubt}, arena.JudgeUnparsed
	}
	return a, outcome
}

// parseExchange parses a model's reply (see parseReply). For a grade of the reasoning, it also
// reads the expected score from the completion that contains the reply: the mean of the scores that
// the model might have written, by their probabilities.
func (q *question) parseExchange(text string, completion []byte) (answer, arena.JudgeOutcome) {
	a, outcome := q.parseReply(text)
	if outcome != arena.JudgeScored || q.perStep {
		return a, outcome
	}
	if expected, ok := reply.Expected(completion); ok {
		a.expected = &expected
	}
	return a, outcome
}

// questions returns the prompts of type k about an attempt, as one list for each vote of the panel.
// A list has several samples of one prompt; the answers to them are joined into the vote.
func (j *Judge) questions(
	k *questionType,
	t *arena.Trace,
	d *arena.Dialogue,
) ([][]question, error) {
	steps := len(renderedTurns(d))
	trace := k.render(k.domain, t, d)
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

// params returns the request parameters for one sample of a vote. The first sample of a vote is at
// temperature 0, unless the vote's model gives an earlier vote too. All other samples have a seed
// of their own and SampleTemperature, so that their answers can differ.
func (j *Judge) params(vote, sample int) map[string]any {
	p := map[string]any{"temperature": 0, "max_tokens": j.cfg.MaxTokens}
	if sample > 0 || j.panel.repeats[vote] {
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

// request returns a question as a request to the model of a panel member. A request that still
// waits is withdrawn if the member is set aside (not asked again in this run).
func (j *Judge) request(q question, member int) model.Question {
	return model.Question{
		Model: j.cfg.Panel[member].Model, Messages: q.messages, Params: maps.Clone(q.params),
		Schema: q.schema, Name: q.name, Timeout: j.cfg.RequestTimeout,
		StillWanted: func() bool { return !j.panel.isSetAside(member) },
	}
}
