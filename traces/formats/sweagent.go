package formats

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// sweAgent is the format of .traj files. SWE-agent writes the history of messages, and the steps
// with their observations. mini-swe-agent writes the messages of its model's API, and a last
// message with the role exit.
var sweAgent = Format{
	Name:     "swe_agent",
	Writers:  "SWE-agent and mini-swe-agent (.traj)",
	Retained: "model, exit status",
	matches: func(doc object) bool {
		isMini := strings.HasPrefix(doc["trajectory_format"].Str, "mini-swe-agent")
		return isMini || isMessageList(unpack(doc["history"]))
	},
	read: readSWEAgent,
}

func readSWEAgent(r *reader, doc object) {
	a := r.begin("")
	info := doc.object("info")
	replay := doc.object("replay_config")
	configured := r.text(info.object("config").object("model")["model_name"])
	a.Model = cmp.Or(r.text(replay.object("agent").object("model")["name"]), configured)
	a.ProblemID = replay.object("problem_statement").id("id")
	if a.ProblemID == "" {
		a.ProblemID = doc.id("instance_id")
	}

	r.each(doc.first("history", "messages"), r.readSWEMessage)
	r.setError(exitError(r.text(info["exit_status"])))
	r.addUnreadKeys(info, "exit_status", "swe_agent_hash", "swe_agent_version",
		"swe_rex_version", "swe_rex_hash", "mini_version")

	turns := slicesx.CountFunc(a.messages, func(m *message) bool {
		return m.role == agentRole
	})
	if int(doc["trajectory"].Get("#").Int()) > turns {
		r.addLoss(lostSteps)
	}
}

func (r *reader) readSWEMessage(v gjson.Result) {
	m := members(v)
	// The content repeats thought and action.
	for _, key := range []string{"thought", "action", "agent", "message_type", "extra"} {
		delete(m, key)
	}
	switch {
	case m["is_demo"].Bool():
		r.addText(systemRole, r.content(m["content"]).text)
	case m["role"].Str == "exit": // info has the same status
	case m["output"].IsArray():
		r.readItems(m["output"])
	case m["type"].Str == "function_call_output":
		r.readOtherItem(m)
	default:
		r.readMessage(m)
	}
}

// exitError converts an exit status of SWE-agent to an error. It returns nil if the agent
// submitted a result, or the status is empty.
func exitError(status string) *arena.AttemptError {
	if status == "" || strings.HasPrefix(strings.ToLower(status), "submitted") {
		return nil
	}
	return &arena.AttemptError{Type: status}
}
