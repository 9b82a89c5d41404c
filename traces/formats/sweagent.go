package formats

import (
	"cmp"
	"strings"

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
	matches: func(doc *value) bool {
		isMini := strings.HasPrefix(doc.string("trajectory_format"), "mini-swe-agent")
		return isMini || doc.get("history").unpack().isMessageList()
	},
	read: readSWEAgent,
}

func readSWEAgent(r *reader, doc *value) {
	a := r.begin("")
	info := doc.object("info")
	replay := doc.object("replay_config")
	configured := r.textOf(info.object("config").object("model"), "model_name")
	a.Model = cmp.Or(r.textOf(replay.object("agent").object("model"), "name"), configured)
	a.ProblemID = replay.object("problem_statement").id("id")
	if a.ProblemID == "" {
		a.ProblemID = doc.id("instance_id")
	}

	r.each(doc.first("history", "messages"), r.readSWEMessage)
	r.setError(exitError(r.textOf(info, "exit_status")))

	turns := slicesx.CountFunc(a.messages, func(m *message) bool {
		return m.role == agentRole
	})
	if int(doc.get("trajectory").peek("#").Int()) > turns {
		r.addLoss(lostSteps)
	}
}

func (r *reader) readSWEMessage(m *value) {
	// The content repeats thought and action.
	for _, key := range []string{"thought", "action", "agent", "message_type"} {
		m.get(key).raw()
	}
	switch {
	case m.get("is_demo").isTrue():
		m.get("role").raw()
		r.addText(systemRole, r.content(m.get("content")).text)
	case m.string("role") == "exit": // info has the same status
	case m.get("output").isArray():
		r.readItems(m.get("output"))
	case isOutputItem(m.get("type").json.Str):
		t := itemTurn{r: r}
		t.read(m)
	default:
		r.readMessage(m)
	}
}

// exitError converts an exit status of SWE-agent to an error of that type. It returns nil if the
// status is empty or begins with "submitted", as that of an agent that submitted a result.
func exitError(status string) *arena.AttemptError {
	if status == "" || strings.HasPrefix(strings.ToLower(status), "submitted") {
		return nil
	}
	return &arena.AttemptError{Type: status}
}
