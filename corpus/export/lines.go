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

// lineSink writes each row as a JSON object on a line of its own.
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
		return fmt.Errorf("encode row %d: %w", s.job.count.Rows+1, err)
	}
	s.job.count.Rows++
	return s.lines.Add(s.line)
}

func (s *lineSink) close(context.Context) error { return s.lines.Close() }

// openAILines is the name of the export profile that writes OpenAI messages as JSON lines. Exports
// of these lines compressed with zstd record this name too, since their rows are the same.
const openAILines = "openai-jsonl"

// openLines returns a function that opens sinks of OpenAI messages as JSON lines. ext is the
// ending of the files, jsonl or jsonl.zst.
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

// appendOpenAI appends an attempt to line as a JSON object with OpenAI messages and tools. It
// copies the JSON of the messages, which was checked when it was decoded, because encoding it
// again would take most of the time.
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

// appendList appends a JSON list to line. The items are already JSON.
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

// runID returns the id of an attempt's evaluation run, taken from the session id RUN/PROBLEM. It
// returns "" if the session id has another form, as that of an import may have.
func runID(s *rows.SFT) string {
	id, ok := strings.CutSuffix(s.SessionID, "/"+s.ProblemID)
	if !ok {
		return ""
	}
	return id
}

// declaredReward returns the reward of an attempt, or nil if it was imported from a source that
// states no reward.
func declaredReward(s *rows.SFT) *float64 {
	if v := gjson.Get(s.Metadata, "declared_reward"); v.Exists() && v.Type == gjson.Null {
		return nil
	}
	return &s.Reward
}
