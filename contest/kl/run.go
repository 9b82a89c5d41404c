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

// Sampled is what a run of `arena eval` says of a position: whose rollout it is
// of, what the model was given before the reply, and what it drew. Two models that
// drew another token there go on from different texts.
type Sampled struct {
	Rollout int64
	// Given is nil behind a reply's first position, or where the server did not say.
	Given []int32
	Drawn int32
}

func readRun(folder string, yield func(*Row) bool) error {
	f, err := os.Open(filepath.Join(folder, evaluation.TokensFile))
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
		one := make([]evaluation.TokensRow, 1)
		if n, err := replies.Read(one); n < 1 {
			return err
		}
		if more, err := readReply(&one[0], yield); err != nil || !more {
			return err
		}
	}
	return nil
}

func readReply(r *evaluation.TokensRow, yield func(*Row) bool) (more bool, err error) {
	k := int(r.Top)
	if k < 1 || len(r.IDs) == 0 || len(r.TopIDs) != k*len(r.IDs) || len(r.TopLogProbs) != len(r.TopIDs) {
		if len(r.LogProbs)+len(r.IDs) == 0 {
			return true, nil // an empty reply
		}
		return false, fmt.Errorf("rollout %d, reply %d: the server named no likely tokens by id: --top-logprobs, and a server that gives ids (vLLM, llama.cpp)", r.Rollout, r.Turn)
	}
	for i, drawn := range r.IDs {
		row := &Row{Prompt: fmt.Sprintf("%s#%d", r.ProblemID, r.Sample), Position: i, Of: &Sampled{Rollout: r.Rollout, Drawn: drawn}}
		if i == 0 {
			row.Of.Given = r.Prompt
		}
		for c := i * k; c < (i+1)*k; c++ {
			if r.TopIDs[c] >= 0 {
				row.Top = append(row.Top, Token{int(r.TopIDs[c]), float64(r.TopLogProbs[c])})
			}
		}
		if err := distribution(row.Top); err != nil {
			return false, fmt.Errorf("rollout %d, reply %d, position %d: %w", r.Rollout, r.Turn, i, err)
		}
		if !yield(row) {
			return false, nil
		}
	}
	return true, nil
}

type side struct {
	name string
	pull func() (*Row, error, bool)
	stop func()
	// row is nil at the end.
	row *Row
	err error
}

func newSide(name string, rows iter.Seq2[*Row, error]) *side {
	s := &side{name: name}
	s.pull, s.stop = iter.Pull2(rows)
	return s
}

func (s *side) next() {
	if s.row, s.err, _ = s.pull(); s.err != nil {
		s.row, s.err = nil, fmt.Errorf("read %s: %w", s.name, s.err)
	}
}

// rollout numbers the row's from 1; the end comes last.
func (s *side) rollout() int64 {
	if s.row == nil {
		return math.MaxInt64
	}
	return s.row.Of.Rollout + 1
}

// meet moves on in two runs to the next position at which both models had read the
// same. Files of other kinds have the same positions by themselves.
func (r *Report) meet(a, b *side) {
	for a.err == nil && b.err == nil && a.sampled() && b.sampled() && (a.row != nil || b.row != nil) {
		at, of := a.rollout(), b.rollout()
		switch {
		case at < of || at <= r.left:
			a.next()
		case of < at || of <= r.left:
			b.next()
		case a.row.Position != b.row.Position || otherwise(a.row.Of.Given, b.row.Of.Given):
			r.left = at
			continue
		default:
			if a.row.Of.Drawn != b.row.Of.Drawn {
				r.left = at
			}
			return
		}
		r.Apart++
	}
}

// otherwise reports whether two models were given other tokens, as far as is known.
func otherwise(a, b []int32) bool { return len(a) > 0 && len(b) > 0 && !slices.Equal(a, b) }

func (s *side) sampled() bool { return s.row == nil || s.row.Of != nil }
