package llm

import (
	_ "embed" // the prompts are part of the program
	"encoding/json"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/reply"
)

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
	// expected is the tokens of an answer with so many verdicts, until one was
	// seen.
	expected func(verdicts int) int
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
		expected: func(int) int { return expectedAnswer },
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
		expected: func(verdicts int) int { return verdicts * expectedVerdict },
		read: func(text string, verdicts int) (answer, arena.JudgeOutcome) {
			said, outcome := reply.ParseSteps(text, verdicts)
			return answer{steps: said}, outcome
		},
	}, err
}
