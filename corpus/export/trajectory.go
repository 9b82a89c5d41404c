package export

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/atif"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/sts"
)

// atifExtra holds the data of an attempt for which ATIF (a format of agent trajectories) has no
// field. Its JSON keys are those of the traces from which corpora are built, so that readers of
// such traces know them.
type atifExtra struct {
	RunID     string `json:"eval_run_id,omitempty"`
	ProblemID string `json:"problem_id"`
	Cluster   string `json:"dedup_cluster"`
	VersionID string `json:"agent_version_id,omitempty"`
	Hotkey    string `json:"miner_hotkey,omitempty"`
	StartedAt string `json:"started_at,omitempty"`
	// Status is the sandbox's status of the attempt.
	Status   arena.Status `json:"status"`
	Reward   *float64     `json:"reward"`
	TaskType string       `json:"task_type"`
	Split    string       `json:"split"`
	Harness  string       `json:"harness"`
}

func openATIF(j *job, split string) (sink, error) {
	stream := corpus.Stream{Place: "atif/" + split + ".jsonl"}
	return &lineSink{
		job:        j,
		lines:      corpus.NewLines(j.part, stream, "jsonl"),
		appendJSON: appendATIF,
	}, nil
}

// appendATIF appends an attempt to line as an ATIF trajectory, a JSON object. Each tool result is
// in the step of its call, and the reward is under extra.arena. The object is first encoded with
// null in place of its steps. The null is then replaced by the steps, so that the messages' escaped
// texts are copied without decoding.
func appendATIF(line []byte, r *row) ([]byte, error) {
	document, err := chat.Marshal(atifDocument(r.sft))
	if err != nil {
		return nil, err
	}
	// The last match is the key itself: no text contains bare quotes, and no later key
	// is called extra.
	null := strings.LastIndex(document, `null,"extra":`)
	line = append(line, document[:null]...)
	line = append(line, '[')
	id := 1
	for i := 0; i < len(r.messages); id++ {
		next := r.messages[i+1:]
		results := next[:chat.CountResults(next)]
		line, err = appendStep(line, id, &r.messages[i], results)
		if err != nil {
			return nil, err
		}
		i += 1 + len(results)
	}
	line = append(line, ']')
	return append(line, document[null+len("null"):]...), nil
}

// atifDocument returns the ATIF trajectory of an attempt without its steps.
func atifDocument(s *rows.SFT) atif.Document {
	return atif.Document{
		Schema:  atif.Version,
		Session: s.SessionID,
		Agent: atif.Agent{
			Name:    cmp.Or(s.AgentHotkey, "unknown"),
			Version: cmp.Or(s.AgentVersion, "unknown"),
			Tools:   json.RawMessage(jsonList(s.Tools)),
		},
		Extra: &atif.Extra{Arena: atifExtra{
			RunID:     runID(s),
			ProblemID: s.ProblemID,
			Cluster:   s.Cluster,
			VersionID: s.AgentVersion,
			Hotkey:    s.AgentHotkey,
			StartedAt: formatMilliseconds(s.RunDate),
			Status:    status(s),
			Reward:    declaredReward(s),
			TaskType:  s.TaskType,
			Split:     s.Split,
			Harness:   s.Harness,
		}},
	}
}

