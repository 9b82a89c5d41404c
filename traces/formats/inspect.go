package formats

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
)

// inspectLog is the format of inspect_ai's logs: one document with all samples, or one sample of
// a zipped log together with the log's description of the evaluation ("eval").
var inspectLog = Format{
	Name:     "inspect",
	Writers:  "inspect_ai logs (.eval, .json)",
	Retained: "tools, model, the first score as reward, error or limit, seconds",
	matches: func(doc *value) bool {
		hasSamples := doc.has("samples")
		return doc.get("eval").isObject() && (hasSamples || doc.get("status").isString())
	},
	read: func(r *reader, doc *value) {
		spec := doc.object("eval")
		r.eachObject(doc.get("samples"), func(v *value) {
			r.readSample(v, spec)
		})
	},
}

// noModel is the model name that inspect_ai's log has for an evaluation without a model.
const noModel = "none/none"

func (r *reader) readSample(sample, spec *value) {
	a := r.begin(sample.json.Raw, sample)
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
	r.readSampleScores(sample.get("scores"))
	if failure := sample.object("error"); !failure.isEmpty() {
		r.setError(&arena.AttemptError{Message: r.textOf(failure, "message")})
	}
	if limit := r.textOf(sample.object("limit"), "type"); limit != "" {
		r.setError(&arena.AttemptError{Type: "limit_" + limit})
		if limit == "time" || limit == "working" {
			a.Status = arena.StatusTimedOut
		}
	}
}

// sampleTools returns the tool definitions of the last model call that has any, or else those in
// the metadata of the sample.
func sampleTools(sample, metadata *value) arena.Raw {
	tools := toolDefinitions(metadata.get("tools"))
	for event := range sample.get("events").elements() {
		if event.string("event") == "model" {
			tools = cmp.Or(toolDefinitions(event.get("tools")), tools)
		}
	}
	return tools
}

// readSampleMessages reads the messages of a sample. If the content of a message is the name of
// an attachment, it reads the attachment instead.
func (r *reader) readSampleMessages(sample *value) {
	attachments := sample.object("attachments")
	r.each(sample.get("messages"), func(m *value) {
		body := m.get("content")
		if name, ok := strings.CutPrefix(body.json.Str, "attachment://"); ok {
			if attachment := attachments.get(name); attachment.exists() {
				body.replaceBy(attachment)
			}
		}
		r.readMessage(m)
	})
}

// letterScores maps inspect_ai's letter grades (C is correct, P partial, I incorrect, N no
// answer) to their values.
var letterScores = map[string]float64{"C": 1, "P": 0.5, "I": 0, "N": 0}

// readSampleScores sets the declared reward of the attempt to the value of the first score in an
// object of scores by name: a number or a letter grade. If the value is neither, the reward is nil
// and a loss is recorded. Other scores are recorded as a loss.
func (r *reader) readSampleScores(scores *value) {
	first := &value{}
	if all := scores.unpack().open(); len(all) > 0 {
		first = all[0].get("value")
		for _, other := range all[1:] {
			r.addLoss(lostScores)
			other.raw()
		}
	}
	a := r.attempt()
	if score, ok := letterScores[first.str()]; ok {
		a.Declared = &score
		return
	}
	a.Declared = first.float()
	if first.exists() && a.Declared == nil {
		r.addLoss(lostScore)
		first.raw()
	}
}

// InspectSample returns a sample of a zipped log of inspect_ai as a document, with what the header says
// about the log.
func InspectSample(header, sample []byte) []byte {
	fields, isObject := bytes.CutSuffix(bytes.TrimSpace(header), []byte("}"))
	if !isObject {
		fields = []byte(`{"eval":{}`)
	}
	return slices.Concat(fields, []byte(`,"samples":[`), sample, []byte("]}"))
}
