package formats

import (
	"cmp"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// tau2 is the format of tau2-bench: a result file with all simulations, or one simulation.
var tau2 = Format{
	Name:     "tau2",
	Writers:  "tau2-bench results and simulations",
	Retained: "policy, model, reward, ending, seconds",
	matches: func(doc object) bool {
		isSimulation := doc["reward_info"].IsObject() && isMessageList(doc["messages"])
		return isSimulation || doc["simulations"].IsArray()
	},
	read: func(r *reader, doc object) {
		if !doc["simulations"].IsArray() {
			r.begin("")
			r.readSimulation(doc, object{})
			return
		}
		instructions := map[string]string{}
		r.each(doc["tasks"], func(v gjson.Result) {
			told := v.Get("user_scenario.instructions")
			instructions[members(v).id("id")] = cmp.Or(told.Str, told.Raw)
		})
		r.each(doc["simulations"], func(v gjson.Result) {
			r.begin(v.Raw)
			r.readSimulation(members(v), doc.object("info"))
			a := r.attempt()
			a.Task = instructions[a.ProblemID]
		})
	},
}

// tauBench is the format of tau-bench: a row with the messages of one trial. The instruction of its
// task is what the simulated customer was told.
var tauBench = Format{
	Name:     "tau_bench",
	Writers:  "tau-bench results",
	Retained: "reward, trial, the customer's instruction",
	matches: func(doc object) bool {
		return isMessageList(doc["traj"]) && doc["info"].Get("task").IsObject()
	},
	read: func(r *reader, doc object) {
		r.isRow = true
		a := r.begin("")
		a.ProblemID = doc.id("task_id")
		a.Trial = doc.id("trial")
		a.Declared = doc.number("reward")
		a.Task = r.text(doc["info"].Get("task.instruction"))
		r.readMessages(doc["traj"])
		r.addUnreadKeys(doc, "task_id", "trial", "reward", "info", "traj")
	},
}

func (r *reader) readSimulation(sim, info object) {
	a := r.attempt()
	a.ProblemID = sim.id("task_id")
	a.Trial = sim.id("trial")
	a.Declared = sim.object("reward_info").number("reward")
	setIfPresent(&a.Seconds, sim.number("duration"))
	a.Model = r.text(info.object("agent_info")["llm"])
	if policy := r.text(info.object("environment_info")["policy"]); policy != "" {
		r.addText(systemRole, policy)
	}

	isFirst := true
	r.each(sim["messages"], func(v gjson.Result) {
		r.readTau2Message(v, isFirst)
		isFirst = false
	})

	switch reason := r.text(sim["termination_reason"]); reason {
	case "", "user_stop", "agent_stop":
	case "timeout":
		r.setError(&arena.AttemptError{Type: reason})
		a.Status = arena.StatusTimedOut
	default:
		r.setError(&arena.AttemptError{Type: reason})
	}
}

// readTau2Message reads a message of a simulation. It leaves out the agent's greeting, which is
// the first message, and the simulated user's tool calls with their results, and records them as
// losses.
func (r *reader) readTau2Message(v gjson.Result, isFirst bool) {
	m := members(v)
	role := rolesByName[m["role"].Str]
	isGreeting := isFirst && role == agentRole
	isUserTool := m["requestor"].Str == "user" || role == userRole && m["tool_calls"].IsArray()
	if isGreeting {
		r.addLoss(lostGreeting)
	}
	if isUserTool {
		r.addLoss(lostUserTools)
	}
	if isGreeting || isUserTool {
		return
	}
	// The messages of tau2-bench have no reasoning; the raw response has it.
	m["reasoning_content"] = v.Get("raw_data.choices.0.message.reasoning_content")
	r.readMessage(m)
}
