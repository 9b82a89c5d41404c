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

// lineSink writes one JSON object a line, which format gives in pieces.
type lineSink struct {
	job    *job
	lines  *corpus.Lines
	format func(*row) ([]string, error)
}

func (s *lineSink) take(rows []row) error { return s.job.count.each(rows, s.add) }

func (s *lineSink) add(r *row) error {
	pieces, err := s.format(r)
	if err != nil {
		return fmt.Errorf("encode %s: %w", r.sft.SessionID, err)
	}
	s.job.count.Rows++
	return s.lines.Add(pieces...)
}

func (s *lineSink) close(context.Context) error { return s.lines.Close() }

// openAILines is the profile of lines, compressed or not.
const openAILines = "openai-jsonl"

// openLines writes openai-jsonl with the given file ending.
func openLines(ext string) func(*job, string) (sink, error) {
	return func(j *job, split string) (sink, error) {
		stream := corpus.Stream{Config: j.profile.Name, Profile: openAILines, Split: split}
		return &lineSink{j, corpus.NewLines(j.part, stream, ext), openAI}, nil
	}
}

// openAI gives the row's own JSON texts: they were checked when they were
// decoded, and encoding them again, or joining them, would take longer than all
// else.
func openAI(r *row) ([]string, error) {
	rest, err := chat.Marshal(struct {
		ProblemID string   `json:"problem_id"`
		Cluster   string   `json:"dedup_cluster"`
		SessionID string   `json:"session_id"`
		RunID     string   `json:"eval_run_id"`
		Reward    *float64 `json:"reward"`
	}{r.sft.ProblemID, r.sft.Cluster, r.sft.SessionID, run(r.sft), declared(r.sft)})
	if err != nil {
		return nil, err
	}
	pieces := make([]string, 0, 3+2*len(r.sft.Messages)+2*len(r.sft.Tools))
	pieces = append(listed(append(pieces, `{"messages":[`), r.sft.Messages), `],"tools":[`)
	return append(listed(pieces, r.sft.Tools), "],", rest[1:]), nil
}

// listed appends items with commas between them.
func listed(pieces, items []string) []string {
	for i, item := range items {
		if i > 0 {
			pieces = append(pieces, ",")
		}
		pieces = append(pieces, item)
	}
	return pieces
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
