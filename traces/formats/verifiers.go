package formats

import (
	"slices"

	"github.com/trajectory-arena/arena"
)

// verifiersResult is the format of a result line of verifiers or prime-rl: an object with
// prompt, completion and reward.
var verifiersResult = Format{
	Name:     "verifiers",
	Writers:  "verifiers and prime-rl results (prompt, completion)",
	Retained: "tools, reward, error",
	matches: func(doc *value) bool {
		hasPrompt := doc.get("prompt").isString() || doc.get("prompt").unpack().isMessageList()
		return hasPrompt && doc.get("completion").unpack().isMessageList()
	},
	read: readVerifiersResult,
}

func readVerifiersResult(r *reader, doc *value) {
	a := r.begin("")
	a.ProblemID = doc.id("problem_id", "example_id", "task_id", "id")
	a.Trial = doc.id("rollout_id", "trial")
	a.Tools = toolDefinitions(doc.first("tools", "tool_defs", "oai_tools"))
	a.Model = doc.id("model")
	a.Declared = doc.number("reward")
	if prompt := doc.get("prompt").unpack(); prompt.isArray() {
		r.readMessages(prompt)
	} else if text := r.text(prompt); text != "" {
		r.addText(userRole, text)
	}
	r.readMessages(doc.get("completion"))
	r.readVerifiersError(doc)
}

// readVerifiersError reads the error that ended a rollout from a row: an object with its type and
// the chain of its causes, or a text in earlier versions. Copies of the chain in other members are
// ignored.
func (r *reader) readVerifiersError(doc *value) {
	failure := doc.get("error")
	if !failure.get("error").isString() {
		r.setError(r.parseError(failure))
		return
	}
	r.setError(&arena.AttemptError{
		Type:    r.textOf(failure, "error"),
		Message: r.textOf(failure, "error_chain_repr"),
	})
	for _, copied := range []*value{failure.get("error_chain_str"), doc.get("error_chain"), doc.get("long_error_chain")} {
		copied.raw()
	}
}

// verifiersEpisode is the format of a line in traces.jsonl of verifiers 0.4 and later. The
// messages of a trace are a tree. Only the branch of the last message is read; the other
// branches repeat its start.
var verifiersEpisode = Format{
	Name:     "verifiers_episode",
	Writers:  "verifiers >= 0.4 and prime-rl (traces.jsonl)",
	Retained: "tools, model, weighted reward, errors",
	matches: func(doc *value) bool {
		return doc.get("traces").isArray() && doc.get("task").isObject() && doc.get("env").isObject()
	},
	read: func(r *reader, doc *value) {
		r.eachObject(doc.get("traces"), func(v *value) {
			r.readVerifiersTrace(v, doc)
		})
	},
}

func (r *reader) readVerifiersTrace(trace, doc *value) {
	a := r.begin(trace.json.Raw, trace)
	task := trace.object("task")
	a.ProblemID = task.object("data").id("id", "example_id")
	if a.ProblemID == "" {
		a.ProblemID = task.id("key", "hash")
	}
	a.RunID = doc.object("run").id("id")
	a.Trial = trace.id("id")
	a.Model = r.textOf(trace.object("agent").object("config"), "model")
	a.Tools = toolDefinitions(trace.get("tools"))
	a.Declared = weightedReward(trace.get("rewards"))

	var nodes []*value
	r.each(trace.get("nodes"), func(v *value) {
		nodes = append(nodes, v)
	})
	path := lastBranch(nodes)
	if len(path) < len(nodes) {
		r.addLoss(lostBranches)
		for i, node := range nodes {
			if !slices.Contains(path, i) {
				node.raw()
			}
		}
	}
	for _, i := range path {
		r.readMessage(nodes[i].get("message"))
	}

	r.each(trace.get("errors"), func(failure *value) {
		r.setError(&arena.AttemptError{
			Type:    r.textOf(failure, "type"),
			Message: r.textOf(failure, "message"),
		})
	})
	if trace.get("is_timeout").isTrue() {
		a.Status = arena.StatusTimedOut
	}
}

// weightedReward returns the sum of score times weight over all rewards, which are a list or an
// object of rewards. A reward that lacks either number adds 0. It returns nil if no reward is an
// object.
func weightedReward(rewards *value) *float64 {
	sum := 0.0
	hasReward := false
	for _, reward := range rewards.children() {
		score := reward.number("score")
		weight := reward.number("weight")
		if score != nil && weight != nil {
			sum += float64(*score * *weight)
		}
		hasReward = hasReward || reward.isObject()
	}
	if !hasReward {
		return nil
	}
	return &sum
}

// lastBranch returns the indices of the nodes on the path from the root of a tree to its last node.
// The path starts later than at the root if a node names a parent that does not precede it.
func lastBranch(nodes []*value) []int {
	var path []int
	for i := len(nodes) - 1; i >= 0; {
		path = append(path, i)
		parent := nodes[i].count("parent")
		if parent == nil || *parent >= i {
			break
		}
		i = *parent
	}
	slices.Reverse(path)
	return path
}
