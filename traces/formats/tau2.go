package formats

import (
	"cmp"

	"github.com/trajectory-arena/arena"
)

// tau2 is the format of tau2-bench: a result file with all simulations, or one simulation.
var tau2 = Format{
	Name:     "tau2",
	Writers:  "tau2-bench results and simulations",
	Retained: "policy, model, reward, ending, seconds",
	matches: func(doc *value) bool {
		isSimulation := doc.get("reward_info").isObject() && doc.get("messages").isMessageList()
		return isSimulation || doc.get("simulations").isArray()
	},
	read: func(r *reader, doc *value) {
		if !doc.get("simulations").isArray() {
			r.begin("")
			r.readSimulation(doc, &value{})
			return
		}
		instructions := map[string]string{}
		r.each(doc.get("tasks"), func(v *value) {
			text := v.object("user_scenario").get("instructions")
			instructions[v.id("id")] = cmp.Or(text.str(), string(text.raw()))
		})
		r.eachObject(doc.get("simulations"), func(v *value) {
			r.begin(v.json.Raw, v)
			r.readSimulation(v, doc.object("info"))
			a := r.attempt()
			a.Task = instructions[a.ProblemID]
		})
	},
}

// tauBench is the format of tau-bench: a row with the messages of one trial. The instruction in its
// task is the prompt of the simulated customer.
var tauBench = Format{
	Name:     "tau_bench",
	Writers:  "tau-bench results",
	Retained: "reward, trial, the customer's instruction",
	matches: func(doc *value) bool {
		return doc.get("traj").isMessageList() && doc.object("info").get("task").isObject()
	},
	read: func(r *reader, doc *value) {
		r.isRow = true
		a := r.begin("")
		a.ProblemID = doc.id("task_id")
		a.Trial = doc.id("trial")
		a.Declared = doc.number("reward")
		a.Task = r.textOf(doc.object("info").object("task"), "instruction")
		r.readMessages(doc.get("traj"))
	},
}

func (r *reader) readSimulation(sim, info *value) {
	a := r.attempt()
	a.ProblemID = sim.id("task_id")
	a.Trial = sim.id("trial")
	a.Declared = sim.object("reward_info").number("reward")
	setIfPresent(&a.Seconds, sim.number("duration"))
	a.Model = r.textOf(info.object("agent_info"), "llm")
	if policy := r.textOf(info.object("environment_info"), "policy"); policy != "" {
		r.addText(systemRole, policy)
	}

	r.each(sim.get("messages"), r.readTau2Message)

	switch reason := r.textOf(sim, "termination_reason"); reason {
	case "", "user_stop", "agent_stop":
	case "timeout":
		r.setError(&arena.AttemptError{Type: reason})
		a.Status = arena.StatusTimedOut
	default:
		r.setError(&arena.AttemptError{Type: reason})
	}
}

// readTau2Message reads a message of a simulation of tau2-bench. Tool calls of the simulated user
// and their results are left out and recorded as a loss.
func (r *reader) readTau2Message(m *value) {
	role := rolesByName[m.string("role")]
	isUserTool := m.string("requestor") == "user" || role == userRole && m.get("tool_calls").isArray()
	if isUserTool {
		r.addLoss(lostUserTools)
		m.raw()
		return
	}
	// The messages of tau2-bench have no reasoning; the raw response has it.
	reply := m.object("raw_data").get("choices").firstElement().object("message")
	r.readMessage(m)
	if reasoning := r.textOf(reply, "reasoning_content"); reasoning != "" {
		r.lastMessage().step.Reasoning = reasoning
	}
}
