package cold

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// inspectLog is a log of inspect_ai: one document with all samples, or one sample
// of a log that is a zip, beside the log's own spec.
var inspectLog = Format{
	Name: "inspect", Writers: "inspect_ai logs (.eval, .json)", Kept: "tools, model, the first score as reward, error or limit, seconds",
	is: func(top object) bool {
		_, samples := top["samples"]
		return top["eval"].IsObject() && (samples || top["status"].Type == gjson.String)
	},
	read: func(r *reader, top object) {
		spec := top.within("eval")
		r.each(top["samples"], func(v gjson.Result) { r.sample(v, spec) })
	},
}

func (r *reader) sample(v gjson.Result, spec object) {
	a, s := r.begin(v.Raw), fields(v)
	own := s.within("metadata") // what convert writes there
	a.Model = cmp.Or(s.within("output").id("model"), spec.id("model"))
	set(&a.Seconds, s.number("total_time"))
	if a.Model == "none/none" { // its word for no model
		a.Model = ""
	}
	a.RunID, a.ProblemID = own.id("eval_run_id"), cmp.Or(own.id("problem_id"), s.id("id"))
	if a.RunID == "" {
		a.RunID, a.Trial = spec.id("run_id", "eval_id"), s.id("epoch")
	}
	a.Tools = Tools(own["tools"])
	for _, e := range s["events"].ForEach { // of the last call of the model that had some
		if e.Get("event").Str == "model" {
			a.Tools = cmp.Or(Tools(e.Get("tools")), a.Tools)
		}
	}
	kept := s.within("attachments")
	r.each(s["messages"], func(v gjson.Result) {
		m := fields(v)
		if held, ok := kept[strings.TrimPrefix(m["content"].Str, "attachment://")]; ok && strings.HasPrefix(m["content"].Str, "attachment://") {
			m["content"] = held
		}
		r.message(m)
	})
	r.sampleScores(s.within("scores"), s["scores"])
	if failed := s.within("error"); len(failed) > 0 {
		r.fails(&arena.AttemptError{Message: r.text(failed["message"])})
	}
	if limit := r.text(s.within("limit")["type"]); limit != "" {
		r.fails(&arena.AttemptError{Type: "limit_" + limit})
		if limit == "time" || limit == "working" {
			a.Status = arena.StatusTimedOut
		}
	}
}

// sampleScores takes the first score as the reward, by inspect_ai's own values of
// its letters.
func (r *reader) sampleScores(scores object, list gjson.Result) {
	r.lose(lostScores, len(scores) > 1)
	var first gjson.Result
	list.ForEach(func(_, score gjson.Result) bool {
		first = score.Get("value")
		return false
	})
	letters := map[string]float64{"C": 1, "P": 0.5, "I": 0, "N": 0}
	if n, ok := letters[first.Str]; ok && first.Type == gjson.String {
		r.attempt().Declared = &n
		return
	}
	r.attempt().Declared = object{"": first}.number("")
	r.lose(lostScore, first.Exists() && r.attempt().Declared == nil)
}

// InspectSample is one sample of a log that is a zip as a document: the spec is
// what the log's head holds of it.
func InspectSample(head, sample []byte) []byte {
	spec := cmp.Or(gjson.GetBytes(head, "eval").Raw, "{}")
	return slices.Concat([]byte(`{"eval":`), []byte(spec), []byte(`,"samples":[`), sample, []byte("]}"))
}
