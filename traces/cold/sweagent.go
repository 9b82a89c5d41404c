package cold

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// sweAgent is a file .traj of SWE-agent: the history that the model saw, beside
// the steps with what the environment took of it.
var sweAgent = Format{
	Name: "swe_agent", Writers: "SWE-agent (.traj)", Kept: "model, exit status", Unseen: true,
	is: func(top object) bool { return messageList(Unpacked(top["history"])) },
	read: func(r *reader, top object) {
		a := r.begin("")
		agent := top.within("replay_config").within("agent")
		a.Model = r.text(agent.within("model")["name"])
		a.Problem = top.within("replay_config").within("problem_statement").id("id")
		turns := 0
		r.each(top["history"], func(v gjson.Result) {
			m := fields(v)
			if m["is_demo"].Bool() {
				r.tell(System, r.content(m["content"]).step.Content)
				return
			}
			if roles[m["role"].Str] == Agent {
				turns++
			}
			for _, twice := range []string{"thought", "action", "agent", "message_type"} {
				delete(m, twice) // its thought and action are parts of its content
			}
			r.message(m)
		})
		info := top.within("info")
		r.fails(Exit(r.text(info["exit_status"])))
		r.unread(info, "exit_status", "swe_agent_hash", "swe_agent_version", "swe_rex_version", "swe_rex_hash")
		r.lose(lostSteps, int(top["trajectory"].Get("#").Int()) > turns)
	},
}

// Exit is the error of how an agent of the SWE family ended; nil where it submitted.
func Exit(status string) *arena.AttemptError {
	if status == "" || strings.HasPrefix(strings.ToLower(status), "submitted") {
		return nil
	}
	return &arena.AttemptError{Type: status}
}

func (r *reader) fails(why *arena.AttemptError) {
	if why != nil {
		r.attempt().Status, r.attempt().Error = arena.StatusFailed, why
	}
}
