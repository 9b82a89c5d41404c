package inspectlog

import (
	"fmt"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/student/rollout"
)

// Sample is one rollout with its problem.
type Sample struct {
	Problem *arena.Problem
	Result  *rollout.Result
}

// common is what a sample and its summary have in common: sample and the types below
// are inspect_ai's EvalSample, EvalSampleSummary, and their parts.
type common struct {
	ID       string           `json:"id"`
	Epoch    int              `json:"epoch"`
	Input    string           `json:"input"`
	Target   []string         `json:"target"`
	Scores   map[string]score `json:"scores,omitempty"`
	Metadata metadata         `json:"metadata"`
	Usage    map[string]usage `json:"model_usage"`
	UUID     string           `json:"uuid"`
	Turns    int              `json:"turn_count"`
}

type sample struct {
	common
	Messages []message `json:"messages"`
	Output   output    `json:"output"`
	Error    *failure  `json:"error,omitempty"`
	Limit    *limit    `json:"limit,omitempty"`
}

// summary is what the viewer's list needs of a sample.
type summary struct {
	common
	Error    string `json:"error,omitempty"`
	Limit    string `json:"limit,omitempty"`
	Complete bool   `json:"completed"`
	Messages int    `json:"message_count"`
}

// metadata is what a result says beside its scores.
type metadata struct {
	Category string `json:"category"`
	Stop     string `json:"stop"`
	Label    string `json:"label,omitempty"`
	evaluation.Counts
	LeftOut string `json:"left_out,omitempty"`
}

type score struct {
	Value       any    `json:"value"`
	Answer      string `json:"answer,omitempty"`
	Explanation string `json:"explanation,omitempty"`
}

type failure struct {
	Message   string `json:"message"`
	Traceback string `json:"traceback"`
	ANSI      string `json:"traceback_ansi"`
}

type limit struct {
	Type  string  `json:"type"`
	Limit float64 `json:"limit"`
}

func (l *Log) sample(s Sample) sample {
	r := s.Result
	c := read(r.Trace, l.run.Model)
	doc := sample{
		common: common{
			ID: sampleID(r.ProblemID), Epoch: r.Sample + 1, Input: s.Problem.Query, Target: []string{}, Turns: r.Turns,
			Metadata: metadata{Category: string(r.Category), Stop: string(r.Stop), Counts: r.Counts},
			Usage:    map[string]usage{l.run.Model: l.spend(r.Tokens)}, UUID: uuid(l.run.ID, r),
		},
		Messages: append([]message{{Role: "system", Content: l.run.System}, {Role: "user", Content: s.Problem.Query}}, c.messages...),
		Output:   c.output,
	}
	for _, reward := range s.Problem.Rewards {
		doc.Target = append(doc.Target, reward.ProductID)
	}
	if r.Outcome == rollout.Infra {
		doc.Error = &failure{Message: strings.TrimSuffix(*r.Infra+": "+r.InfraWords, ": ")}
		return doc
	}
	doc.Metadata.Label = string(*r.Label)
	doc.Scores = scores(r)
	switch r.Stop {
	case rollout.StopMaxSteps:
		doc.Limit = &limit{"turn", float64(l.run.MaxSteps)}
	case rollout.StopOverflow:
		doc.Limit = &limit{Type: "context"}
	case rollout.StopTerminated, rollout.StopNoToolCall, rollout.StopMalformed, rollout.StopTruncated, rollout.StopInfra:
	}
	return doc
}

// leaveOut keeps of a rollout whose trace has so many bytes all but the
// conversation, and says so.
func (s *sample) leaveOut(bytes int) {
	s.Messages, s.Output = s.Messages[:2], output{Model: s.Output.Model, Choices: []choice{}}
	s.Metadata.LeftOut = fmt.Sprintf("the conversation: its trace of %d bytes is too long for this log, and stands in traces", bytes)
}

func (s *sample) summary() summary {
	out := summary{common: s.common, Complete: true, Messages: len(s.Messages)}
	if s.Error != nil {
		out.Error = s.Error.Message
	}
	if s.Limit != nil {
		out.Limit = s.Limit.Type
	}
	return out
}

// scores are the production-strict success, which the viewer shows as right or
// wrong, the parts that it is made of, and the reasoning judge's.
func scores(r *rollout.Result) map[string]score {
	success := score{Value: "I", Answer: strings.Join(r.Recommended, ", "), Explanation: string(*r.Label)}
	if *r.Success {
		success.Value = "C"
	}
	all := map[string]score{"success": success}
	if len(r.Axes) > 0 {
		all["axes"] = score{Value: r.Axes}
	}
	if r.Quality != nil {
		all["quality"] = score{Value: *r.Quality}
	}
	return all
}

// spend adds a rollout's tokens to the run's.
func (l *Log) spend(t evaluation.Tokens) usage {
	var u usage
	if t.Prompt != nil {
		u.Input = *t.Prompt
	}
	if t.Completion != nil {
		u.Output = *t.Completion
	}
	u.Total = u.Input + u.Output
	l.usage.Input += u.Input
	l.usage.Output += u.Output
	l.usage.Total += u.Total
	return u
}

// uuid names a sample of a run for good.
func uuid(run string, r *rollout.Result) string {
	const enough = 22
	return digest.SHA256(fmt.Appendf(nil, "%s\n%s\n%d", run, r.ProblemID, r.Sample))[:enough]
}

// sampleID is a problem's id as part of an entry's name: what a zip cannot hold
// is replaced, and a long one is cut behind a hash of all of it.
func sampleID(id string) string {
	const enough = 200
	id = strings.ReplaceAll(id, "\x00", "\ufffd")
	if len(id) <= enough {
		return id
	}
	return digest.SHA256([]byte(id))[:16] + "-" + strings.ToValidUTF8(id[:enough], "")
}
