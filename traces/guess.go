package traces

import (
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

// reportAddress is where users report a format that this program does not read.
const reportAddress = "https://github.com/trajectory-arena/arena/issues"

// likeness is a kind of document that this program cannot read but recognises, by keys that all
// such documents have, to say in the error what the file is.
type likeness struct {
	name string
	// keys are paths of gjson. All of them exist in a document of this kind.
	keys []string
	// version is the gjson path of the version of the format or its program, empty if there is
	// none.
	version string
	// advice tells the user what to do; if it is empty, the user can only report the document.
	advice string
}

// likenesses lists kinds of documents in the order in which they are compared with a record. A kind
// precedes those whose keys its documents have too.
var likenesses = []likeness{
	{name: "a Codex session of another version", keys: []string{"timestamp", "type", "payload"}, version: "payload.cli_version"},
	{name: "a session of Copilot CLI", keys: []string{"type", "data", "id", "timestamp"}, version: "data.copilotVersion"},
	{name: "an OpenHands event of another version", keys: []string{"kind", "source", "timestamp"}, advice: joinEvents},
	{name: "an OpenHands event of another version", keys: []string{"action", "args"}, advice: joinEvents},
	{name: "an OpenHands event of another version", keys: []string{"observation", "extras"}, advice: joinEvents},
	{name: "the state of an OpenHands conversation", keys: []string{"agent", "workspace", "execution_status"}, advice: joinEvents},
	{name: "an OpenHands trajectory of an old version", keys: []string{"history", "git_patch"}},
	{name: "a voice simulation of tau2-bench", keys: []string{"task_id", "ticks"}},
	{name: "one part of an opencode session", keys: []string{"sessionID", "messageID"}, advice: "give what opencode export writes"},
	{name: "one message of an opencode session", keys: []string{"sessionID", "role"}, advice: "give what opencode export writes"},
	{name: "the head of an opencode session", keys: []string{"projectID", "directory"}, version: "version", advice: "give what opencode export writes"},
	{name: "the output of Gemini CLI or Droid as a stream", keys: []string{"type", "timestamp", "session_id"}, advice: "give the session file instead"},
	{name: "the output of Gemini CLI as a stream", keys: []string{"type", "timestamp", "tool_id"}, advice: "give the session file instead"},
	{name: "a conversation of Antigravity", keys: []string{"step_index", "source", "status"}},
	{name: "a session of Cursor", keys: []string{"role", "message"}},
	{name: "a session of Kimi CLI", keys: []string{"type", "protocol_version"}, version: "protocol_version"},
	{name: "a summary of a session of Grok", keys: []string{"session_summary", "current_model_id"}},
	{name: "a run of LangSmith", keys: []string{"run_type", "inputs"}, advice: openTelemetry},
	{name: "a trace of MLflow", keys: []string{"info.trace_id", "data.spans"}, advice: openTelemetry},
	{name: "a call of Weave", keys: []string{"op_name", "trace_id"}, advice: openTelemetry},
	{name: "a span of OpenAI's Agents SDK", keys: []string{"trace_id", "span_data"}, advice: openTelemetry},
	{name: "events of NeMo Agent Toolkit (ATOF)", keys: []string{"atof_version"}, version: "atof_version", advice: "export ATIF"},
	{name: "messages of pydantic-ai", keys: []string{"kind", "parts"}},
	{name: "messages of LangChain", keys: []string{"lc", "kwargs"}},
	{name: "messages of LangChain", keys: []string{"type", "data.content"}},
	{name: "a message of AutoGen", keys: []string{"source", "content", "models_usage"}},
	{name: "a response of the Chat Completions API without its request", keys: []string{"object", "choices"}, advice: `write {"request": …, "response": …}`},
	{name: "an answer to SWE-bench", keys: []string{"instance_id", "model_patch"}, advice: "give the trajectories: a patch holds no conversation"},
	{name: "pairs of a preference", keys: []string{"chosen", "rejected"}, advice: "give the conversations with their tool calls"},
	{name: "trajectories by their questions, as of FireAct", keys: []string{"*.traj"}, advice: "write one a line: jq -c '.[]'"},
	{name: "a conversation that ChatGPT exports", keys: []string{"mapping", "current_node"}, advice: oneRow},
	{name: "a conversation that Claude's site exports", keys: []string{"chat_messages"}, advice: oneRow},
	{name: "a prompt of AI Studio", keys: []string{"chunkedPrompt"}, advice: oneRow},
	{name: "a tree of messages of OpenAssistant", keys: []string{"message_tree_id", "prompt"}, advice: oneRow},
	{name: "a state of LangGraph", keys: []string{"values.messages"}, advice: oneRow},
	{name: "rows of single calls, as of xLAM", keys: []string{"query", "answers"}, advice: oneRow},
	{name: "conversations in one text, as of Glaive", keys: []string{"system", "chat"}, advice: oneRow},
	{name: "conversations as lists of texts, as of UltraChat", keys: []string{"id", "data.1"}, advice: oneRow},
	{name: "rows of prompts and answers", keys: []string{"instruction", "output"}, advice: oneRow},
	{name: "rows of prompts and answers", keys: []string{"input", "output"}, advice: oneRow},
	{name: "rows of prompts and answers", keys: []string{"prompt", "completion"}, advice: oneRow},
	{name: "rows of prompts and answers", keys: []string{"prompt", "response"}, advice: oneRow},
	{name: "rows of prompts and answers", keys: []string{"question", "answer"}, advice: oneRow},
	{name: "prompts without answers", keys: []string{"prompt"}, advice: oneRow},
	{name: "messages, one a line", keys: []string{"role", "content"}, advice: oneRow},
	{name: "messages that have their author under type, as of Grok", keys: []string{"type", "content"}, advice: oneRow},
	{name: "rows of text", keys: []string{"text"}, advice: oneRow},
}

const (
	joinEvents    = "join the events of the conversation: jq -c . events/*.json"
	openTelemetry = "export it as OpenTelemetry GenAI spans"
	oneRow        = `write each conversation as {"messages": […]} on one line`
)

// guess returns the end of an error message for a record of no known format: the kind of document
// that its keys suggest with advice, and where to report it.
func guess(record string) string {
	for i := range likenesses {
		l := &likenesses[i]
		if !l.matches(record) {
			continue
		}
		words := "it looks like " + l.name + " (" + strings.Join(l.keys, ", ")
		if version := gjson.Get(record, l.version).String(); l.version != "" && plainVersion.MatchString(version) {
			words += ", version " + version
		}
		words += "): "
		if l.advice != "" {
			words += l.advice + ", or "
		}
		return words + "report it at " + reportAddress
	}
	return "no format with these keys is known: report it at " + reportAddress
}

// plainVersion matches version numbers. Another text in place of a version may be a secret and is
// not repeated in messages.
var plainVersion = regexp.MustCompile(`^v?[0-9]{1,5}(\.[0-9]{1,5}){0,3}$`)

func (l *likeness) matches(record string) bool {
	for _, value := range gjson.GetMany(record, l.keys...) {
		if !value.Exists() {
			return false
		}
	}
	return true
}
