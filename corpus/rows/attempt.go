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
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Facts are the data, in addition to the record, that the row of an attempt or problem needs.
type Facts struct {
	Harness arena.Harness
	// Category is the kind of task. It is empty if the problem is unknown.
	Category arena.Category
	Split    string
	Origin
	PipelineVersion string
	Counter         Counter
	// IsSecret reports whether the id of a tool call must not be published. If it is nil, all
	// ids are published.
	IsSecret func(id string) bool
	// Redact returns a text as it will be written. Tokens are counted after redaction. If Redact
	// is nil, texts are unchanged.
	Redact func(text string) string
	// Metadata is added to the row's metadata.
	Metadata map[string]any
}

// NewSFT returns the row of an attempt, and its messages before they were encoded. The reward of
// the row is the outcome alone; callers may apply a judge's multiplier. The error is a
// *chat.Unfit if the attempt cannot become a row.
func NewSFT(rec *arena.Record, f *Facts) (row SFT, ms []chat.Message, err error) {
	ms, err = chat.Render(f.Harness, rec.Trace.Query, &rec.Dialogue)
	if err != nil {
		return row, nil, err
	}
	if f.IsSecret != nil {
		chat.RenameCalls(ms, f.IsSecret)
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
	n, err := f.countTokens(ms, encoded, tools)
	row = SFT{
		Messages: encoded,
		Tools:    tools,
		Metadata: meta,
		Goal:     strings.ToValidUTF8(rec.Trace.Query, "\uFFFD"),
		Scalars:  scalars(rec, f),
		Origin:   f.Origin,
	}
	row.NTokens = int64(n)
	row.TokenCounter = f.Counter.Name()
	return row, ms, err
}

// countTokens returns the number of tokens of an attempt's messages, with the tools in the system turn,
// after redaction, as they will be published. encoded are the same messages as JSON.
func (f *Facts) countTokens(ms []chat.Message, encoded, tools []string) (int, error) {
	if f.Redact == nil {
		return CountTokens(f.Counter, ms, tools)
	}
	redacted := slicesx.Map(encoded, f.Redact)
	if slices.Equal(redacted, encoded) {
		return CountTokens(f.Counter, ms, tools)
	}
	return Recount(f.Counter, redacted, tools)
}

// MetadataModel is the key of a row's metadata that names the model that answered.
const MetadataModel = "model"

// metadata returns the JSON object for a row's metadata column: the hashes and the source line
// of the attempt, its judge, the repairs of its dialogue, the model that answered if the source
// names it, and f.Metadata.
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
	if rec.Trace.Model != "" {
		m[MetadataModel] = rec.Trace.Model
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
		NSteps:          countSteps(&rec.Dialogue),
		NToolCalls:      CountToolCalls(&rec.Dialogue),
		AgentHotkey:     t.Agent.Hotkey,
		AgentVersion:    t.Agent.VersionID,
		RunDate:         milliseconds(t.Agent.StartedAt),
		SourceSHA256:    t.Source.FileSHA256,
		PipelineVersion: f.PipelineVersion,
	}
	if rec.Outcome.Success {
		s.Reward = 1
	}
	s.OutcomeScore = outcomeScore(&rec.Outcome)
	return s
}

// outcomeScore returns the score of an attempt: the score of the subnet's verifier if it ruled
// on the attempt, otherwise the score by the subnet's published rules. It returns nil if that
// score does not exist.
func outcomeScore(o *arena.Outcome) *float64 {
	if o.Ruling != nil {
		return o.Ruling.Score
	}
	if o.Scores != nil && o.Scores.Axes != nil {
		return &o.Scores.Axes.Rule
	}
	return nil
}

// StopCondition returns how an attempt ended: terminated (its last turn called terminate),
// timed_out or failed (the status in the sandbox), tool_call (its last turn called another tool
// and the recording ends there), or no_tool_call.
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

// CountToolCalls returns the number of calls of a dialogue.
func CountToolCalls(d *arena.Dialogue) int64 {
	n := 0
	for _, t := range d.Turns {
		n += len(t.Calls)
	}
	return int64(n)
}

// countSteps returns the number of turns of the model in a dialogue.
func countSteps(d *arena.Dialogue) int64 {
	n := 0
	for i := range d.Turns {
		if d.Turns[i].User == "" {
			n++
		}
	}
	return int64(n)
}

// NewAttempt returns the row of an attempt in the table attempts, with the columns that are
// derived from its trace and dialogue.
func NewAttempt(rec *arena.Record) Attempt {
	t := rec.Trace
	a := Attempt{
		TraceID:           t.ID,
		RunID:             t.RunID,
		ProblemID:         t.ProblemID,
		AgentVersion:      t.Agent.VersionID,
		AgentHotkey:       t.Agent.Hotkey,
		Suite:             t.Agent.Suite,
		RunDate:           milliseconds(t.Agent.StartedAt),
		SourceSHA256:      t.Source.FileSHA256,
		SourceLine:        int64(t.Source.Line),
		Shape:             string(t.Source.Shape),
		RecordSHA256:      t.RecordSHA256,
		Bytes:             int64(t.Bytes),
		Status:            string(t.Status),
		HasDialogue:       t.HasDialogue,
		Seconds:           stats.FiniteOrNil(t.Seconds),
		InferenceTotal:    knownCount(t.InferenceTotal),
		InferenceFailures: knownCount(t.InferenceFailures),
		NSteps:            countSteps(&rec.Dialogue),
		NToolCalls:        CountToolCalls(&rec.Dialogue),
		TokenCounter:      Bytes4{}.Name(),
	}
	if t.Error != nil {
		a.ErrorType = t.Error.Type
	}
	if t.Model != "" {
		a.Model = &t.Model
	}
	return a
}

// NewUnread returns the row of a record that could not be read, at a line of the file with this
// hash, in the table attempts.
func NewUnread(fileSHA256 string, line int) Attempt {
	return Attempt{
		SourceSHA256: fileSHA256,
		SourceLine:   int64(line),
		TokenCounter: Bytes4{}.Name(),
	}
}

// milliseconds parses an RFC 3339 time and returns Unix milliseconds. It returns nil if the text
// is not such a time.
func milliseconds(timestamp string) *int64 {
	t, err := time.Parse(time.RFC3339Nano, timestamp)
	if err != nil {
		return nil
	}
	return new(t.UnixMilli())
}

// knownCount returns n as a nullable column value. It returns nil if n is negative, which means
// unknown.
func knownCount(n int) *int64 {
	if n < 0 {
		return nil
	}
	return new(int64(n))
}

func taskType(f *Facts) string { return strings.ToLower(string(f.Category)) }
