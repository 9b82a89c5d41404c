package formats

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// verifiersResult is the format of a result line of verifiers or prime-rl: an object with
// prompt, completion and reward.
var verifiersResult = Format{
	Name:     "verifiers",
	Writers:  "verifiers and prime-rl results (prompt, completion)",
	Retained: "tools, reward, error",
	matches: func(doc object) bool {
		hasPrompt := doc["prompt"].Type == gjson.String || isMessageList(unpack(doc["prompt"]))
		return hasPrompt && isMessageList(unpack(doc["completion"]))
	},
	read: readVerifiersResult,
}

func readVerifiersResult(r *reader, doc object) {
	a := r.begin("")
	a.ProblemID = doc.id("problem_id", "example_id", "id")
	a.Trial = doc.id("rollout_id")
	a.Tools = toolDefinitions(doc.first("tools", "tool_defs", "oai_tools"))
	a.Model = doc.id("model")
	a.Declared = doc.number("reward")
	if text := r.text(doc["prompt"]); text != "" && !unpack(doc["prompt"]).IsArray() {
		r.addText(userRole, text)
	}
	r.readMessages(doc["prompt"])
	r.readMessages(doc["completion"])
	r.addUnreadKeys(doc, "prompt", "completion", "reward", "tools", "error")
}

// verifiersEpisode is the format of a line in traces.jsonl of verifiers 0.4 and later. The
// messages of a trace are a tree. Only the branch of the last message is read; the other
// branches repeat its start.
var verifiersEpisode = Format{
	Name:     "verifiers_episode",
	Writers:  "verifiers >= 0.4 and prime-rl (traces.jsonl)",
	Retained: "tools, model, weighted reward, errors",
	matches: func(doc object) bool {
		return doc["traces"].IsArray() && doc["task"].IsObject() && doc["env"].IsObject()
	},
	read: func(r *reader, doc object) {
		r.each(doc["traces"], func(v gjson.Result) {
			r.readVerifiersTrace(v, doc)
		})
	},
}

func (r *reader) readVerifiersTrace(v gjson.Result, doc object) {
	a := r.begin(v.Raw)
	trace := members(v)
	task := trace.object("task")
	a.ProblemID = task.object("data").id("id", "example_id")
	if a.ProblemID == "" {
		a.ProblemID = task.id("key", "hash")
	}
	a.RunID = doc.object("run").id("id")
	a.Trial = trace.id("id")
	a.Model = r.text(v.Get("agent.config.model"))
	a.Tools = toolDefinitions(trace["tools"])
	a.Declared = weightedReward(trace["rewards"])

	var nodes []gjson.Result
	r.each(trace["nodes"], func(v gjson.Result) {
		nodes = append(nodes, v)
	})
	path := lastBranch(nodes)
	if len(path) < len(nodes) {
		r.addLoss(lostBranches)
	}
	for _, i := range path {
		r.readMessage(members(nodes[i].Get("message")))
	}

	if failure := trace["errors"].Get("@reverse.0"); failure.Exists() {
		r.setError(&arena.AttemptError{
			Type:    r.text(failure.Get("type")),
			Message: r.text(failure.Get("message")),
		})
	}
	if trace["is_timeout"].Bool() {
		a.Status = arena.StatusTimedOut
	}
}

// weightedReward returns the sum of all rewards, each score times its weight. It returns nil if
// no element is an object.
func weightedReward(rewards gjson.Result) *float64 {
	sum := 0.0
	hasReward := false
	for _, reward := range rewards.ForEach {
		sum += float64(reward.Get("score").Float() * reward.Get("weight").Float())
		if reward.IsObject() {
			hasReward = true
		}
	}
	if !hasReward {
		return nil
	}
	return &sum
}

// lastBranch returns the indices of the nodes on the path from the root to the last node. The
// path starts later if the parent of a node does not precede the node.
func lastBranch(nodes []gjson.Result) []int {
	var path []int
	for i := len(nodes) - 1; i >= 0; {
		path = append(path, i)
		value := nodes[i].Get("parent")
		parent := int(value.Int())
		if value.Type != gjson.Number || parent >= i {
			break
		}
		i = parent
	}
	slices.Reverse(path)
	return path
}
