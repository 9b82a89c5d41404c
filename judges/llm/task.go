package llm

import (
	"context"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/reply"
)

// Task is a question to the panel other than a judgement. The reply is a JSON object
// with one text under Key.
type Task struct {
	// System is the instructions. The ledger identifies them by their hash.
	System, User string
	// Key is the field that a reply must have, a string.
	Key string
	// Expected is the length of a reply in tokens until the ledger has one. StandIn is
	// the reply of a forecast, which sends no request.
	Expected int
	StandIn  string
}

// PromptSHA256 returns the hash of the instructions.
func (t *Task) PromptSHA256() string { return digest.SHA256([]byte(t.System)) }

// Reply is the result of a task.
type Reply struct {
	Outcome arena.JudgeOutcome
	// Text is the value of the task's key; empty unless Outcome is scored.
	Text  string
	Model string
	// Spent is the cost of the reply, also if it is from the ledger.
	ledger.Spent
}

// Do sends one task to the panel at temperature 0, with the ledger, the budget, the
// tries and the errors of Judge.
func (j *Judge) Do(ctx context.Context, t Task) (Reply, error) {
	q, err := j.taskQuestion(t)
	if err != nil {
		return Reply{}, err
	}
	ctx, cancel := j.withDeadlines(ctx)
	defer cancel()
	v, err := j.answer(ctx, q, nil)
	r := Reply{
		Outcome: v.outcome,
		Model:   v.model,
		Spent:   v.cost,
	}
	if v.outcome == arena.JudgeScored {
		r.Text = v.Explanation
	}
	return r, err
}

// Do adds the expected cost of a task, and returns the reply of the ledger or the
// task's StandIn.
func (f *Forecast) Do(_ context.Context, t Task) (Reply, error) {
	q, err := f.judge.taskQuestion(t)
	if err != nil {
		return Reply{}, err
	}
	if err = f.add(q); err != nil {
		return Reply{}, err
	}
	r := Reply{
		Outcome: arena.JudgeScored,
		Text:    t.StandIn,
		Spent:   ledger.Free(),
	}
	v, ok, err := f.judge.fromLedger(q)
	if ok {
		r.Text = v.Explanation
	}
	return r, err
}

// taskQuestion returns a task (a prompt that asks for a text and not for a judgement) as a question
// for the panel. The reply's text becomes the Explanation of the answer.
func (j *Judge) taskQuestion(t Task) (question, error) {
	schema := asjson.Bytes(map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{t.Key},
		"properties": map[string]any{t.Key: map[string]string{"type": "string"}},
	})
	k := &questionType{
		prompt:         prompt{sha256: t.PromptSHA256()},
		schema:         schema,
		name:           t.Key,
		requirement:    "a text under " + t.Key,
		perStep:        true,
		expectedTokens: t.Expected,
		parse: func(text string, _ int) (answer, arena.JudgeOutcome) {
			value, outcome := reply.Text(text, t.Key)
			var a answer
			a.Explanation = value
			return a, outcome
		},
	}
	q := question{
		questionType: k,
		messages: []model.Message{
			{Role: "system", Content: t.System},
			{Role: "user", Content: t.User},
		},
		bytes:    len(t.System) + len(t.User),
		params:   j.params(0, 0),
		order:    j.panel.order(0),
		verdicts: 1,
	}
	err := j.setHash(&q)
	return q, err
}
