package cold

import (
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// tau2 is a file of results of tau2-bench with all simulations, or one simulation.
var tau2 = Format{
	Name: "tau2", Writers: "tau2-bench results and simulations", Kept: "policy, model, reward, ending, seconds",
	is: func(top object) bool {
		return top["simulations"].IsArray() || top["reward_info"].IsObject() && messageList(top["messages"])
	},
	read: func(r *reader, top object) {
		if !top["simulations"].IsArray() {
			r.begin("")
			r.simulation(top, object{})
			return
		}
		r.each(top["simulations"], func(v gjson.Result) {
			r.begin(v.Raw)
			r.simulation(fields(v), top.within("info"))
		})
	},
}

func (r *reader) simulation(sim, info object) {
	a := r.attempt()
	a.ProblemID, a.Trial, a.Declared = sim.id("task_id"), sim.id("trial"), sim.within("reward_info").number("reward")
	set(&a.Seconds, sim.number("duration"))
	a.Model = r.text(info.within("agent_info")["llm"])
	if policy := r.text(info.within("environment_info")["policy"]); policy != "" {
		r.tell(System, policy)
	}
	first := true
	r.each(sim["messages"], func(v gjson.Result) {
		m := fields(v)
		greets := first && roles[m["role"].Str] == Agent
		owns := m["requestor"].Str == "user" || roles[m["role"].Str] == User && m["tool_calls"].IsArray()
		first = false
		r.lose(lostGreeting, greets)
		r.lose(lostUserTools, owns)
		if !greets && !owns {
			m["reasoning_content"] = v.Get("raw_data.choices.0.message.reasoning_content") // its own messages have none
			r.message(m)
		}
	})
	if why := r.text(sim["termination_reason"]); why != "" && why != "user_stop" && why != "agent_stop" {
		r.fails(&arena.AttemptError{Type: why})
		if why == "timeout" {
			a.Status = arena.StatusTimedOut
		}
	}
}
