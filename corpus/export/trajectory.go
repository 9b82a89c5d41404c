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
	"github.com/trajectory-arena/arena/internal/sts"
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
	return &lineSink{job: j, lines: corpus.NewLines(j.part, stream, "jsonl"), format: asATIF}, nil
}

// asATIF writes one trajectory; results stand with the step whose call they
// answer, the reward under extra.arena. Texts go out as they were read, where the empty
// list of steps stands: no key behind it is called extra, and no text has bare quotes.
func asATIF(line []byte, r *row) ([]byte, error) {
	s := r.sft
	frame, err := chat.Marshal(atif.Document{
		Schema: atif.Version, Session: s.SessionID,
		Agent: atif.Agent{Name: cmp.Or(s.AgentHotkey, "unknown"), Version: cmp.Or(s.AgentVersion, "unknown"), Tools: json.RawMessage(jsonList(s.Tools))},
		Extra: &atif.Extra{Arena: atifExtra{RunID: run(s), ProblemID: s.ProblemID, Cluster: s.Cluster, VersionID: s.AgentVersion, Hotkey: s.AgentHotkey,
			StartedAt: startedAt(s.RunDate), Status: status(s), Reward: declared(s), TaskType: s.TaskType, Split: s.Split, Harness: s.Harness}},
	})
	if err != nil {
		return nil, err
	}
	at := strings.LastIndex(frame, `null,"extra":`)
	line = append(append(line, frame[:at]...), '[')
	for i, id := 0, 1; err == nil && i < len(r.messages); id++ {
		results := r.messages[i+1:][:chat.CountResults(r.messages[i+1:])]
		line, err = appendStep(line, id, &r.messages[i], results)
		i += 1 + len(results)
	}
	return append(append(line, ']'), frame[at+len("null"):]...), err
}

// appendStep appends a message and the results of its calls.
func appendStep(line []byte, id int, m *chat.Message, results []chat.Message) ([]byte, error) {
	source, calls := m.Role, make([]atif.Call, len(m.Calls))
	if m.Role == chat.Assistant {
		source = atif.SourceAgent
	}
	for i, c := range m.Calls {
		calls[i] = atif.Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments}
	}
	if id > 1 {
		line = append(line, ',')
	}
	line = fmt.Appendf(line, `{"step_id":%d,"source":%q,"message":"%s"`, id, source, m.Content)
	if m.Reasoning != "" {
		line = fmt.Appendf(line, `,"reasoning_content":"%s"`, m.Reasoning)
	}
	list, err := chat.Marshal(calls)
	if len(calls) > 0 {
		line = fmt.Appendf(line, `,"tool_calls":%s`, list)
	}
	before := `,"observation":{"results":[`
	for _, answer := range results {
		call, _ := chat.Marshal(answer.CallID) // a text
		line = fmt.Appendf(line, `%s{"source_call_id":%s,"content":"%s"}`, before, call, answer.Content)
		before = ","
	}
	if len(results) > 0 {
		line = append(line, "]}"...)
	}
	return append(line, '}'), err
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

// MaxSessions is how many files the Hub's viewer takes in one folder.
const MaxSessions = 10_000

// stsSink writes a file for each session of a sample that the hash of its id
// draws, whatever the order of rows.
type stsSink struct {
	job    *job
	split  string
	share  float64
	redact *redact.Redactor
	// written are the files that there are: a corpus may hold a row twice, a
	// folder a file only once.
	written map[string]bool
}

// openSTS redacts whatever the export was asked for: these files are for eyes.
func openSTS(j *job, split string) (sink, error) {
	s := &stsSink{job: j, split: split, written: map[string]bool{}}
	if j.opt.Redact == nil {
		s.redact = redact.New(redact.Options{})
	}
	total := int64(0)
	for _, f := range j.feed.files(split) {
		if f.Rows != nil {
			total += *f.Rows
		}
	}
	s.share = float64(j.opt.Sessions) / float64(max(total, 1))
	return s, nil
}

func (s *stsSink) take(rows []row) error { return s.job.count.each(rows, s.add) }

func (s *stsSink) add(r *row) error {
	sum := sha256.Sum256([]byte(r.sft.SessionID))
	drawn := float64(binary.BigEndian.Uint64(sum[:8]))/(1<<64) < s.share
	name := hex.EncodeToString(sum[:16])
	if !drawn || len(s.written) == MaxSessions || s.written[name] {
		return &chat.Unfit{Reason: reasonSampled}
	}
	s.written[name] = true
	s.job.count.Rows++
	place := corpus.Stream{Place: fmt.Sprintf("sts/%s/%s.jsonl", s.split, name)}
	return s.session(corpus.NewLines(s.job.part, place, "jsonl"), r)
}

func (s *stsSink) close(context.Context) error { return nil }

func (s *stsSink) session(out *corpus.Lines, r *row) error {
	lines := []any{sts.Header{Type: "session", Harness: r.sft.Harness, ID: r.sft.SessionID, Name: r.sft.Goal}}
	for i, m := range chat.Unescape(r.messages) {
		lines = append(lines, sts.Line{Type: "message", Message: stsOf(&m, i, r.sft.RunDate)})
	}
	for _, v := range lines {
		line, err := chat.Marshal(v)
		if err != nil {
			return fmt.Errorf("encode session %s: %w", r.sft.SessionID, err)
		}
		if s.redact != nil {
			line = s.redact.Text(line, s.job.count.Redacted)
		}
		if err := out.Add([]byte(line)); err != nil {
			return err
		}
	}
	return out.Close()
}

// stsOf gives messages a time each, one millisecond apart from the start of
// the run: the viewer orders by it, and rows keep no other.
func stsOf(m *chat.Message, i int, start *int64) sts.Message {
	out := sts.Message{Role: m.Role, Content: m.Content, Reasoning: m.Reasoning, CallID: m.CallID, Timestamp: int64(i)}
	if start != nil {
		out.Timestamp += *start
	}
	for _, c := range m.Calls {
		out.Calls = append(out.Calls, sts.Call{ID: c.ID, Function: sts.Function{Name: c.Function.Name, Arguments: string(c.Function.Arguments)}})
	}
	return out
}
