package llm

import (
	"context"
	"encoding/json"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/reply"
)

// Task is one thing to ask the panel that is no judgement: a JSON object with one
// text under Key.
type Task struct {
	// System is the instructions, whose hash names them in the ledger.
	System, User string
	// Key is the field that a reply must have, a string.
	Key string
	// Expected is how many tokens a reply has until one was seen, and StandIn what
	// a forecast takes for the reply that it did not ask for.
	Expected int
	StandIn  string
}

// PromptSHA256 names the instructions.
func (t *Task) PromptSHA256() string { return digest.SHA256([]byte(t.System)) }

// Reply is what came of a task.
type Reply struct {
	Outcome arena.JudgeOutcome
	// Text is what stands under the task's key; empty unless Outcome is scored.
	Text   string
	Model  string
	Detail string
	// Spent is what it cost whenever it was asked: that of a reply that the ledger
	// holds, too.
	ledger.Spent
}

// Do asks the panel one task at temperature 0, with the ledger, the budget, the
// tries and the errors of Judge.
func (j *Judge) Do(ctx context.Context, t Task) (Reply, error) {
	q, err := j.task(t)
	if err != nil {
		return Reply{}, err
	}
	ctx, end := j.bounded(ctx)
	defer end()
	v, err := j.answer(ctx, q, nil)
	r := Reply{Outcome: v.outcome, Model: v.model, Detail: v.detail, Spent: v.spent}
	if v.outcome == arena.JudgeScored {
		r.Text = v.Explanation
	}
	return r, err
}

// Do adds what a task would cost, and gives the reply that the ledger holds or
// the task's stand-in.
func (f *Forecast) Do(_ context.Context, t Task) (Reply, error) {
	q, err := f.judge.task(t)
	if err != nil {
		return Reply{}, err
	}
	if err = f.add(q); err != nil {
		return Reply{}, err
	}
	r := Reply{Outcome: arena.JudgeScored, Text: t.StandIn, Spent: ledger.Free()}
	if v, held, err := f.judge.held(q); held || err != nil {
		r.Text = v.Explanation
		return r, err
	}
	return r, nil
}

// task is a question of a kind of its own: what is read stands where a judgement
// has its explanation.
func (j *Judge) task(t Task) (question, error) {
	schema, err := json.Marshal(map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{t.Key},
		"properties": map[string]any{t.Key: map[string]string{"type": "string"}},
	})
	if err != nil {
		return question{}, err
	}
	q := question{
		kind: &kind{
			prompt: prompt{sha256: t.PromptSHA256()}, schema: schema, name: t.Key, wanted: "a text under " + t.Key, each: true,
			expected: func(int) int { return t.Expected },
			read: func(text string, _ int) (a answer, outcome arena.JudgeOutcome) {
				a.Explanation, outcome = reply.Text(text, t.Key)
				return a, outcome
			},
		},
		messages: []model.Message{{Role: "system", Content: t.System}, {Role: "user", Content: t.User}},
		bytes:    len(t.System) + len(t.User), params: j.params(0, 0), order: j.panel.order(0), verdicts: 1,
	}
	q.ask, err = j.askOf(q)
	return q, err
}
