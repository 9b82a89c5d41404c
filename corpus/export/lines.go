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

// lineSink writes one JSON object a line, which format appends.
type lineSink struct {
	job    *job
	lines  *corpus.Lines
	format func([]byte, *row) ([]byte, error)
	line   []byte
}

func (s *lineSink) take(rows []row) error { return s.job.count.each(rows, s.add) }

func (s *lineSink) add(r *row) (err error) {
	if s.line, err = s.format(s.line[:0], r); err != nil {
		return fmt.Errorf("encode %s: %w", r.sft.SessionID, err)
	}
	s.job.count.Rows++
	return s.lines.Add(s.line)
}

func (s *lineSink) close(context.Context) error { return s.lines.Close() }

// openAILines is the profile of lines, compressed or not.
const openAILines = "openai-jsonl"

// openLines writes openai-jsonl with the given file ending.
func openLines(ext string) func(*job, string) (sink, error) {
	return func(j *job, split string) (sink, error) {
		stream := corpus.Stream{Config: j.profile.Name, Profile: openAILines, Split: split}
		return &lineSink{job: j, lines: corpus.NewLines(j.part, stream, ext), format: openAI}, nil
	}
}

// openAI gives the row's own JSON texts: they were checked when they were
// decoded, and encoding them again would take longer than all else.
func openAI(line []byte, r *row) ([]byte, error) {
	rest, err := chat.Marshal(struct {
		ProblemID string   `json:"problem_id"`
		Cluster   string   `json:"dedup_cluster"`
		SessionID string   `json:"session_id"`
		RunID     string   `json:"eval_run_id"`
		Reward    *float64 `json:"reward"`
	}{r.sft.ProblemID, r.sft.Cluster, r.sft.SessionID, run(r.sft), declared(r.sft)})
	line = appendList(append(line, `{"messages":`...), r.sft.Messages)
	line = appendList(append(line, `,"tools":`...), r.sft.Tools)
	return append(append(line, ','), rest[1:]...), err
}

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

// run is the run of an attempt, which its session names before the problem;
// empty where the source knew neither.
func run(s *rows.SFT) string {
	id, named := strings.CutSuffix(s.SessionID, "/"+s.ProblemID)
	if !named {
		return ""
	}
	return id
}

// declared is the reward of an attempt; nil where it was imported from a source
// that states none.
func declared(s *rows.SFT) *float64 {
	if v := gjson.Get(s.Metadata, "declared_reward"); v.Exists() && v.Type == gjson.Null {
		return nil
	}
	return &s.Reward
}
