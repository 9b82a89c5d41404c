package formats

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// inspectLog is the format of inspect_ai's logs: one document with all samples, or one sample of
// a zipped log together with the log's description of the evaluation ("eval").
var inspectLog = Format{
	Name:     "inspect",
	Writers:  "inspect_ai logs (.eval, .json)",
	Retained: "tools, model, the first score as reward, error or limit, seconds",
	matches: func(doc object) bool {
		_, hasSamples := doc["samples"]
		return doc["eval"].IsObject() && (hasSamples || doc["status"].Type == gjson.String)
	},
	read: func(r *reader, doc object) {
		spec := doc.object("eval")
		r.each(doc["samples"], func(v gjson.Result) {
			r.readSample(v, spec)
		})
	},
}

// noModel is the model name in inspect_ai's log of an evaluation without a model.
const noModel = "none/none"

func (r *reader) readSample(v gjson.Result, spec object) {
	a := r.begin(v.Raw)
	sample := members(v)
	a.Model = sample.object("output").id("model")
	if a.Model == "" {
		a.Model = spec.id("model")
	}
	if a.Model == noModel {
		a.Model = ""
	}
	setIfPresent(&a.Seconds, sample.number("total_time"))

	metadata := sample.object("metadata") // as package convert writes it
	a.RunID = metadata.id("eval_run_id")
	a.ProblemID = metadata.id("problem_id")
	if a.ProblemID == "" {
		a.ProblemID = sample.id("id")
	}
	if a.RunID == "" {
		a.RunID = spec.id("run_id", "eval_id")
		a.Trial = sample.id("epoch")
	}
	a.Tools = sampleTools(sample, metadata)

	r.readSampleMessages(sample)
	r.readSampleScores(sample["scores"])
	if failure := sample.object("error"); len(failure) > 0 {
		r.setError(&arena.AttemptError{Message: r.text(failure["message"])})
	}
	if limit := r.text(sample.object("limit")["type"]); limit != "" {
		r.setError(&arena.AttemptError{Type: "limit_" + limit})
		if limit == "time" || limit == "working" {
			a.Status = arena.StatusTimedOut
		}
	}
}

// sampleTools returns the tool definitions of the last model call that has any, or else those in
// the metadata of the sample.
func sampleTools(sample, metadata object) arena.Raw {
	tools := toolDefinitions(metadata["tools"])
	for _, event := range sample["events"].ForEach {
		if event.Get("event").Str == "model" {
			tools = cmp.Or(toolDefinitions(event.Get("tools")), tools)
		}
	}
	return tools
}

// readSampleMessages reads the messages of a sample. If the content of a message is the name of
// an attachment, it reads the attachment instead.
func (r *reader) readSampleMessages(sample object) {
	attachments := sample.object("attachments")
	r.each(sample["messages"], func(v gjson.Result) {
		m := members(v)
		if name, ok := strings.CutPrefix(m["content"].Str, "attachment://"); ok {
			if attachment, ok := attachments[name]; ok {
				m["content"] = attachment
			}
		}
		r.readMessage(m)
	})
}

// letterScores maps inspect_ai's letter grades (C is correct, P partial, I incorrect, N no
// answer) to their values.
var letterScores = map[string]float64{"C": 1, "P": 0.5, "I": 0, "N": 0}

// readSampleScores sets the declared reward of the attempt to the first score, which is a number
// or a letter grade. It records other scores as a loss.
func (r *reader) readSampleScores(scores gjson.Result) {
	if len(members(unpack(scores))) > 1 {
		r.addLoss(lostScores)
	}
	var first gjson.Result
	scores.ForEach(func(_, score gjson.Result) bool {
		first = score.Get("value")
		return false
	})
	a := r.attempt()
	if score, ok := letterScores[first.Str]; ok && first.Type == gjson.String {
		a.Declared = &score
		return
	}
	a.Declared = object{"score": first}.number("score")
	if first.Exists() && a.Declared == nil {
		r.addLoss(lostScore)
	}
}

// InspectSample returns a sample of a zipped log of inspect_ai as a document, with the log's
// description of the evaluation ("eval"), which is in the header.
func InspectSample(header, sample []byte) []byte {
	spec := cmp.Or(gjson.GetBytes(header, "eval").Raw, "{}")
	return slices.Concat(
		[]byte(`{"eval":`),
		[]byte(spec),
		[]byte(`,"samples":[`),
		sample,
		[]byte("]}"),
	)
}
