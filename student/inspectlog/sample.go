package inspectlog

import (
	"fmt"
	"maps"
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

// metadata is what a result says beside its scores.
type metadata struct {
	Category string `json:"category"`
	Stop     string `json:"stop"`
	Label    string `json:"label,omitempty"`
	evaluation.Counts
	LeftOut string `json:"left_out,omitempty"`
}

// usage counts tokens.
type usage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Total  int64 `json:"total_tokens"`
}

// sample is a rollout as inspect_ai's EvalSample, and as its EvalSampleSummary, which
// is what the viewer's list needs.
func (l *Log) sample(s Sample) (whole, summary doc) {
	r := s.Result
	about := metadata{Category: string(r.Category), Stop: string(r.Stop), Counts: r.Counts}
	target := []string{}
	for _, reward := range s.Problem.Rewards {
		target = append(target, reward.ProductID)
	}
	whole = doc{
		"id": sampleID(r.ProblemID), "epoch": r.Sample + 1, "input": s.Problem.Query, "target": target, "turn_count": r.Turns,
		"model_usage": doc{l.run.Model: l.spend(r.Tokens)}, "uuid": uuid(l.run.ID, r),
	}
	messages, output := read(r.Trace, l.run.Model)
	messages = append([]doc{{"role": "system", "content": l.run.System}, {"role": "user", "content": s.Problem.Query}}, messages...)
	if n := len(r.Line); n > maxRollout {
		messages, output = messages[:2], silent(l.run.Model)
		about.LeftOut = fmt.Sprintf("the conversation: its trace of %d bytes is too long for this log, and stands in traces", n)
	}
	if r.Outcome == rollout.Scored {
		about.Label = string(*r.Label)
		whole["scores"] = scores(r)
	}
	whole["metadata"] = about
	summary = maps.Clone(whole)
	summary["completed"], summary["message_count"] = true, len(messages)
	whole["messages"], whole["output"] = messages, output
	switch {
	case r.Outcome == rollout.Infra:
		words := strings.TrimSuffix(*r.Infra+": "+r.InfraWords, ": ")
		summary["error"], whole["error"] = words, doc{"message": words, "traceback": "", "traceback_ansi": ""}
	case r.Stop == rollout.StopMaxSteps:
		summary["limit"], whole["limit"] = "turn", doc{"type": "turn", "limit": l.run.MaxSteps}
	case r.Stop == rollout.StopOverflow:
		summary["limit"], whole["limit"] = "context", doc{"type": "context", "limit": 0}
	}
	return whole, summary
}

// scores are the production-strict success, which the viewer shows as right or
// wrong, the parts that it is made of, and the reasoning judge's.
func scores(r *rollout.Result) doc {
	success := doc{"value": "I"}
	for name, text := range map[string]string{"answer": strings.Join(r.Recommended, ", "), "explanation": string(*r.Label)} {
		if text != "" {
			success[name] = text
		}
	}
	if *r.Success {
		success["value"] = "C"
	}
	all := doc{"success": success}
	if len(r.Axes) > 0 {
		all["axes"] = doc{"value": r.Axes}
	}
	if r.Quality != nil {
		all["quality"] = doc{"value": *r.Quality}
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
