package kl

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/footer"
)

// Sampled is what a run of `arena eval` recorded at a position. If two models sampled different
// tokens at a position, they continue from different texts, and later positions cannot be
// compared.
type Sampled struct {
	Rollout int64
	// Prompt has the ids of the tokens that the model read before the reply. It is nil after the
	// first position of a reply, and if the server did not report it.
	Prompt []int32
	// Token is the sampled token.
	Token int32
}

func readRun(dir string, yield func(*Row) bool) error {
	f, err := os.Open(filepath.Join(dir, evaluation.TokensFile))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: play the run with --keep tokens --top-logprobs 20", err)
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := footer.Open(f, info.Size())
	if err != nil {
		return err
	}
	replies := parquet.NewGenericReader[evaluation.TokensRow](file)
	defer replies.Close() //nolint:errcheck // only read
	for range replies.NumRows() {
		reply := make([]evaluation.TokensRow, 1)
		if n, err := replies.Read(reply); n < 1 {
			return err
		}
		if more, err := readReply(&reply[0], yield); err != nil || !more {
			return err
		}
	}
	return nil
}

// readReply yields one row for each token of a reply. more is false if yield ended the loop. It
// returns an error if the likely tokens at each position are missing, have no ids or are invalid.
func readReply(r *evaluation.TokensRow, yield func(*Row) bool) (more bool, err error) {
	if len(r.LogProbs)+len(r.IDs) == 0 {
		return true, nil // an empty reply
	}
	k := int(r.Top)
	if k < 1 || len(r.IDs) == 0 || len(r.TopIDs) != k*len(r.IDs) || len(r.TopLogProbs) != len(r.TopIDs) {
		return false, fmt.Errorf("rollout %d, reply %d: the server named no likely tokens by id: --top-logprobs, and a server that gives ids (vLLM, llama.cpp)", r.Rollout, r.Turn)
	}
	for i, token := range r.IDs {
		row := &Row{
			Prompt:   fmt.Sprintf("%s#%d", r.ProblemID, r.Sample),
			Position: i,
			Sampled:  &Sampled{Rollout: r.Rollout, Token: token},
		}
		if i == 0 {
			row.Sampled.Prompt = r.Prompt
		}
		for c := i * k; c < (i+1)*k; c++ {
			if r.TopIDs[c] >= 0 {
				row.Top = append(row.Top, Token{int(r.TopIDs[c]), float64(r.TopLogProbs[c])})
			}
		}
		if err := checkTokens(row.Top); err != nil {
			return false, fmt.Errorf("rollout %d, reply %d, position %d: %w", r.Rollout, r.Turn, i, err)
		}
		if !yield(row) {
			return false, nil
		}
	}
	return true, nil
}

// stream is a reader of the rows of one file, the teacher's or the student's.
type stream struct {
	name string
	pull func() (*Row, error, bool)
	stop func()
	// row is the current row, nil at the end.
	row *Row
	err error
}

func newStream(name string, rows iter.Seq2[*Row, error]) *stream {
	s := &stream{name: name}
	s.pull, s.stop = iter.Pull2(rows)
	return s
}

func (s *stream) next() {
	s.row, s.err, _ = s.pull()
	if s.err != nil {
		s.row = nil
		s.err = fmt.Errorf("read %s: %w", s.name, s.err)
	}
}

// rollout returns the number, counted from 1, of the rollout to which the stream's current row
// belongs. At the end of the stream it returns the largest int64: the other stream is then the one
// that is behind, and is read on.
func (s *stream) rollout() int64 {
	if s.row == nil {
		return math.MaxInt64
	}
	return s.row.Sampled.Rollout + 1
}

// mayBeRun reports whether the stream's file can be a run of `arena eval`: its current row is from
// a run, or there are no more rows and so nothing contradicts it.
func (s *stream) mayBeRun() bool {
	return s.row == nil || s.row.Sampled != nil
}

// align skips positions of two runs of `arena eval` until both models read the same text before
// the current position. It counts the skipped positions. It does nothing for other files, which
// must have the same positions.
func (r *Report) align(a, b *stream) {
	for a.err == nil && b.err == nil && a.mayBeRun() && b.mayBeRun() {
		if a.row == nil && b.row == nil {
			return
		}
		rolloutA := a.rollout()
		rolloutB := b.rollout()
		switch {
		case rolloutA < rolloutB || rolloutA <= r.finished:
			a.next()
		case rolloutB < rolloutA || rolloutB <= r.finished:
			b.next()
		case a.row.Position != b.row.Position || promptsDiffer(a.row.Sampled.Prompt, b.row.Sampled.Prompt):
			r.finished = rolloutA
			continue
		default:
			if a.row.Sampled.Token != b.row.Sampled.Token {
				r.finished = rolloutA
			}
			return
		}
		r.Uncomparable++
	}
}

// promptsDiffer reports whether two prompts, as token ids, differ. It returns false if one of
// them is unknown.
func promptsDiffer(a, b []int32) bool {
	return len(a) > 0 && len(b) > 0 && !slices.Equal(a, b)
}
