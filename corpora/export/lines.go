package export

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpora"
	"github.com/trajectory-arena/arena/corpora/chat"
)

// lineSink writes one JSON object a line.
type lineSink struct {
	job    *job
	lines  *corpora.Lines
	format func(*row) (any, error)
}

func (s *lineSink) add(r *row) error {
	v, err := s.format(r)
	if err != nil {
		return err
	}
	line, err := chat.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", r.sft.SessionID, err)
	}
	s.job.count.Rows++
	return s.lines.Add(line)
}

func (s *lineSink) close() error { return s.lines.Close() }

// openLines writes openai-jsonl with the given file ending.
func openLines(ext string) func(*job, string) (sink, error) {
	return func(j *job, split string) (sink, error) {
		stream := corpora.Stream{Config: j.profile.Name, Profile: corpora.ProfileOpenAI, Split: split}
		return &lineSink{j, corpora.NewLines(j.part, stream, ext), openAI}, nil
	}
}

func openAI(r *row) (any, error) {
	return struct {
		Messages  []json.RawMessage `json:"messages"`
		Tools     []json.RawMessage `json:"tools"`
		ProblemID string            `json:"problem_id"`
		Cluster   string            `json:"dedup_cluster"`
		SessionID string            `json:"session_id"`
		RunID     string            `json:"eval_run_id"`
		Reward    *float64          `json:"reward"`
	}{rawList(r.sft.Messages), rawList(r.sft.Tools), r.sft.ProblemID, r.sft.Cluster, r.sft.SessionID, run(r.sft), declared(r.sft)}, nil
}

// run is the run of an attempt, which its session names before the problem;
// empty where the source knew neither.
func run(s *corpora.SFT) string {
	id, named := strings.CutSuffix(s.SessionID, "/"+s.ProblemID)
	if !named {
		return ""
	}
	return id
}

// declared is the reward of an attempt; nil where it was imported from a source
// that states none.
func declared(s *corpora.SFT) *float64 {
	if v := gjson.Get(s.Metadata, "declared_reward"); v.Exists() && v.Type == gjson.Null {
		return nil
	}
	return &s.Reward
}

func rawList(items []string) []json.RawMessage {
	out := make([]json.RawMessage, len(items))
	for i, s := range items {
		out[i] = json.RawMessage(s)
	}
	return out
}
