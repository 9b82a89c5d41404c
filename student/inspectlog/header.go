package inspectlog

import (
	"github.com/trajectory-arena/arena/internal/model"
)

// Run is what all samples of a log share.
type Run struct {
	// ID names the run and Task what is played in it.
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

// start is inspect_ai's LogStart.
func (l *Log) start() doc {
	s, config := l.run.Sampling, doc{}
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
	ids := make([]string, len(l.run.ProblemIDs))
	for i, id := range l.run.ProblemIDs {
		ids[i] = sampleID(id)
	}
	return doc{
		"version": version,
		"eval": doc{
			"eval_id": l.run.ID, "run_id": l.run.ID, "created": noTime, "task": l.run.Task, "task_id": l.run.ID,
			"dataset": doc{"name": "problems", "samples": len(ids), "sample_ids": ids, "shuffled": false},
			"model":   l.run.Model, "config": doc{"epochs": l.run.Samples}, "model_generate_config": config, "metadata": l.run.Spec,
		},
		"plan": doc{
			"name": "plan", "steps": []doc{{"solver": "arena", "params": doc{"max_steps": l.run.MaxSteps}}}, "config": config,
		},
	}
}

// header is inspect_ai's EvalLog without its samples.
func (l *Log) header(results []Score) doc {
	scores := make([]doc, len(results))
	for i, r := range results {
		metrics := doc{}
		for name, v := range r.Metrics {
			if v != nil {
				metrics[name] = doc{"name": name, "value": *v, "params": doc{}}
			}
		}
		scores[i] = doc{"name": r.Name, "scorer": r.Name, "scored_samples": r.Scored, "unscored_samples": r.Unscored, "params": doc{}, "metrics": metrics}
	}
	out := l.start()
	out["status"] = "success"
	out["results"] = doc{"total_samples": l.count, "completed_samples": l.count, "scores": scores}
	out["stats"] = doc{"started_at": noTime, "completed_at": noTime, "model_usage": doc{l.run.Model: l.usage}}
	return out
}
