package traces

import "github.com/trajectory-arena/arena"

// episode reads one oro.environment_episode.v1: the calls of its call_trace
// with what the environment answered. The simulated shopper's own prompts and
// the verdict's checks hold the answer and are never read; of the verdict only
// the reward is.
func (d *decoder) episode() (found, error) {
	v := conversation{t: newTrace(arena.Source{Shape: "episode"})}
	var session string
	c := d.c
	c.Reset(c.Source())
	c.Object(func(key string) {
		if key == "episode" {
			session = d.episodeBody(&v)
			return
		}
		c.Skip()
	})
	return found{trace: v.t, session: session}, c.End()
}

func (d *decoder) episodeBody(v *conversation) (session string) {
	v.asked = true // the request is in bootstrap, all that is said later is a step
	c := d.c
	c.Object(func(key string) {
		switch key {
		case "task_id":
			v.t.ProblemID, _ = c.ID()
		case "agent_version_id":
			v.t.Agent.VersionID, _ = c.ID()
		case "session_id":
			session, _ = c.ID()
		case "bootstrap":
			d.bootstrap(v)
		case "call_trace":
			v.restart()
			c.Array(func() { d.episodeTurn(v) })
		case "verdict":
			v.t.Declared = d.verdict()
		default:
			c.Skip()
		}
	})
	return session
}

// bootstrap takes what the agent was shown at the start.
func (d *decoder) bootstrap(v *conversation) {
	c := d.c
	c.Object(func(key string) {
		if key != "policy_view" {
			c.Skip()
			return
		}
		c.Object(func(key string) {
			switch key {
			case "query":
				v.t.Query, _ = c.String()
			case "tools":
				v.t.Tools = d.tools()
			default:
				c.Skip()
			}
		})
	})
}

// episodeTurn takes one turn: its calls, their answers, and what the shopper
// said after it.
func (d *decoder) episodeTurn(v *conversation) {
	step := arena.Step{}
	var said string
	var results []result
	c := d.c
	c.Object(func(key string) {
		switch key {
		case "request":
			d.turnRequest(&step)
		case "response":
			results, said = d.turnResponse()
		default:
			c.Skip()
		}
	})
	v.agent(step)
	for _, r := range results {
		v.result(r.callID, "", r.value)
	}
	if said != "" {
		v.user(said)
	}
}

func (d *decoder) turnRequest(step *arena.Step) {
	c := d.c
	c.Object(func(key string) {
		switch key {
		case "turn":
			step.Number = d.count()
		case "calls":
			c.Array(func() { step.Calls = append(step.Calls, d.turnCall()) })
		default:
			c.Skip()
		}
	})
}

func (d *decoder) turnCall() (call arena.ToolCall) {
	c := d.c
	c.Object(func(key string) {
		switch key {
		case "call_id":
			call.ID, _ = c.ID()
		case "action":
			c.Object(func(key string) {
				switch key {
				case "name":
					call.Name, _ = c.String()
				case "args":
					call.Arguments = c.Raw()
				default:
					c.Skip()
				}
			})
		default:
			c.Skip()
		}
	})
	return call
}

func (d *decoder) turnResponse() (results []result, said string) {
	c := d.c
	c.Object(func(key string) {
		switch key {
		case "user_message":
			said = d.shopperText()
		case "calls":
			c.Array(func() { results = append(results, d.turnResult()) })
		default:
			c.Skip()
		}
	})
	return results, said
}

// shopperText takes a message of the shopper: its text, or an object around it.
func (d *decoder) shopperText() (said string) {
	c := d.c
	if c.Kind() != arena.Object {
		said, _ = c.String()
		return said
	}
	c.Object(func(key string) {
		if key == "content" {
			said, _ = c.String()
			return
		}
		c.Skip()
	})
	return said
}

// turnResult takes one call's answer, as the environment wrapped it.
func (d *decoder) turnResult() (r result) {
	c := d.c
	c.Object(func(key string) {
		switch key {
		case "call_id":
			r.callID, _ = c.ID()
		case "observation":
			r.value = c.Raw()
		default:
			c.Skip()
		}
	})
	return r
}

// verdict takes the reward that was paid, or whether the order was correct.
func (d *decoder) verdict() *float64 {
	var paid, correct *float64
	c := d.c
	c.Object(func(key string) {
		switch key {
		case "paid_reward":
			paid = d.reward()
		case "correct":
			correct = d.reward()
		default:
			c.Skip()
		}
	})
	if paid != nil {
		return paid
	}
	return correct
}
