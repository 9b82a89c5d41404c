package export

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/internal/sts"
)

// maxSessions is how many files the Hub's viewer takes in one folder.
const maxSessions = 10_000

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
	if !drawn || len(s.written) == maxSessions || s.written[name] {
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
	for i := range r.messages {
		m := r.messages[i]
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
		if err := out.Add(line); err != nil {
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