// appendStep appends a message as a step of an ATIF trajectory, with the results of its calls.
// id is the number of the step, from 1. The contents and the reasoning are JSON-escaped
// already, without quotes.
func appendStep(
	line []byte,
	id int,
	m *chat.Message,
	results []chat.Message,
) ([]byte, error) {
	source := m.Role
	if m.Role == chat.Assistant {
		source = atif.SourceAgent
	}
	if id > 1 {
		line = append(line, ',')
	}
	line = fmt.Appendf(line, `{"step_id":%d,"source":%q,"message":"%s"`, id, source, m.Content)
	if m.Reasoning != "" {
		line = fmt.Appendf(line, `,"reasoning_content":"%s"`, m.Reasoning)
	}
	if len(m.Calls) > 0 {
		calls := slicesx.Map(m.Calls, func(c chat.Call) atif.Call {
			return atif.Call{
				ID:        c.ID,
				Name:      c.Function.Name,
				Arguments: c.Function.Arguments,
			}
		})
		list, err := chat.Marshal(calls)
		if err != nil {
			return nil, err
		}
		line = fmt.Appendf(line, `,"tool_calls":%s`, list)
	}
	for i, result := range results {
		separator := ","
		if i == 0 {
			separator = `,"observation":{"results":[`
		}
		callID, _ := chat.Marshal(result.CallID) // a string always encodes
		line = fmt.Appendf(line, `%s{"source_call_id":%s,"content":"%s"}`, separator, callID, result.Content)
	}
	if len(results) > 0 {
		line = append(line, "]}"...)
	}
	return append(line, '}'), nil
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

// formatMilliseconds formats a time in Unix milliseconds as RFC 3339 in UTC. It returns "" for
// nil, an unknown time.
func formatMilliseconds(ms *int64) string {
	if ms == nil {
		return ""
	}
	return time.UnixMilli(*ms).UTC().Format(time.RFC3339Nano)
}

// MaxSessions is the maximum number of files that the Hub's viewer shows of a folder.
const MaxSessions = 10_000

// stsSink writes session traces, a format in which people read attempts, one file for each attempt
// of a sample. The hash of a session's id decides whether it is in the sample, so that the order of
// rows has no influence.
type stsSink struct {
	job      *job
	split    string
	fraction float64 // of the sessions
	// nil if the rows are already redacted
	redactor *redact.Redactor
	// written has the names of the written files. A corpus may contain an attempt twice, but a
	// folder can contain its file only once.
	written map[string]bool
}

// openSTS returns a writer of session traces, a format for people to read, for one split. The rows
// are redacted even if the options do not request it.
func openSTS(j *job, split string) (sink, error) {
	s := &stsSink{
		job:     j,
		split:   split,
		written: map[string]bool{},
	}
	if j.opt.Redact == nil {
		s.redactor = redact.New(redact.Options{})
	}
	total := int64(0)
	for _, f := range j.feed.shards(split) {
		if f.Rows != nil {
			total += *f.Rows
		}
	}
	s.fraction = float64(j.opt.Sessions) / float64(max(total, 1))
	return s, nil
}

func (s *stsSink) write(batch []row) error { return s.job.count.addRows(batch, s.add) }

func (s *stsSink) add(r *row) error {
	sum := sha256.Sum256([]byte(r.sft.SessionID))
	isSampled := float64(binary.BigEndian.Uint64(sum[:8]))/(1<<64) < s.fraction
	name := hex.EncodeToString(sum[:16])
	if !isSampled || len(s.written) == MaxSessions || s.written[name] {
		return &chat.Unfit{Reason: reasonSampled}
	}
	s.written[name] = true
	s.job.count.Rows++
	stream := corpus.Stream{Place: fmt.Sprintf("sts/%s/%s.jsonl", s.split, name)}
	return s.writeSession(corpus.NewLines(s.job.part, stream, "jsonl"), r)
}

func (s *stsSink) close(context.Context) error { return nil }

func (s *stsSink) writeSession(out *corpus.Lines, r *row) error {
	lines := []any{sts.Header{
		Type:    "session",
		Harness: r.sft.Harness,
		ID:      r.sft.SessionID,
		Name:    r.sft.Goal,
	}}
	for i, m := range chat.Unescape(r.messages) {
		lines = append(lines, sts.Line{
			Type:    "message",
			Message: stsMessage(&m, i, r.sft.RunDate),
		})
	}
	for _, v := range lines {
		line, err := chat.Marshal(v)
		if err != nil {
			return fmt.Errorf("encode session %s: %w", r.sft.SessionID, err)
		}
		if s.redactor != nil {
			line = s.redactor.Text(line, s.job.count.Redacted)
		}
		if err := out.Add([]byte(line)); err != nil {
			return err
		}
	}
	return out.Close()
}

// stsMessage returns message i of a session in the format of session traces. Its time is start,
// in Unix milliseconds, plus i, or i if start is nil: the viewer sorts by time and rows have no
// times of messages.
func stsMessage(m *chat.Message, i int, start *int64) sts.Message {
	now := int64(i)
	if start != nil {
		now += *start
	}
	out := sts.Message{
		Role:      m.Role,
		Content:   m.Content,
		Reasoning: m.Reasoning,
		CallID:    m.CallID,
		Timestamp: &now,
	}
	for _, c := range m.Calls {
		f := sts.Function{
			Name:      c.Function.Name,
			Arguments: string(c.Function.Arguments),
		}
		out.Calls = append(out.Calls, sts.Call{
			ID:       c.ID,
			Function: f,
		})
	}
	return out
}
