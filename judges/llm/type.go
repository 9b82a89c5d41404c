package llm

import (
	_ "embed" // for the prompts
	"encoding/json"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/judges/reply"
)

// reasoningPrompt has the template of the prompt that asks for a grade of the reasoning.
//
//go:embed prompts/reasoning.tmpl
var reasoningPrompt []byte

// stepsPrompt has the template of the prompt that asks for a verdict on each step.
//
//go:embed prompts/steps.tmpl
var stepsPrompt []byte

// questionType is a type of question about an attempt: the grade of its reasoning, or a verdict on
// each step. It sets how the attempt is rendered, which form of reply is demanded, and how replies
// are parsed and several of them joined.
type questionType struct {
	prompt prompt
	// domain is that of the attempts.
	domain *domain.Domain
	render func(*domain.Domain, *arena.Trace, *arena.Dialogue) string
	// schema is the JSON schema of the reply, and name its name, for servers that enforce one.
	schema json.RawMessage
	name   string
	// requirement describes what a reply must have.
	requirement string
	// perStep is set if a reply has a verdict for each step and not one for the attempt.
	perStep bool
	// judgeable reports whether an attempt has anything to ask about.
	judgeable func(*arena.Trace, *arena.Dialogue) bool
	// parse parses a reply with that many verdicts.
	parse func(text string, verdicts int) (answer, arena.JudgeOutcome)
	// joinSamples joins the answers to the samples of one vote, joinVotes the votes.
	joinSamples, joinVotes func([]verdict) verdict
	// expectedTokens is the expected number of tokens for each verdict of an answer, until the
	// ledger has an answer.
	expectedTokens int
}

// forDomain returns the type of question about attempts of a domain that has these instructions.
func (k *questionType) forDomain(d *domain.Domain, i domain.Instructions) *questionType {
	out := *k
	out.domain = d
	out.prompt = k.prompt.withInstructions(i)
	return &out
}

// reasoningSchema is the JSON schema of a reply on reasoning. The evidence precedes the grade,
// since a model that has to quote first grades what it found.
var reasoningSchema = json.RawMessage(`{"type": "object", "additionalProperties": false,
	"required": ["evidence", "reasoning_quality", "explanation"],
	"properties": {
		"evidence": {"type": "array", "items": {"type": "object", "additionalProperties": false, "required": ["gate", "step", "quote"],
			"properties": {"gate": {"type": "integer"}, "step": {"type": "integer"}, "quote": {"type": "string"}}}},
		"reasoning_quality": {"type": "number", "enum": [0.1, 0.3, 0.5, 0.7, 0.9]},
		"explanation": {"type": "string"}}}`)

// newReasoningType returns the type of question that asks a model to grade the reasoning of an
// attempt.
func newReasoningType(cfg Config) (*questionType, error) {
	p, err := readPrompt(cfg.Prompt, reasoningPrompt)
	k := &questionType{
		prompt:         p,
		render:         renderGrounded,
		schema:         reasoningSchema,
		name:           "judgement",
		requirement:    "a score on offer",
		judgeable:      Judgeable,
		joinSamples:    byScore(lowerMode),
		joinVotes:      byScore(lowerMedian),
		expectedTokens: expectedAnswer,
		parse: func(text string, _ int) (answer, arena.JudgeOutcome) {
			a, outcome := reply.Parse(text)
			return answer{Answer: a}, outcome
		},
	}
	if cfg.Aggregate == Majority {
		k.joinVotes = k.joinSamples
	}
	return k, err
}

// stepsSchema is the JSON schema of a reply on steps. Quote and reason precede the verdict, so that
// the verdict rests on what the model found.
var stepsSchema = json.RawMessage(`{"type": "object", "additionalProperties": false, "required": ["steps"],
	"properties": {"steps": {"type": "array", "items": {"type": "object", "additionalProperties": false,
		"required": ["step", "quote", "reason", "verdict"],
		"properties": {"step": {"type": "integer"}, "quote": {"type": "string"}, "reason": {"type": "string"},
			"verdict": {"type": "string", "enum": ["needed", "waste", "unclear"]}}}}}}`)

// newStepsType returns the type of question that asks a model for a verdict on each step of an
// attempt.
func newStepsType(cfg Config) (*questionType, error) {
	p, err := readPrompt(cfg.StepPrompt, stepsPrompt)
	k := &questionType{
		prompt:      p,
		render:      renderNumbered,
		schema:      stepsSchema,
		name:        "step_verdicts",
		requirement: "one verdict on each step",
		perStep:     true,
		judgeable: func(_ *arena.Trace, d *arena.Dialogue) bool {
			return HasSteps(d)
		},
		joinSamples:    majority,
		joinVotes:      majority,
		expectedTokens: expectedVerdict,
		parse: func(text string, verdicts int) (answer, arena.JudgeOutcome) {
			steps, outcome := reply.ParseSteps(text, verdicts)
			return answer{steps: steps}, outcome
		},
	}
	return k, err
}
