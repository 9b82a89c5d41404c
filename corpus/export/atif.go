package export

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/atif"
)

// atifExtra holds what ATIF has no field for, under the names that the
// sandbox has for it: readers of traces take it from there.
type atifExtra struct {
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

func openATIF(j *job, split string) (sink, error) {
	stream := corpus.Stream{Place: "atif/" + split + ".jsonl"}
	return &lineSink{j, corpus.NewLines(j.part, stream, "jsonl"), asATIF}, nil
}

// asATIF writes one trajectory; results stand with the step whose call they
// answer, the reward under extra.arena.
func asATIF(r *row) ([]string, error) {
	s := r.sft
	out := atif.Document{
		Schema: atif.Version, Session: s.SessionID,
		Agent: atif.Agent{Name: cmp.Or(s.AgentHotkey, "unknown"), Version: cmp.Or(s.AgentVersion, "unknown"), Tools: json.RawMessage(jsonList(s.Tools))},
		Extra: &atif.Extra{Arena: atifExtra{RunID: run(s), ProblemID: s.ProblemID, Cluster: s.Cluster, VersionID: s.AgentVersion, Hotkey: s.AgentHotkey,
			StartedAt: startedAt(s.RunDate), Status: status(s), Reward: declared(s), TaskType: s.TaskType, Split: s.Split, Harness: s.Harness}},
	}
	for i := range r.messages {
		switch m := &r.messages[i]; m.Role {
		case chat.Tool:
			asks := &out.Steps[len(out.Steps)-1]
			if asks.Observation == nil {
				asks.Observation = &atif.Observation{}
			}
			asks.Observation.Results = append(asks.Observation.Results, atif.Result{CallID: m.CallID, Content: m.Content})
		default:
			out.Steps = append(out.Steps, atifStep(len(out.Steps)+1, m))
		}
	}
	line, err := chat.Marshal(out)
	return []string{line}, err
}

func atifStep(id int, m *chat.Message) atif.Step {
	step := atif.Step{ID: id, Source: m.Role, Message: m.Content, Reasoning: m.Reasoning}
	if m.Role == chat.Assistant {
		step.Source = atif.ByAgent
	}
	for _, c := range m.Calls {
		step.Calls = append(step.Calls, atif.Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return step
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
