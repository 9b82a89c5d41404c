package export

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// atifVersion is the version of the Agent Trajectory Interchange Format.
const atifVersion = "ATIF-v1.7"

// atifHead and atifTail are what stands before and behind the steps of a
// trajectory.
type atifHead struct {
	Schema  string    `json:"schema_version"`
	Session string    `json:"session_id"`
	Agent   atifAgent `json:"agent"`
}

type atifTail struct {
	Extra atifExtra `json:"extra"`
}

// atifExtra holds what ATIF has no field for, under the names that the
// sandbox has for it: readers of traces take it from there.
type atifExtra struct {
	Arena atifArena `json:"arena"`
}

type atifArena struct {
	RunID     string `json:"eval_run_id,omitempty"`
	ProblemID string `json:"problem_id"`
	Cluster   string `json:"dedup_cluster"`
	VersionID string `json:"agent_version_id,omitempty"`
	Hotkey    string `json:"miner_hotkey,omitempty"`
	StartedAt string `json:"started_at,omitempty"`
	// Status is how the sandbox saw the attempt end, in its own words.
	Status   arena.Status `json:"status"`
	Reward   *float64     `json:"reward"`
	TaskType string       `json:"task_type"`
	Split    string       `json:"split"`
	Harness  string       `json:"harness"`
}

type atifAgent struct {
	Name    string          `json:"name"`
	Version string          `json:"version"`
	Tools   json.RawMessage `json:"tool_definitions"`
}

type atifCall struct {
	ID        string          `json:"tool_call_id"`
	Name      string          `json:"function_name"`
	Arguments json.RawMessage `json:"arguments"`
}

func openATIF(j *job, split string) (sink, error) {
	stream := corpus.Stream{Place: "atif/" + split + ".jsonl"}
	return &lineSink{j, corpus.NewLines(j.part, stream, "jsonl"), atif}, nil
}

// atif writes one trajectory; results stand with the step whose call they
// answer, the reward under extra.arena.
func atif(r *row) ([]string, error) {
	s := r.sft
	head, err := chat.Marshal(atifHead{Schema: atifVersion, Session: s.SessionID,
		Agent: atifAgent{Name: orUnknown(s.AgentHotkey), Version: orUnknown(s.AgentVersion), Tools: json.RawMessage(jsonList(s.Tools))}})
	if err != nil {
		return nil, err
	}
	tail, err := chat.Marshal(atifTail{atifExtra{atifArena{RunID: run(s), ProblemID: s.ProblemID, Cluster: s.Cluster, VersionID: s.AgentVersion, Hotkey: s.AgentHotkey,
		StartedAt: startedAt(s.RunDate), Status: status(s), Reward: declared(s), TaskType: s.TaskType, Split: s.Split, Harness: s.Harness}}})
	if err != nil {
		return nil, err
	}
	line := []string{head[:len(head)-1], `,"steps":[`}
	for i, n := 0, 1; i < len(r.messages); n++ {
		answers := chat.Answers(r.messages[i+1:])
		if line, err = appendStep(line, n, &r.messages[i], r.messages[i+1:i+1+answers]); err != nil {
			return nil, err
		}
		i += 1 + answers
	}
	return append(line, "],", tail[1:]), nil
}

// appendStep appends the n-th step: a message and the results of its calls. The
// texts are JSON already.
func appendStep(line []string, n int, m *chat.Written, results []chat.Written) ([]string, error) {
	source := m.Role
	if m.Role == chat.Assistant {
		source = "agent"
	}
	if n > 1 {
		line = append(line, ",")
	}
	line = append(line, `{"step_id":`, strconv.Itoa(n), `,"source":"`, source, `","message":"`, m.Content, `"`)
	if m.Reasoning != "" {
		line = append(line, `,"reasoning_content":"`, m.Reasoning, `"`)
	}
	line, err := appendCalls(line, m.Calls)
	if err != nil {
		return nil, err
	}
	if line, err = appendResults(line, results); err != nil {
		return nil, err
	}
	return append(line, "}"), nil
}

func appendCalls(line []string, calls []chat.Call) ([]string, error) {
	if len(calls) == 0 {
		return line, nil
	}
	made := make([]atifCall, len(calls))
	for i, c := range calls {
		made[i] = atifCall{c.ID, c.Function.Name, c.Function.Arguments}
	}
	list, err := chat.Marshal(made)
	return append(line, `,"tool_calls":`, list), err
}

func appendResults(line []string, results []chat.Written) ([]string, error) {
	if len(results) == 0 {
		return line, nil
	}
	line = append(line, `,"observation":{"results":[`)
	for i := range results {
		id, err := chat.Marshal(results[i].CallID)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			line = append(line, ",")
		}
		line = append(line, `{"source_call_id":`, id, `,"content":"`, results[i].Content, `"}`)
	}
	return append(line, "]}"), nil
}

func status(s *rows.SFT) arena.Status {
	switch {
	case s.IsTruncated:
		return arena.StatusTimedOut
	case s.HasError:
		return arena.StatusFailed
	default:
		return arena.StatusSuccess
	}
}

// startedAt is a moment in Unix milliseconds as RFC 3339 in UTC; empty where it
// is not known.
func startedAt(ms *int64) string {
	if ms == nil {
		return ""
	}
	return time.UnixMilli(*ms).UTC().Format(time.RFC3339Nano)
}

// orUnknown fills names that the format requires.
func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
