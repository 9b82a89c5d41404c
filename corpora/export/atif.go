package export

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpora"
	"github.com/trajectory-arena/arena/corpora/chat"
)

// atifVersion is the version of the Agent Trajectory Interchange Format.
const atifVersion = "ATIF-v1.7"

type atifTrajectory struct {
	Schema  string     `json:"schema_version"`
	Session string     `json:"session_id"`
	Agent   atifAgent  `json:"agent"`
	Steps   []atifStep `json:"steps"`
	Extra   atifExtra  `json:"extra"`
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

type atifStep struct {
	ID        int              `json:"step_id"`
	Source    string           `json:"source"`
	Message   string           `json:"message"`
	Reasoning string           `json:"reasoning_content,omitempty"`
	Calls     []atifCall       `json:"tool_calls,omitempty"`
	Observed  *atifObservation `json:"observation,omitempty"`
}

type atifCall struct {
	ID        string          `json:"tool_call_id"`
	Name      string          `json:"function_name"`
	Arguments json.RawMessage `json:"arguments"`
}

type atifObservation struct {
	Results []atifResult `json:"results"`
}

type atifResult struct {
	Call    string `json:"source_call_id"`
	Content string `json:"content"`
}

func openATIF(j *job, split string) (sink, error) {
	stream := corpora.Stream{Place: "atif/" + split + ".jsonl"}
	return &lineSink{j, corpora.NewLines(j.part, stream, "jsonl"), atif}, nil
}

// atif writes one trajectory; results stand with the step whose call they
// answer, the reward under extra.arena.
func atif(r *row) ([]string, error) {
	s := r.sft
	out := atifTrajectory{Schema: atifVersion, Session: s.SessionID,
		Agent: atifAgent{Name: orUnknown(s.AgentHotkey), Version: orUnknown(s.AgentVersion), Tools: json.RawMessage(jsonList(s.Tools))},
		Extra: atifExtra{atifArena{RunID: run(s), ProblemID: s.ProblemID, Cluster: s.Cluster, VersionID: s.AgentVersion, Hotkey: s.AgentHotkey,
			StartedAt: startedAt(s.RunDate), Status: status(s), Reward: declared(s), TaskType: s.TaskType, Split: s.Split, Harness: s.Harness}}}
	for i := range r.messages {
		m := &r.messages[i]
		if m.Role == chat.Tool {
			if err := observe(out.Steps, m); err != nil {
				return nil, err
			}
			continue
		}
		out.Steps = append(out.Steps, atifOf(m, len(out.Steps)+1))
	}
	line, err := chat.Marshal(out)
	return []string{line}, err
}

func status(s *corpora.SFT) arena.Status {
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

func atifOf(m *chat.Message, id int) atifStep {
	step := atifStep{ID: id, Source: m.Role, Message: m.Content, Reasoning: m.Reasoning}
	if m.Role == chat.Assistant {
		step.Source = "agent"
	}
	for _, c := range m.Calls {
		step.Calls = append(step.Calls, atifCall{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return step
}

func observe(steps []atifStep, m *chat.Message) error {
	if len(steps) == 0 {
		return fmt.Errorf("result %s answers no step", m.CallID)
	}
	last := &steps[len(steps)-1]
	if last.Observed == nil {
		last.Observed = &atifObservation{}
	}
	last.Observed.Results = append(last.Observed.Results, atifResult{m.CallID, m.Content})
	return nil
}

// orUnknown fills names that the format requires.
func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
