package cold

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// sweAgent is a file .traj of SWE-agent: the history that the model saw, beside
// the steps with what the environment took of it. mini-swe-agent's has messages of
// its model's API and a last one of the role exit.
var sweAgent = Format{
	Name: "swe_agent", Writers: "SWE-agent and mini-swe-agent (.traj)", Kept: "model, exit status",
	is: func(top object) bool {
		return messageList(Unpacked(top["history"])) || strings.HasPrefix(top["trajectory_format"].Str, "mini-swe-agent")
	},
	read: func(r *reader, top object) {
		a, info, replay := r.begin(""), top.within("info"), top.within("replay_config")
		a.Model = cmp.Or(r.text(replay.within("agent").within("model")["name"]), r.text(info.within("config").within("model")["model_name"]))
		a.ProblemID = cmp.Or(replay.within("problem_statement").id("id"), top.id("instance_id"))
		r.each(top.first("history", "messages"), func(v gjson.Result) { r.sweMessage(v) })
		turns := slicesx.CountFunc(a.messages, func(m *message) bool { return m.role == Agent })
		r.fails(Exit(r.text(info["exit_status"])))
		r.unread(info, "exit_status", "swe_agent_hash", "swe_agent_version", "swe_rex_version", "swe_rex_hash", "mini_version")
		r.lose(lostSteps, int(top["trajectory"].Get("#").Int()) > turns)
	},
}

func (r *reader) sweMessage(v gjson.Result) {
	m := fields(v)
	for _, twice := range []string{"thought", "action", "agent", "message_type", "extra"} {
		delete(m, twice) // its thought and action are parts of its content
	}
	switch {
	case m["is_demo"].Bool():
		r.tell(System, r.content(m["content"]).step.Content)
	case m["role"].Str == "exit": // info says the same
	case m["output"].IsArray():
		r.items(m["output"])
	case m["type"].Str == "function_call_output":
		r.otherItem(m)
	default:
		r.message(m)
	}
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
