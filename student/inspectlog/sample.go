package inspectlog

import (
	"fmt"
	"maps"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/student/rollout"
)

type metadata struct {
	Category string `json:"category"`
	Stop     string `json:"stop"`
	Label    string `json:"label,omitempty"`
	evaluation.Counts
	LeftOut string `json:"left_out,omitempty"`
}

type usage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Total  int64 `json:"total_tokens"`
}

// sample returns a rollout in two forms of inspect_ai: as an EvalSample, and as the
// EvalSampleSummary that the list in inspect_ai's viewer shows.
func (l *Log) sample(p *arena.Problem, r *rollout.Result) (sample, summary doc) {
	about := metadata{
		Category: string(r.Category),
		Stop:     string(r.Stop),
		Counts:   r.Counts,
	}
	target := append([]string{}, slicesx.Map(p.Rewards, func(reward arena.Reward) string {
		return reward.ProductID
	})...)
	sample = doc{
		"id": sampleID(r.ProblemID), "epoch": r.Sample + 1, "input": p.Query, "target": target, "turn_count": r.Turns,
		"model_usage": doc{l.run.Model: l.spend(r.Tokens)}, "uuid": uuid(l.run.ID, r),
	}
	messages, output := read(r.Trace, l.run.Model, message{
		Role:    "system",
		Content: l.run.System,
	}, message{Role: "user", Content: p.Query})
	if n := len(r.Line); n > maxRollout {
		messages = messages[:2]
		output = silent(l.run.Model)
		about.LeftOut = fmt.Sprintf("the conversation: its trace of %d bytes is too long for this log, and is in traces", n)
	}
	if r.Outcome == rollout.Scored {
		about.Label = string(*r.Label)
		sample["scores"] = scores(r)
	}
	sample["metadata"] = about
	summary = maps.Clone(sample)
	summary["completed"] = true
	summary["message_count"] = len(messages)
	sample["messages"] = messages
	sample["output"] = output
	l.addEnding(r, sample, summary)
	return sample, summary
}

// addEnding adds the reason why a rollout did not end by itself to both JSON objects: an
// infrastructure error, the limit of steps, or a full context. For other rollouts it adds nothing.
func (l *Log) addEnding(r *rollout.Result, sample, summary doc) {
	switch {
	case r.Outcome == rollout.Infra:
		words := strings.TrimSuffix(*r.Infra+": "+r.InfraWords, ": ")
		summary["error"] = words
		sample["error"] = doc{"message": words, "traceback": "", "traceback_ansi": ""}
	case r.Stop == rollout.StopMaxSteps:
		summary["limit"] = "turn"
		sample["limit"] = doc{"type": "turn", "limit": l.run.MaxSteps}
	case r.Stop == rollout.StopOverflow:
		summary["limit"] = "context"
		sample["limit"] = doc{"type": "context", "limit": 0}
	}
}

// scores returns inspect_ai's scores of a rollout: success as C (correct) or I (incorrect), and, if
// they exist, the axes of its score and the grade of the judge of reasoning. The rollout must have
// been scored.
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
	values := doc{"success": success}
	if len(r.Axes) > 0 {
		values["axes"] = doc{"value": r.Axes}
	}
	if r.Quality != nil {
		values["quality"] = doc{"value": *r.Quality}
	}
	return values
}

func (l *Log) spend(t evaluation.Tokens) usage {
	var u usage
	if t.Prompt != nil {
		u.Input = *t.Prompt
	}
	if t.Completion != nil {
		u.Output = *t.Completion
	}
	u.Total = u.Input + u.Output
	l.usage = usage{l.usage.Input + u.Input, l.usage.Output + u.Output, l.usage.Total + u.Total}
	return u
}

func uuid(run string, r *rollout.Result) string {
	const enough = 22
	return digest.SHA256(fmt.Appendf(
		nil,
		"%s\n%s\n%d",
		run,
		r.ProblemID,
		r.Sample,
	))[:enough]
}

// sampleID returns a problem's id in a form that can be part of a zip entry's name. NUL characters
// are replaced. An id longer than 200 bytes is cut and preceded by the start of its hash.
func sampleID(id string) string {
	const enough = 200
	id = strings.ReplaceAll(id, "\x00", "\ufffd")
	if len(id) <= enough {
		return id
	}
	return digest.SHA256([]byte(id))[:16] + "-" + strings.ToValidUTF8(id[:enough], "")
}

// Run is what all samples of a log share.
type Run struct {
	// ID is the id of the run, Task the name of its task.
	ID, Task string
	Model    string
	// ProblemIDs are in order; each has Samples samples.
	ProblemIDs []string
	Samples    int
	System     string
	MaxSteps   int
	Sampling   model.Sampling
	// Spec is everything that decides the run, for people to read.
	Spec any
}

// Score is one line of the results.
type Score struct {
	Name string
	// Scored and Unscored count samples.
	Scored, Unscored int
	// Metrics are numbers about the score by name; nil is one that is not known.
	Metrics map[string]*float64
}

// start returns inspect_ai's LogStart, a JSON object with the version of the format and the
// settings of the run.
func (l *Log) start() doc {
	s := l.run.Sampling
	config := doc{}
	for name, v := range map[string]*float64{"temperature": s.Temperature, "top_p": s.TopP} {
		if v != nil {
			config[name] = *v
		}
	}
	for name, v := range map[string]*int{"top_k": s.TopK, "max_tokens": s.MaxTokens} {
		if v != nil {
			config[name] = *v
		}
	}
	ids := slicesx.Map(l.run.ProblemIDs, sampleID)
	return doc{
		"version": version,
		"eval": doc{
			"eval_id": l.run.ID, "run_id": l.run.ID, "created": noTime, "task": l.run.Task, "task_id": l.run.ID,
			"dataset": doc{
				"name":       "problems",
				"samples":    len(ids),
				"sample_ids": ids,
				"shuffled":   false,
			},
			"model": l.run.Model, "config": doc{"epochs": l.run.Samples}, "model_generate_config": config, "metadata": l.run.Spec,
		},
		"plan": doc{
			"name": "plan", "steps": []doc{{
				"solver": "arena",
				"params": doc{"max_steps": l.run.MaxSteps},
			}}, "config": config,
		},
	}
}

// header returns inspect_ai's EvalLog without the samples: the settings, results and token usage.
// results are the scores of the run.
func (l *Log) header(results []Score) doc {
	scores := make([]doc, len(results))
	for i, r := range results {
		metrics := doc{}
		for name, v := range r.Metrics {
			if v != nil {
				metrics[name] = doc{
					"name":   name,
					"value":  *v,
					"params": doc{},
				}
			}
		}
		scores[i] = doc{
			"name":             r.Name,
			"scorer":           r.Name,
			"scored_samples":   r.Scored,
			"unscored_samples": r.Unscored,
			"params":           doc{},
			"metrics":          metrics,
		}
	}
	out := l.start()
	out["status"] = "success"
	out["results"] = doc{
		"total_samples":     l.count,
		"completed_samples": l.count,
		"scores":            scores,
	}
	out["stats"] = doc{
		"started_at":   noTime,
		"completed_at": noTime,
		"model_usage":  doc{l.run.Model: l.usage},
	}
	return out
}
