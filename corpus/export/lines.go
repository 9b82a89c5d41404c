package export

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// lineSink writes one JSON object a line.
type lineSink struct {
	job        *job
	lines      *corpus.Lines
	appendJSON func(line []byte, r *row) ([]byte, error)
	line       []byte
}

func (s *lineSink) write(batch []row) error { return s.job.count.addRows(batch, s.add) }

func (s *lineSink) add(r *row) (err error) {
	s.line, err = s.appendJSON(s.line[:0], r)
	if err != nil {
		return fmt.Errorf("encode %s: %w", r.sft.SessionID, err)
	}
	s.job.count.Rows++
	return s.lines.Add(s.line)
}

func (s *lineSink) close(context.Context) error { return s.lines.Close() }

// openAILines is the profile of OpenAI messages in JSON lines, compressed or not.
const openAILines = "openai-jsonl"

// openLines opens sinks of openai-jsonl whose files end in ext.
func openLines(ext string) openFunc {
	return func(j *job, split string) (sink, error) {
		stream := corpus.Stream{
			Config:  j.profile.Name,
			Profile: openAILines,
			Split:   split,
		}
		return &lineSink{
			job:        j,
			lines:      corpus.NewLines(j.part, stream, ext),
			appendJSON: appendOpenAI,
		}, nil
	}
}

// appendOpenAI appends an OpenAI row. It copies the row's JSON texts, which were checked
// when they were decoded: encoding them again would take most of the time.
func appendOpenAI(line []byte, r *row) ([]byte, error) {
	scalars, err := chat.Marshal(struct {
		ProblemID string   `json:"problem_id"`
		Cluster   string   `json:"dedup_cluster"`
		SessionID string   `json:"session_id"`
		RunID     string   `json:"eval_run_id"`
		Reward    *float64 `json:"reward"`
	}{r.sft.ProblemID, r.sft.Cluster, r.sft.SessionID, runID(r.sft), declaredReward(r.sft)})
	line = append(line, `{"messages":`...)
	line = appendList(line, r.sft.Messages)
	line = append(line, `,"tools":`...)
	line = appendList(line, r.sft.Tools)
	line = append(line, ',')
	return append(line, scalars[1:]...), err
}

// appendList appends a JSON list of encoded items.
func appendList(line []byte, items []string) []byte {
	line = append(line, '[')
	for i, item := range items {
		if i > 0 {
			line = append(line, ',')
		}
		line = append(line, item...)
	}
	return append(line, ']')
}

// runID returns the run of an attempt, which its session id contains before the problem.
// It returns "" if the source had no run.
func runID(s *rows.SFT) string {
	id, ok := strings.CutSuffix(s.SessionID, "/"+s.ProblemID)
	if !ok {
		return ""
	}
	return id
}

// declaredReward returns the reward of an attempt, nil if it was imported from a source
// without rewards.
func declaredReward(s *rows.SFT) *float64 {
	if v := gjson.Get(s.Metadata, "declared_reward"); v.Exists() && v.Type == gjson.Null {
		return nil
	}
	return &s.Reward
}
