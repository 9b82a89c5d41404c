package pipeline

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/records"
)

// WriteHeads writes copies of all blocks of a run into dir, as blocks without texts. The attempts
// of each copy have IDs, records, runs, replies and dialogues of their own, and the agents and
// problems of the run.
func WriteHeads(ctx context.Context, r *Run, dir string, copies int) error {
	s, err := r.open(ctx, r.Sources)
	if err != nil {
		return err
	}
	defer s.close()
	for c := range copies {
		var w *block.Writer
		last := -1
		err = s.eachEntry(ctx, block.PartFound|block.PartSample|block.PartStructure, func(pos records.Position, x *block.Entry) error {
			if pos.Input != last {
				if w != nil {
					if err = w.Close(); err != nil {
						return err
					}
				}
				last = pos.Input
				if w, err = block.Create(r.FS, headDir(dir, c, pos.Input), s.inputs[pos.Input].key); err != nil {
					return err
				}
				for i, p := range s.day.Problems.All { // an entry here has its index among all
					w.Sources.Problems = append(w.Sources.Problems, block.Reference{
						ID:     p.ID,
						Query:  p.Query,
						SHA256: s.day.Problems.digest(i),
					})
				}
			}
			makeOther(x, c)
			return w.Add(x, nil)
		})
		if err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	return nil
}

func headDir(dir string, c, input int) string {
	return filepath.Join(dir, fmt.Sprintf("%d-%d", c, input))
}

// makeOther changes what identifies an attempt.
func makeOther(x *block.Entry, c int) {
	x.TraceID = fmt.Sprintf("%d %s", c, x.TraceID)
	x.RunID = fmt.Sprintf("%d %s", c, x.RunID)
	x.RecordSHA256 = digest.SHA256([]byte(fmt.Sprint(c, x.RecordSHA256)))
	change := uint64(c) * 0x9e3779b97f4a7c15
	for i := range x.Sample.Replies {
		x.Sample.Replies[i] ^= change
	}
	if x.Sample.Dialogue != 0 {
		x.Sample.Dialogue ^= change
	}
	x.Sample.Begun += int64(c) * 86_400_000
}

// GroupHeads runs the group step on the blocks of WriteHeads, in pieces, with at most limit bytes of
// the records of a round in memory.
func GroupHeads(ctx context.Context, r *Run, dir string, copies, pieces, limit int) error {
	s, err := r.open(ctx, r.Sources)
	if err != nil {
		return err
	}
	defer s.close()
	var inputs []input
	for c := range copies {
		for i, input := range s.inputs {
			input.dir = headDir(dir, c, i)
			inputs = append(inputs, input)
		}
	}
	s.inputs = inputs
	_, err = s.groupWithin(ctx, pieces, limit)
	return err
}
