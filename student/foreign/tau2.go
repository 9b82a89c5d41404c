package foreign

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/student/rollout"
)

// notTheModels are the reasons for which tau2-bench ends a simulation that are no fault of the
// model, but of the program or of the simulated customer.
var notTheModels = []string{"infrastructure_error", "unexpected_error", "user_error"}

// readTau2 reads the results of tau2-bench, a document with the simulations.
func readTau2(doc gjson.Result) *Evaluation {
	info := doc.Get("info")
	e := &Evaluation{
		Harness: "tau2-bench", Task: info.Get("environment_info.domain_name").String(), Model: info.Get("agent_info.llm").String(), Scorer: "reward",
	}
	for _, name := range []string{"num_trials", "max_steps", "max_errors", "user_info", "environment_info"} {
		e.setting(name, info.Get(name))
	}
	e.setting("agent_implementation", info.Get("agent_info.implementation"))
	e.setting("agent_llm_args", info.Get("agent_info.llm_args"))
	e.stated = info.Get("num_trials").Int() * doc.Get("tasks.#").Int()
	tasks := map[string]gjson.Result{}
	for _, task := range members(doc.Get("tasks")) {
		tasks[task.Get("id").String()] = task
	}
	for _, simulation := range members(doc.Get("simulations")) {
		e.addSimulation(simulation, tasks[simulation.Get("task_id").String()])
	}
	return e
}

func (e *Evaluation) addSimulation(s, task gjson.Result) {
	r := e.newRollout(s.Get("task_id").String(), textOf(task.Get("user_scenario.instructions")), s.Get("messages"), task)
	r.trial = s.Get("trial").Int()
	ending := s.Get("termination_reason").String()
	reward := s.Get("reward_info.reward")
	switch {
	case slices.Contains(notTheModels, ending) || s.Get("skipped").Bool():
		r.fail("error", ending)
	case reward.Type != gjson.Number:
		r.fail("no_score", "the simulation has no reward")
	default:
		r.scored(reward.Num, numbers(s.Get("reward_info.reward_breakdown")))
		r.Stop = stop("", ending)
	}
	e.Rollouts = append(e.Rollouts, r)
}

// stop returns why a rollout ended, by the reason that a harness recorded: kind and reason joined
// by "_", or reason alone if kind is empty. If reason is empty, the rollout ended by itself.
func stop(kind, reason string) rollout.Stop {
	switch {
	case reason == "":
		return rollout.StopTerminated
	case kind == "":
		return rollout.Stop(reason)
	}
	return rollout.Stop(kind + "_" + reason)
}
