package rows

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Facts are what a row says beside its record: what the stages after judging
// found out.
type Facts struct {
	Harness arena.Harness
	// Category is the kind of task; empty where the problem is not known.
	Category arena.Category
	Split    string
	Origin
	PipelineVersion string
	Counter         Counter
	// Secret says of a call's id that it must not be published; nil says so of
	// none.
	Secret func(id string) bool
	// Publish is what becomes of a text on its way into the file: tokens are
	// counted after it. Nil leaves texts as they are.
	Publish func(text string) string
	// Metadata is put into the row's metadata under its own keys.
	Metadata map[string]any
}

// NewSFT makes the row of an attempt, with its messages before they were encoded. Its
// reward is the outcome alone, and it has no judge's multiplier: both are the caller's
// choice. An error of type *chat.Unfit means that it can be none.
func NewSFT(rec *arena.Record, f *Facts) (row SFT, ms []chat.Message, err error) {
	if ms, err = chat.Render(f.Harness, rec.Trace.Query, &rec.Dialogue); err != nil {
		return row, nil, err
	}
	if f.Secret != nil {
		chat.RenameCalls(ms, f.Secret)
	}
	encoded, err := chat.Encode(ms)
	if err != nil {
		return row, nil, err
	}
	meta, err := metadata(rec, f)
	if err != nil {
		return row, nil, err
	}
	tools := chat.Tools(f.Harness)
	row = SFT{Messages: encoded, Tools: tools, Metadata: meta, Goal: strings.ToValidUTF8(rec.Trace.Query, "\uFFFD"), Scalars: scalars(rec, f), Origin: f.Origin}
	n, err := f.tokens(ms, encoded, tools)
	row.NTokens, row.TokenCounter = int64(n), f.Counter.Name()
	return row, ms, err
}

func (f *Facts) tokens(ms []chat.Message, encoded, tools []string) (int, error) {
	published := slices.Clone(encoded)
	for i := 0; f.Publish != nil && i < len(encoded); i++ {
		published[i] = f.Publish(encoded[i])
	}
	if !slices.Equal(published, encoded) {
		return Recount(f.Counter, published, tools)
	}
	return CountTokens(f.Counter, ms, tools), nil
}

// Recount counts the tokens of messages that were changed after they were
// encoded.
func Recount(c Counter, published, tools []string) (int, error) {
	ms, err := chat.Decode(published)
	if err != nil {
		return 0, fmt.Errorf("count tokens of what is published: %w", err)
	}
	return CountTokens(c, ms, tools), nil
}

func metadata(rec *arena.Record, f *Facts) (string, error) {
	repairs := []string{}
	for _, t := range rec.Dialogue.Turns {
		repairs = append(repairs, t.Repairs...)
	}
	m := map[string]any{
		"harness_sha256": f.Harness.SHA256,
		"record_sha256":  rec.Trace.RecordSHA256,
		"source_line":    rec.Trace.Source.Line,
		"judge":          rec.Judgement.Judge,
		"repairs":        repairs,
	}
	maps.Copy(m, f.Metadata)
	b, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("encode metadata of %s: %w", rec.Trace.ID, err)
	}
	return string(b), nil
}

func scalars(rec *arena.Record, f *Facts) Scalars {
	t := rec.Trace
	s := Scalars{
		SessionID:       t.ID,
		Harness:         f.Harness.Name,
		TaskType:        taskType(f),
		Split:           f.Split,
		JudgeScore:      rec.Judgement.Score,
		AgenticScore:    cmp.Or(rec.Structure.RichnessV2, rec.Structure.RichnessV1),
		IsAgentic:       rec.Structure.Axis == arena.AxisAgentic,
		StopCondition:   StopCondition(rec),
		HasError:        t.Error != nil,
		IsTruncated:     t.Status == arena.StatusTimedOut,
		NToolCalls:      ToolCalls(&rec.Dialogue),
		AgentHotkey:     t.Agent.Hotkey,
		AgentVersion:    t.Agent.VersionID,
		RunDate:         milliseconds(t.Agent.StartedAt),
		SourceSHA256:    t.Source.FileSHA256,
		PipelineVersion: f.PipelineVersion,
	}
	for _, turn := range rec.Dialogue.Turns {
		if turn.User == "" {
			s.NSteps++
		}
	}
	if rec.Outcome.Success {
		s.Reward = 1
	}
	if sc := rec.Outcome.Scores; sc != nil && sc.Axes != nil {
		s.OutcomeScore = &sc.Axes.Rule
	}
	if r := rec.Outcome.Ruling; r != nil {
		s.OutcomeScore = r.Score
	}
	return s
}

// StopCondition says how an attempt ended: terminated (its last turn called
// terminate), timed_out or failed (the sandbox says so), tool_call (its last
// turn called another tool, and the recording ends there), or no_tool_call.
func StopCondition(rec *arena.Record) string {
	var last arena.Turn
	if turns := rec.Dialogue.Turns; len(turns) > 0 {
		last = turns[len(turns)-1]
	}
	switch {
	case slices.ContainsFunc(last.Calls, func(c arena.Call) bool { return c.Name == "terminate" }):
		return "terminated"
	case rec.Trace.Status == arena.StatusTimedOut:
		return "timed_out"
	case rec.Trace.Status == arena.StatusFailed:
		return "failed"
	case len(last.Calls) > 0:
		return "tool_call"
	default:
		return "no_tool_call"
	}
}

// ToolCalls counts the calls of a dialogue.
func ToolCalls(d *arena.Dialogue) (n int64) {
	for _, t := range d.Turns {
		n += int64(len(t.Calls))
	}
	return n
}

// NewAttempt is what the ledger's row of an attempt holds of its trace.
func NewAttempt(t *arena.Trace) Attempt {
	a := Attempt{
		TraceID: t.ID, RunID: t.RunID, ProblemID: t.ProblemID, AgentVersion: t.Agent.VersionID, AgentHotkey: t.Agent.Hotkey,
		Suite: t.Agent.Suite, RunDate: milliseconds(t.Agent.StartedAt), SourceSHA256: t.Source.FileSHA256,
		SourceLine: int64(t.Source.Line), Shape: string(t.Source.Shape), RecordSHA256: t.RecordSHA256, Bytes: int64(t.Bytes),
		Status: string(t.Status), HasDialogue: t.HasDialogue, Seconds: stats.Known(t.Seconds),
		InferenceTotal: count(t.InferenceTotal), InferenceFailures: count(t.InferenceFailures), TokenCounter: Bytes4{}.Name(),
	}
	if t.Error != nil {
		a.ErrorType = t.Error.Type
	}
	return a
}

// milliseconds reads an RFC 3339 time as Unix milliseconds; nil where it is
// none.
func milliseconds(at string) *int64 {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return nil
	}
	return new(t.UnixMilli())
}

// count is a count; nil where it is below 0, which is unknown.
func count(n int) *int64 {
	if n < 0 {
		return nil
	}
	return new(int64(n))
}

func taskType(f *Facts) string { return strings.ToLower(string(f.Category)) }
