package cold

import (
	"cmp"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// verifiersResult is a line of results of verifiers or prime-rl: what was asked,
// what came of it, and the reward.
var verifiersResult = Format{
	Name: "verifiers", Writers: "verifiers and prime-rl results (prompt, completion)", Kept: "tools, reward, error",
	is: func(top object) bool {
		return messageList(Unpacked(top["completion"])) && (messageList(Unpacked(top["prompt"])) || top["prompt"].Type == gjson.String)
	},
	read: func(r *reader, top object) {
		a := r.begin("")
		a.ProblemID, a.Trial = top.id("problem_id", "example_id", "id"), top.id("rollout_id")
		a.Tools, a.Model = Tools(top.first("tools", "tool_defs", "oai_tools")), top.id("model")
		a.Declared = top.number("reward")
		if text := r.text(top["prompt"]); text != "" && !Unpacked(top["prompt"]).IsArray() {
			r.tell(User, text)
		}
		r.messages(top["prompt"])
		r.messages(top["completion"])
		r.unread(top, "prompt", "completion")
	},
}

// verifiersEpisode is a line of traces.jsonl of verifiers from 0.4 on: traces whose
// messages are a graph. The last branch is read; the others repeat its beginning.
var verifiersEpisode = Format{
	Name: "verifiers_episode", Writers: "verifiers >= 0.4 and prime-rl (traces.jsonl)", Kept: "tools, model, weighted reward, errors",
	is: func(top object) bool {
		return top["traces"].IsArray() && top["task"].IsObject() && top["env"].IsObject()
	},
	read: func(r *reader, top object) {
		r.each(top["traces"], func(v gjson.Result) { r.branch(v, top) })
	},
}

func (r *reader) branch(v gjson.Result, top object) {
	a, t := r.begin(v.Raw), fields(v)
	task := t.within("task")
	a.ProblemID = cmp.Or(task.within("data").id("id", "example_id"), task.id("key", "hash"))
	a.RunID, a.Trial = top.within("run").id("id"), t.id("id")
	a.Model, a.Tools = r.text(v.Get("agent.config.model")), Tools(t["tools"])
	reward, scored := 0.0, false
	for _, part := range t["rewards"].ForEach {
		weight := part.Get("weight")
		reward, scored = reward+float64(part.Get("score").Float()*weight.Float()), scored || part.IsObject()
	}
	if scored {
		a.Declared = &reward
	}
	var nodes []gjson.Result
	r.each(t["nodes"], func(v gjson.Result) { nodes = append(nodes, v) })
	path, others := lastBranch(nodes)
	r.lose(lostBranches, others)
	for _, at := range path {
		r.message(fields(nodes[at].Get("message")))
	}
	if failed := t["errors"].Get("@reverse.0"); failed.Exists() {
		r.fails(&arena.AttemptError{Type: r.text(failed.Get("type")), Message: r.text(failed.Get("message"))})
	}
	if t["is_timeout"].Bool() {
		a.Status = arena.StatusTimedOut
	}
}

// lastBranch is the path to the last node; others reports whether it leaves nodes
// out.
func lastBranch(nodes []gjson.Result) (path []int, others bool) {
	for at := len(nodes) - 1; at >= 0; {
		path = append(path, at)
		parent := nodes[at].Get("parent")
		before := int(parent.Int())
		if parent.Type != gjson.Number || before >= at {
			break
		}
		at = before
	}
	slices.Reverse(path)
	return path, len(path) < len(nodes)
}
