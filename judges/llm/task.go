package llm

import (
	"context"
	_ "embed" // the prompts are part of the program
	"encoding/json"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
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
	Text  string
	Model string
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
	r := Reply{Outcome: v.outcome, Model: v.model, Spent: v.spent}
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
	v, held, err := f.judge.held(q)
	if held {
		r.Text = v.Explanation
	}
	return r, err
}

// task is a question of a kind of its own: what is read stands where a judgement
// has its explanation.
func (j *Judge) task(t Task) (question, error) {
	schema := asjson.Bytes(map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{t.Key},
		"properties": map[string]any{t.Key: map[string]string{"type": "string"}},
	})
	q := question{
		kind: &kind{
			prompt: prompt{sha256: t.PromptSHA256()}, schema: schema, name: t.Key, wanted: "a text under " + t.Key, each: true,
			expected: t.Expected,
			read: func(text string, _ int) (a answer, outcome arena.JudgeOutcome) {
				a.Explanation, outcome = reply.Text(text, t.Key)
				return a, outcome
			},
		},
		messages: []model.Message{{Role: "system", Content: t.System}, {Role: "user", Content: t.User}},
		bytes:    len(t.System) + len(t.User), params: j.params(0, 0), order: j.panel.order(0), verdicts: 1,
	}
	var err error
	q.ask, err = j.askOf(q)
	return q, err
}

//go:embed prompts/reasoning.tmpl
var reasoningPrompt []byte

//go:embed prompts/steps.tmpl
var stepsPrompt []byte

// kind is something that can be asked about an attempt: how it is shown, what
// reply is asked for, and how replies are read and joined.
type kind struct {
	prompt prompt
	render func(*arena.Trace, *arena.Dialogue) string
	// schema, under name, is the reply asked of servers that can be held to one.
	schema json.RawMessage
	name   string
	// wanted is what a reply must have, in words.
	wanted string
	// each reports whether a verdict is asked for each step, not one for the whole.
	each bool
	// judgeable says if an attempt left anything to ask about.
	judgeable func(*arena.Trace, *arena.Dialogue) bool
	// read reads a reply with so many verdicts.
	read func(text string, verdicts int) (answer, arena.JudgeOutcome)
	// samples joins one model's samples into a vote, votes the votes.
	samples, votes func([]verdict) verdict
	// expected is the tokens of an answer for each verdict, until one was seen.
	expected int
}

// reasoningSchema asks for the evidence first: a model that has to quote before
// it grades grades what it found.
var reasoningSchema = json.RawMessage(`{"type": "object", "additionalProperties": false,
	"required": ["evidence", "reasoning_quality", "explanation"],
	"properties": {
		"evidence": {"type": "array", "items": {"type": "object", "additionalProperties": false, "required": ["gate", "step", "quote"],
			"properties": {"gate": {"type": "integer"}, "step": {"type": "integer"}, "quote": {"type": "string"}}}},
		"reasoning_quality": {"type": "number", "enum": [0.1, 0.3, 0.5, 0.7, 0.9]},
		"explanation": {"type": "string"}}}`)

func reasoning(cfg Config) (*kind, error) {
	p, err := readPrompt(cfg.Prompt, reasoningPrompt)
	k := &kind{
		prompt: p, render: Render, schema: reasoningSchema, name: "judgement", wanted: "a score on offer",
		judgeable: Judgeable,
		samples:   byScore(lowerMode), votes: byScore(lowerMedian),
		expected: expectedAnswer,
	}
	if cfg.Aggregate == Majority {
		k.votes = k.samples
	}
	k.read = func(text string, _ int) (answer, arena.JudgeOutcome) {
		a, outcome := reply.Parse(text)
		return answer{Answer: a}, outcome
	}
	return k, err
}

// stepsSchema asks for the passage and the reason before the verdict, for the
// same cause.
var stepsSchema = json.RawMessage(`{"type": "object", "additionalProperties": false, "required": ["steps"],
	"properties": {"steps": {"type": "array", "items": {"type": "object", "additionalProperties": false,
		"required": ["step", "quote", "reason", "verdict"],
		"properties": {"step": {"type": "integer"}, "quote": {"type": "string"}, "reason": {"type": "string"},
			"verdict": {"type": "string", "enum": ["needed", "waste", "unclear"]}}}}}}`)

func stepwise(cfg Config) (*kind, error) {
	p, err := readPrompt(cfg.StepPrompt, stepsPrompt)
	return &kind{
		prompt: p, render: renderNumbered, schema: stepsSchema, name: "step_verdicts", wanted: "one verdict on each step",
		each:      true,
		judgeable: func(_ *arena.Trace, d *arena.Dialogue) bool { return HasSteps(d) },
		samples:   majority, votes: majority,
		expected: expectedVerdict,
		read: func(text string, verdicts int) (answer, arena.JudgeOutcome) {
			said, outcome := reply.ParseSteps(text, verdicts)
			return answer{steps: said}, outcome
		},
	}, err
}
